//! People who log in, and stay so for a while: their browser keeps a cookie that no script can read and no other site can use.

use actix_web::cookie::{Cookie, SameSite, time};
use actix_web::dev::ServiceRequest;
use actix_web::http::StatusCode;
use actix_web::http::header::{HOST, ORIGIN};
use actix_web::{HttpMessage, HttpRequest, HttpResponse, web};
use cooperage_schema::{Session, User};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::audit::Caller;
use super::body;
use super::identity::{Credential, Identity, hash};
use super::password;
use super::problem::Problem;
use super::routes::Routes;
use super::secret::new_secret;
use super::state::AppState;

/// The cookie's name.
const COOKIE: &str = "cooperage_session";

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Routes for logging in and out.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/login", |on| on.post(login));
    routes.at("/v2/logout", |on| on.post(logout));
    routes.at("/v2/me", |on| on.get(me));
}

/// The secret of the caller's session, if a cookie has one.
pub(super) fn cookie(request: &ServiceRequest) -> Option<String> {
    request.cookie(COOKIE).map(|cookie| cookie.value().to_owned()).filter(|secret| !secret.is_empty())
}

/// A browser sends cookies along whoever made it ask; what changes something must come from a page of ours. Browsers say
/// where it comes from with everything that is not a plain look.
///
/// # Errors
/// 403.
pub(super) fn refuse_foreign_sites(request: &ServiceRequest, writes: bool) -> Result<(), Problem> {
    if !writes {
        return Ok(());
    }
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    let origin = header(ORIGIN).and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    let host =
        header(HOST).or_else(|| request.uri().authority().map(actix_web::http::uri::Authority::as_str));
    if origin.is_some() && origin == host {
        return Ok(());
    }
    let detail = "the request comes with a session, but not from a page of this server";
    Err(Problem::new(StatusCode::FORBIDDEN, detail)
        .with_remedy("programs send a token: 'Authorization: Bearer TOKEN'"))
}

#[derive(Deserialize)]
struct Login {
    tenant: String,
    user: String,
    password: String,
}

#[derive(Deserialize)]
struct Code {
    code: Option<String>,
}

/// The user of this name and password.
///
/// # Errors
/// 401, whichever of them is wrong; 429 after too many tries.
pub(super) async fn with_password(
    state: &State,
    request: &HttpRequest,
    tenant: String,
    name: String,
    password: String,
) -> Result<User, Problem> {
    let said = Caller { tenant: tenant.clone(), user: name.clone(), credential: "password".to_owned() };
    request.extensions_mut().insert(said);
    let address = request.peer_addr().map(|peer| peer.ip().to_string()).unwrap_or_default();
    state.login_limit.count(&format!("{tenant}/{name}"), &address)?;
    let _turn = state.login_limit.turn().await?;
    state
        .blocking(move |state| {
            let tenant = state.store.tenant(&tenant)?;
            let user = tenant.map(|tenant| state.store.user(&tenant.id, &name)).transpose()?.flatten();
            let user = user.filter(|user| !user.disabled);
            let hashed = user.as_ref().and_then(|user| user.password_hash.as_deref());
            let is_right = password::is_right(&password, hashed);
            user.filter(|_| is_right).ok_or_else(|| {
                Problem::new(StatusCode::UNAUTHORIZED, "tenant, user or password is wrong")
                    .with_remedy("check them, or ask the tenant's admin for a new password")
            })
        })
        .await
}

/// The user whom a code lets in.
async fn with_code(state: &State, request: &HttpRequest, code: String) -> Result<User, Problem> {
    let address = request.peer_addr().map(|peer| peer.ip().to_string()).unwrap_or_default();
    state.login_limit.count(&format!("code from {address}"), &address)?;
    let offered = state.login_codes.take(&code, state.clock.now());
    let user = match offered {
        Some(offered) => state
            .blocking(move |state| Ok(state.store.user(&offered.tenant, &offered.user)?))
            .await?
            .filter(|user| !user.disabled),
        None => None,
    };
    let user = user.ok_or_else(|| {
        Problem::new(StatusCode::UNAUTHORIZED, "the code is unknown, used already, or too old")
            .with_remedy("ask for a new one: cooperage web")
    })?;
    let (tenant, name) = (user.tenant.clone(), user.name.clone());
    request.extensions_mut().insert(Caller { tenant, user: name, credential: "code".to_owned() });
    Ok(user)
}

async fn login(state: State, request: HttpRequest, body: web::Bytes) -> Answer {
    let user = match body::parse::<Code>(&body)?.code {
        Some(code) => with_code(&state, &request, code).await?,
        None => {
            let asked: Login = body::parse(&body)?;
            with_password(&state, &request, asked.tenant, asked.user, asked.password).await?
        }
    };
    let (user, secret, expires_ms) = state.blocking(move |state| begin(state, user)).await?;
    let mut cookie = Cookie::new(COOKIE, secret);
    cookie.set_path("/");
    cookie.set_http_only(true);
    cookie.set_same_site(SameSite::Strict);
    cookie.set_secure(request.app_config().secure());
    cookie.set_expires(time::OffsetDateTime::from_unix_timestamp(expires_ms / 1000).ok());
    let mut shown = shown(&user, &tenant_name(&state, &user.tenant).await?);
    shown["sessionExpires"] = expires_ms.into();
    Ok(HttpResponse::Ok().cookie(cookie).json(shown))
}

/// Begins a session. Waits for the database.
fn begin(state: &AppState, user: User) -> Result<(User, String, i64), Problem> {
    let secret = new_secret();
    let now = state.clock.now();
    let expires_ms = now + i64::from(state.settings.auth.session_hours) * 3_600_000;
    state.store.add_session(Session {
        id: Uuid::now_v7().to_string(),
        hash: hash(&secret),
        tenant: user.tenant.clone(),
        user: user.name.clone(),
        created_ms: now,
        expires_ms,
    })?;
    Ok((user, secret, expires_ms))
}

async fn logout(state: State, identity: Identity) -> Answer {
    if let Credential::Session(id) = identity.credential {
        state.blocking(move |state| Ok(state.store.end_session(&id)?)).await?;
    }
    let mut gone = Cookie::new(COOKIE, "");
    gone.set_path("/");
    gone.make_removal();
    Ok(HttpResponse::Ok().cookie(gone).finish())
}

/// Who the caller is, for pages and for people who are not sure.
async fn me(state: State, identity: Identity) -> Answer {
    let tenant = tenant_name(&state, &identity.tenant).await?;
    let by = match identity.credential {
        Credential::Headers => "headers",
        Credential::Token(_) => "token",
        Credential::Session(_) => "session",
    };
    let scopes: Vec<String> = identity.scopes.iter().map(ToString::to_string).collect();
    Ok(HttpResponse::Ok().json(json!({
        "user": identity.user,
        "tenant": tenant,
        "role": identity.role,
        "visiting": identity.is_visiting,
        "scopes": scopes,
        "credential": by,
    })))
}

fn shown(user: &User, tenant: &str) -> Value {
    json!({ "user": user.name, "tenant": tenant, "role": user.role })
}

async fn tenant_name(state: &State, id: &str) -> Result<String, Problem> {
    let id = id.to_owned();
    let tenant = state.blocking(move |state| Ok(state.store.tenant_by_id(&id)?)).await?;
    Ok(tenant.map(|tenant| tenant.name).unwrap_or_default())
}
