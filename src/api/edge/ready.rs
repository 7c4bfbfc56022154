//! Whether the server can do its work now, for those who decide where requests go.

use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_actors::registry::Look;
use cooperage_domain::id::ClusterId;
use serde_json::json;

use crate::api::problem::Problem;
use crate::api::state::AppState;

/// How long the look may take.
const LIMIT: Duration = Duration::from_secs(5);

/// `GET /v2/ready`: 200, or 503 with the reason. Nobody is asked who they are.
///
/// # Errors
/// 503.
pub async fn ready(state: web::Data<AppState>) -> Result<HttpResponse, Problem> {
    if state.stopping.is_cancelled() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping"));
    }
    let look = async {
        state.blocking(|state| Ok(state.store.cluster(ClusterId(0)).map(drop)?)).await?;
        state.registry.send(Look { id: ClusterId(0) }).await.map(drop).map_err(Problem::unavailable)
    };
    match tokio::time::timeout(LIMIT, look).await {
        Ok(Ok(())) => Ok(HttpResponse::Ok().json(json!({ "status": "ready" }))),
        Ok(Err(fault)) => Err(Problem::unavailable(fault.cause())),
        Err(_) => Err(Problem::unavailable("the database or the registry takes too long to answer")),
    }
}
