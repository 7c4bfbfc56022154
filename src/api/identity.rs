//! Who calls.

use std::fmt::Write;

use actix_web::http::StatusCode;
use actix_web::http::header::{AUTHORIZATION, HeaderMap};
use actix_web::{FromRequest, HttpMessage, HttpRequest, dev::Payload, web};
use cooperage_domain::cluster::Account;
use cooperage_schema::{SUPERADMIN, Token};
use futures::future::LocalBoxFuture;
use sha2::{Digest, Sha256};

use super::audit::Caller;
use super::problem::Problem;
use super::state::AppState;
use crate::config::AuthMode;

/// The user id of a tenant's administrator.
const ADMIN: &str = "admin";

/// Who calls, and for which tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The user.
    pub user: String,
    /// Internal id of the tenant.
    pub tenant: String,
}

impl Identity {
    /// Whether the caller administers the tenant.
    #[must_use]
    pub fn is_admin(&self) -> bool {
        self.user == ADMIN
    }

    /// Whether the caller runs the installation.
    #[must_use]
    pub fn is_superadmin(&self) -> bool {
        self.is_admin() && self.tenant == SUPERADMIN
    }

    /// The user whose clusters the caller sees, unless all of the tenant are seen.
    #[must_use]
    pub fn owner_seen(&self) -> Option<String> {
        (!self.is_admin()).then(|| self.user.clone())
    }

    /// As the owner of clusters.
    #[must_use]
    pub fn account(&self) -> Account {
        Account { user_id: self.user.clone(), tenant_id: self.tenant.clone() }
    }

    /// Lets only administrators pass.
    ///
    /// # Errors
    /// 403.
    pub fn require_admin(&self) -> Result<(), Problem> {
        if self.is_admin() {
            return Ok(());
        }
        let detail =
            format!("user {:?} is not admin of the tenant, and only an admin may do this", self.user);
        Err(Problem::new(StatusCode::FORBIDDEN, detail).with_remedy("ask the tenant's admin"))
    }

    /// Lets only the superadmin pass.
    ///
    /// # Errors
    /// 403.
    pub fn require_superadmin(&self) -> Result<(), Problem> {
        if self.is_superadmin() {
            return Ok(());
        }
        let detail = format!("user {:?} is not superadmin, and only a superadmin may do this", self.user);
        Err(Problem::new(StatusCode::FORBIDDEN, detail)
            .with_remedy("ask the installation's admin")
            .silently())
    }
}

impl FromRequest for Identity {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let Some(state) = request.app_data::<web::Data<AppState>>().cloned() else {
            return Box::pin(async { Err(Problem::internal("no state")) });
        };
        let claim = match state.settings.auth.mode {
            AuthMode::Headers => named(request.headers()),
            AuthMode::Token => token(request.headers()),
        };
        let request = request.clone();
        Box::pin(async move {
            let claim = claim?;
            let (caller, identity) = state.blocking(move |state| Ok(resolve(state, claim))).await?;
            if let Some(caller) = caller {
                request.extensions_mut().insert(caller);
            }
            identity
        })
    }
}

/// What the caller says.
enum Claim {
    Named { user: String, tenant: String },
    Token(String),
}

fn named(headers: &HeaderMap) -> Result<Claim, Problem> {
    let header = |name: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok()).filter(|value| !value.is_empty());
        value.map(str::to_owned).ok_or_else(|| {
            Problem::new(StatusCode::UNAUTHORIZED, format!("the header {name} is missing"))
                .with_remedy("say who you are with Coopr-UserID and Coopr-TenantID")
        })
    };
    Ok(Claim::Named { user: header("Coopr-UserID")?, tenant: header("Coopr-TenantID")? })
}

fn token(headers: &HeaderMap) -> Result<Claim, Problem> {
    let value = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    // What follows the first blank, whatever the scheme is called: old clients write `Bearer:`.
    let token = value.and_then(|value| value.split_once(' ')).map(|(_, token)| token.trim().to_owned());
    token.filter(|token| !token.is_empty()).map(Claim::Token).ok_or_else(|| {
        Problem::new(StatusCode::UNAUTHORIZED, "no token was sent").with_remedy(
            "send 'Authorization: Bearer TOKEN'; the first one is in data_dir/admin.token on the server",
        )
    })
}

/// Who calls, for the record, also where it is refused; and whether it counts.
fn resolve(state: &AppState, claim: Claim) -> (Option<Caller>, Result<Identity, Problem>) {
    match claim {
        Claim::Named { user, tenant } => {
            let identity = by_name(state, user, &tenant);
            let caller = identity.as_ref().ok().map(|known| Caller {
                tenant: known.tenant.clone(),
                user: known.user.clone(),
                credential: "headers".to_owned(),
            });
            (caller, identity)
        }
        Claim::Token(token) => match state.store.token_by_hash(&hash(&token)) {
            Ok(found) => {
                let caller = found.as_ref().map(|token| Caller {
                    tenant: token.tenant.clone(),
                    user: token.user.clone(),
                    credential: format!("token {}", token.id),
                });
                (caller, by_token(found, state.clock.now()))
            }
            Err(fault) => (None, Err(fault.into())),
        },
    }
}

fn by_name(state: &AppState, user: String, tenant: &str) -> Result<Identity, Problem> {
    let found = state.store.tenant(tenant)?;
    let tenant = found
        .ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, format!("tenant {tenant:?} does not exist")))?;
    Ok(Identity { user, tenant: tenant.id })
}

fn by_token(found: Option<Token>, now: i64) -> Result<Identity, Problem> {
    let valid = found
        .filter(|token| token.revoked_ms.is_none() && token.expires_ms.is_none_or(|expires| expires > now));
    let token = valid
        .ok_or_else(|| Problem::new(StatusCode::UNAUTHORIZED, "the token is unknown, expired or revoked"))?;
    Ok(Identity { user: token.user, tenant: token.tenant })
}

/// What is kept of a token.
#[must_use]
pub fn hash(token: &str) -> String {
    hex(&Sha256::digest(token.as_bytes()))
}

/// Bytes as text, two digits each.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
