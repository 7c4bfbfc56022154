//! What a user keeps here for itself: one JSON object that means nothing to us.

use actix_web::{HttpResponse, web};
use serde_json::{Map, Value};

use super::body;
use super::identity::Identity;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Routes of the profile.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/profile", |on| on.get(get).put(put).delete(delete));
}

async fn get(state: State, identity: Identity) -> Answer {
    let found: Map<String, Value> = state
        .blocking(move |state| {
            let stored = state.store.profile(&identity.tenant, &identity.user)?;
            let text = stored.ok_or_else(|| Problem::not_found("profile of", &identity.user).silently())?;
            serde_json::from_str(&text).map_err(Problem::internal)
        })
        .await?;
    Ok(HttpResponse::Ok().json(found))
}

async fn put(state: State, identity: Identity, body: web::Bytes) -> Answer {
    let profile: Map<String, Value> = body::parse(&body)?;
    let text = Value::from(profile).to_string();
    state.blocking(move |state| Ok(state.store.put_profile(&identity.tenant, &identity.user, text)?)).await?;
    Ok(HttpResponse::Ok().finish())
}

async fn delete(state: State, identity: Identity) -> Answer {
    state.blocking(move |state| Ok(state.store.delete_profile(&identity.tenant, &identity.user)?)).await?;
    Ok(HttpResponse::Ok().finish())
}
