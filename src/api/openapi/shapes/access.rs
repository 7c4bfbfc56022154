//! Users, tokens, logins, tenants.

use cooperage_domain::tenant::TenantSpec;
use serde::Serialize;
use utoipa::ToSchema;

/// A tenant to be made or changed.
#[derive(Serialize, ToSchema)]
pub struct TenantChange {
    tenant: TenantSpec,
    /// Whether it begins with what the superadmin's describes.
    bootstrap: Option<bool>,
}

/// A user of a tenant.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct User {
    name: String,
    /// `reader`, `user`, `admin` or `superadmin`.
    role: String,
    /// Whether nothing of this user's is let in any more.
    disabled: bool,
    /// Whether the user can log in.
    has_password: bool,
    /// Milliseconds since 1970.
    created: i64,
}

/// A user to be made or changed; what is left out stays.
#[derive(Serialize, ToSchema)]
pub struct UserChange {
    /// Needed for a new one.
    name: Option<String>,
    role: Option<String>,
    /// 12 characters or more.
    password: Option<String>,
    disabled: Option<bool>,
}

/// What is known of a token; never its secret.
#[derive(Serialize, ToSchema)]
pub struct Token {
    id: String,
    /// What it is for.
    label: String,
    user: String,
    role: String,
    /// What it is limited to; none: nothing.
    scopes: Vec<String>,
    /// Milliseconds since 1970.
    created: i64,
    expires: Option<i64>,
    revoked: Option<i64>,
    /// Whether it lets anybody in now.
    counts: bool,
}

/// What a token is to be.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenRequest {
    /// What it is for.
    label: Option<String>,
    /// Who holds it; the caller unless said otherwise.
    user: Option<String>,
    /// The most the holder may be with it; what the user is unless said otherwise.
    role: Option<String>,
    /// What it is limited to, such as `clusters`, `catalog:read` or `read`.
    scopes: Option<Vec<String>>,
    /// How long it counts; for ever unless said otherwise.
    expires_in_seconds: Option<i64>,
}

/// A new token.
#[derive(Serialize, ToSchema)]
pub struct NewToken {
    #[serde(flatten)]
    about: Token,
    /// The secret, shown this once.
    token: String,
}

/// A token for a name and a password.
#[derive(Serialize, ToSchema)]
pub struct IssuedToken {
    access_token: String,
    token_type: String,
    /// Seconds.
    expires_in: i64,
}

/// Who logs in.
#[derive(Serialize, ToSchema)]
pub struct Login {
    tenant: Option<String>,
    user: Option<String>,
    password: Option<String>,
    /// In place of the others.
    code: Option<String>,
}

/// What lets a browser in once.
#[derive(Serialize, ToSchema)]
pub struct LoginCode {
    /// The secret, shown this once.
    code: String,
    /// Milliseconds since 1970.
    expires: i64,
}

/// Who logged in.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoggedIn {
    user: String,
    tenant: String,
    role: String,
    /// Milliseconds since 1970.
    session_expires: i64,
}

/// Who the caller is.
#[derive(Serialize, ToSchema)]
pub struct Caller {
    user: String,
    tenant: String,
    role: String,
    /// Whether a superadmin looks after a tenant that `Coopr-TenantID` names; `user` then begins with `superadmin/`.
    visiting: bool,
    scopes: Vec<String>,
    /// `headers`, `token` or `session`.
    credential: String,
}

/// Another password.
#[derive(Serialize, ToSchema)]
pub struct PasswordChange {
    old: String,
    new: String,
}
