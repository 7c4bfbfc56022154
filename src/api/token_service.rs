//! Tokens for clients of Coopr: they are told where, ask there with a password, and send the token from then on.

use actix_web::http::StatusCode;
use actix_web::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, web};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use cooperage_schema::{SUPERADMIN, Token, User};
use serde_json::json;
use std::collections::BTreeSet;
use uuid::Uuid;

use super::identity::hash;
use super::problem::Problem;
use super::routes::Routes;
use super::secret::new_secret;
use super::session::with_password;
use super::state::AppState;

/// Where tokens are asked for.
const PATH: &str = "/token";
/// How long such a token counts, in seconds: as in Coopr.
const SECONDS: i64 = 86_400;

/// The route of the service.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at(PATH, |on| on.get(get));
}

/// `GET /token` with a name and a password (RFC 7617). The tenant is that of the header `Coopr-TenantID`, or stands before the
/// name (`tenant/name`), or is the superadmin's.
async fn get(state: web::Data<AppState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let (name, password) = basic(&request).ok_or_else(|| {
        Problem::new(StatusCode::UNAUTHORIZED, "no name and password were sent")
            .with_remedy("send them as 'Authorization: Basic …' (RFC 7617)")
    })?;
    let header = request.headers().get("Coopr-TenantID").and_then(|value| value.to_str().ok());
    let (tenant, name) = match name.split_once('/') {
        Some((tenant, name)) => (tenant.to_owned(), name.to_owned()),
        None => (header.unwrap_or(SUPERADMIN).to_owned(), name),
    };
    let user = with_password(&state, &request, tenant, name, password).await?;
    let secret = state.blocking(move |state| make(state, &user)).await?;
    Ok(HttpResponse::Ok().insert_header(("Cache-Control", "no-store")).json(json!({
        "access_token": secret,
        "token_type": "Bearer",
        "expires_in": SECONDS,
    })))
}

fn basic(request: &HttpRequest) -> Option<(String, String)> {
    let value = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, encoded) = value.split_once(' ')?;
    let decoded = BASE64_STANDARD.decode(encoded.trim()).ok()?;
    let (name, password) = std::str::from_utf8(&decoded).ok()?.split_once(':')?;
    scheme.eq_ignore_ascii_case("basic").then(|| (name.to_owned(), password.to_owned()))
}

fn make(state: &AppState, user: &User) -> Result<String, Problem> {
    let (secret, now) = (new_secret(), state.clock.now());
    state.store.add_token(Token {
        id: Uuid::now_v7().to_string(),
        hash: hash(&secret),
        tenant: user.tenant.clone(),
        user: user.name.clone(),
        role: user.role,
        created_ms: now,
        expires_ms: Some(now + SECONDS * 1000),
        revoked_ms: None,
        label: "asked for with a password".to_owned(),
        scopes: BTreeSet::new(),
    })?;
    Ok(secret)
}

/// What clients of Coopr understand of a 401: where to ask for a token.
pub(super) fn unauthorized(problem: &Problem, scheme: &str, host: &str) -> HttpResponse {
    HttpResponseBuilder::new(StatusCode::UNAUTHORIZED)
        .insert_header((WWW_AUTHENTICATE, "Bearer realm=\"cooperage\""))
        .json(json!({
            "auth_uri": [format!("{scheme}://{host}{PATH}")],
            "error": "invalid_token",
            "error_description": problem.detail,
        }))
}
