//! Nodes across clusters, as far as the caller may see them.

use actix_web::{HttpResponse, web};
use serde_json::{Value, json};

use super::identity::Identity;
use super::problem::Problem;
use super::state::AppState;

/// `GET /v2/nodes`: the nodes of all clusters of the tenant, for its admin.
pub async fn list(state: web::Data<AppState>, identity: Identity) -> Result<HttpResponse, Problem> {
    identity.require_admin()?;
    let rows = state.blocking(move |state| Ok(state.store.all_nodes(Some(&identity.tenant))?)).await?;
    let nodes: Result<Vec<Value>, serde_json::Error> = rows
        .iter()
        .map(|row| {
            let properties: Value = serde_json::from_str(&row.document)?;
            Ok(json!({ "id": row.id, "clusterId": row.cluster, "status": row.status, "properties": properties }))
        })
        .collect();
    Ok(HttpResponse::Ok().json(nodes.map_err(Problem::internal)?))
}
