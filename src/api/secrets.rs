//! Secrets at rest: what is sealed, and a new master key. Never a secret itself.

use actix_web::{HttpResponse, web};
use cooperage_schema::SecretsStatus;
use serde_json::{Value, json};

use super::identity::Identity;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;

/// Routes of both.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/secrets", |on| on.get(status));
    routes.at("/v2/secrets/rotate", |on| on.post(rotate));
}

/// `GET /v2/secrets`: what is sealed, and under which keys.
async fn status(state: web::Data<AppState>, _: Identity) -> Result<HttpResponse, Problem> {
    let status = state.blocking(|state| Ok(state.store.secrets_status()?)).await?;
    Ok(HttpResponse::Ok().json(shown(&status)))
}

/// `POST /v2/secrets/rotate`: a new master key in place of the old one.
async fn rotate(state: web::Data<AppState>, _: Identity) -> Result<HttpResponse, Problem> {
    let (rewrapped, status) =
        state.blocking(|state| Ok((state.store.rotate_secrets()?, state.store.secrets_status()?))).await?;
    let mut answer = shown(&status);
    answer["rewrapped"] = json!(rewrapped);
    Ok(HttpResponse::Ok().json(answer))
}

/// As it is answered, here and on the command line.
pub fn shown(status: &SecretsStatus) -> Value {
    json!({
        "keyFile": status.key_file,
        "currentKey": status.current,
        "olderKeys": status.older,
        "dataKeys": status.data_keys,
        "dataKeysBehind": status.data_keys_behind,
        "entityVersions": status.entities,
        "clusters": status.clusters,
    })
}
