//! Tokens for programs: shown once, limited, ended, revoked.

use std::collections::BTreeSet;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_domain::access::{Role, Scope, UnknownWord};
use cooperage_domain::invalid::Invalid;
use cooperage_schema::Token;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::body;
use super::identity::{Credential, Identity, hash};
use super::problem::Problem;
use super::routes::Routes;
use super::secret::new_secret;
use super::state::AppState;
use super::users::TenantQuery;

/// The longest life of a token, in seconds: ten years.
const MAX_SECONDS: i64 = 10 * 366 * 24 * 3600;
/// Longest label, in characters.
const MAX_LABEL: usize = 200;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Routes of tokens.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/tokens", |on| on.get(list).post(post));
    routes.at("/v2/tokens/{id}", |on| on.delete(revoke));
}

/// What a token is to be.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    #[serde(default, deserialize_with = "cooperage_domain::lenient::null_as_default")]
    label: String,
    user: Option<String>,
    role: Option<String>,
    #[serde(default, deserialize_with = "cooperage_domain::lenient::null_as_default")]
    scopes: Vec<String>,
    #[serde(default, deserialize_with = "cooperage_domain::lenient::optional_number")]
    expires_in_seconds: Option<i64>,
}

fn shown(token: &Token, now: i64) -> Value {
    let scopes: Vec<String> = token.scopes.iter().map(ToString::to_string).collect();
    json!({
        "id": token.id,
        "label": token.label,
        "user": token.user,
        "role": token.role,
        "scopes": scopes,
        "created": token.created_ms,
        "expires": token.expires_ms,
        "revoked": token.revoked_ms,
        "counts": token.counts(now),
    })
}

/// The caller's own; all of the tenant for its admin.
async fn list(state: State, identity: Identity, query: web::Query<TenantQuery>) -> Answer {
    let found: Vec<Value> = state
        .blocking(move |state| {
            let tokens = state.store.tokens(&query.of(state, &identity)?)?;
            let now = state.clock.now();
            let mine = |token: &&Token| identity.is_admin() || token.user == identity.user;
            Ok(tokens.iter().filter(mine).map(|token| shown(token, now)).collect())
        })
        .await?;
    Ok(HttpResponse::Ok().json(found))
}

async fn post(state: State, identity: Identity, query: web::Query<TenantQuery>, body: web::Bytes) -> Answer {
    let asked: Asked = body::parse_optional(&body)?;
    let made = state
        .blocking(move |state| {
            let secret = new_secret();
            let tenant = query.of(state, &identity)?;
            let token = wanted(state, &identity, tenant, &asked, hash(&secret))?;
            let mut shown = shown(&token, state.clock.now());
            state.store.add_token(token)?;
            shown["token"] = secret.into();
            Ok(shown)
        })
        .await?;
    Ok(HttpResponse::Ok().insert_header(("Cache-Control", "no-store")).json(made))
}

/// The token that is asked for: never for more than the caller may, nor than the user is.
fn wanted(
    state: &AppState,
    identity: &Identity,
    tenant: String,
    asked: &Asked,
    hash: String,
) -> Result<Token, Problem> {
    if asked.label.chars().count() > MAX_LABEL {
        let remedy = format!("use at most {MAX_LABEL} characters");
        return Err(Invalid::new("label", &asked.label, "is too long", remedy).into());
    }
    let now = state.clock.now();
    let user = asked.user.clone().unwrap_or_else(|| identity.user.clone());
    let for_self = user == identity.user && tenant == identity.tenant;
    if !for_self {
        identity.require_admin()?;
    }
    let role = role(asked)?;
    let role = match role {
        Some(Role::Provisioner) if identity.is_superadmin() => Role::Provisioner,
        _ => role_of_user(state, identity, &tenant, &user, role)?,
    };
    Ok(Token {
        id: Uuid::now_v7().to_string(),
        hash,
        tenant,
        user,
        role,
        created_ms: now,
        expires_ms: expiry(asked, now)?,
        revoked_ms: None,
        label: asked.label.clone(),
        scopes: scopes(identity, asked)?,
    })
}

fn role(asked: &Asked) -> Result<Option<Role>, Problem> {
    let parsed = asked.role.as_ref().map(|word| {
        let unknown = |fault: UnknownWord| {
            Invalid::new("role", word, "is no role", format!("use one of: {}", fault.known()))
        };
        word.parse::<Role>().map_err(unknown)
    });
    Ok(parsed.transpose()?)
}

fn role_of_user(
    state: &AppState,
    identity: &Identity,
    tenant: &str,
    user: &str,
    asked: Option<Role>,
) -> Result<Role, Problem> {
    let found = state.store.user(tenant, user)?;
    // Where callers are believed there are users that nobody made.
    let most = match (&identity.credential, found) {
        (_, Some(found)) => found.role,
        (Credential::Headers, None) => {
            let remedy = "make the user with POST /v2/users first: tokens are held by users";
            return Err(Problem::not_found("user", user).at("user", user).with_remedy(remedy));
        }
        (_, None) => return Err(Problem::not_found("user", user).at("user", user)),
    };
    let role = asked.unwrap_or(most);
    let refused = |detail: String| Err(Problem::new(StatusCode::FORBIDDEN, detail).at("role", role.as_str()));
    if !most.covers(role) {
        return refused(format!("role: {role} is more than user {user:?} is, {most}"));
    }
    if !identity.role.covers(role) {
        return refused(format!("role: {role} is more than the caller is, {}", identity.role));
    }
    Ok(role)
}

/// The scopes, none of which the caller's own token lacks.
fn scopes(identity: &Identity, asked: &Asked) -> Result<BTreeSet<Scope>, Problem> {
    let parse = |word: &String| {
        let unknown = |fault: UnknownWord| {
            Invalid::new("scopes", word, "is no scope", format!("use one of: {}", fault.known()))
        };
        word.parse::<Scope>().map_err(unknown)
    };
    let scopes: BTreeSet<Scope> = asked.scopes.iter().map(parse).collect::<Result<_, _>>()?;
    let widens = !identity.scopes.is_empty()
        && (scopes.is_empty()
            || !scopes.iter().all(|scope| identity.scopes.iter().any(|own| own.covers(*scope))));
    if widens {
        let own: Vec<String> = identity.scopes.iter().map(ToString::to_string).collect();
        let detail = "scopes: the caller's own token is limited, and the new one would reach further";
        return Err(Problem::new(StatusCode::FORBIDDEN, detail)
            .at("scopes", asked.scopes.join(" "))
            .with_remedy(format!("choose from: {}", own.join(", "))));
    }
    Ok(scopes)
}

fn expiry(asked: &Asked, now: i64) -> Result<Option<i64>, Problem> {
    let Some(seconds) = asked.expires_in_seconds else { return Ok(None) };
    if !(1..=MAX_SECONDS).contains(&seconds) {
        let remedy = format!("give seconds from 1 to {MAX_SECONDS}, or leave it out: it never ends");
        let fault = "is no time a token may live";
        return Err(Invalid::new("expiresInSeconds", seconds.to_string(), fault, remedy).into());
    }
    Ok(Some(now + seconds * 1000))
}

/// Nobody takes a token from somebody of a greater role.
fn may_revoke(identity: &Identity, token: &Token) -> Result<(), Problem> {
    if token.user == identity.user || token.role != Role::Superadmin || identity.is_superadmin() {
        return Ok(());
    }
    let detail = format!("token {} is a superadmin's, which is more than the caller is", token.id);
    Err(Problem::new(StatusCode::FORBIDDEN, detail).with_remedy("ask a superadmin"))
}

async fn revoke(
    state: State,
    identity: Identity,
    id: web::Path<String>,
    query: web::Query<TenantQuery>,
) -> Answer {
    state
        .blocking(move |state| {
            let tokens = state.store.tokens(&query.of(state, &identity)?)?;
            let mine = |token: &&Token| identity.is_admin() || token.user == identity.user;
            let found = tokens.iter().filter(mine).find(|token| token.id == *id);
            let found = found.ok_or_else(|| Problem::not_found("token", &id))?;
            may_revoke(&identity, found)?;
            Ok(state.store.revoke_token(&found.id, state.clock.now())?)
        })
        .await?;
    Ok(HttpResponse::Ok().finish())
}
