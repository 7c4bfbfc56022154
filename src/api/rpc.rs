//! Questions about several things at once.

use std::collections::BTreeSet;

use actix_web::{HttpResponse, web};
use cooperage_schema::{ClusterFilter, ClusterRow};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::body;
use super::identity::Identity;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Routes of the questions.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/getNodeProperties", |on| on.post(node_properties));
    routes.at("/v2/getClusterStatuses", |on| on.post(cluster_statuses));
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeQuestion {
    cluster_id: String,
    /// Only these; all when there are none.
    #[serde(default, deserialize_with = "cooperage_domain::lenient::null_as_default")]
    properties: BTreeSet<String>,
    /// Only nodes that have all of them.
    #[serde(default, deserialize_with = "cooperage_domain::lenient::null_as_default")]
    services: BTreeSet<String>,
}

/// Properties of a cluster's nodes by id; nothing for a cluster that the caller does not see.
async fn node_properties(state: State, identity: Identity, body: web::Bytes) -> Answer {
    let asked: NodeQuestion = body::parse(&body)?;
    let cluster = match state.cluster(&identity, &asked.cluster_id).await {
        Ok(cluster) => cluster,
        Err(problem) if problem.status == 404 => return Ok(HttpResponse::Ok().json(Map::new())),
        Err(problem) => return Err(problem),
    };
    let nodes = cluster.nodes.values().filter(|node| asked.services.is_subset(&node.properties.services));
    let mut found = Map::new();
    for node in nodes {
        let mut properties = serde_json::to_value(&node.properties).map_err(Problem::internal)?;
        if let (Value::Object(properties), false) = (&mut properties, asked.properties.is_empty()) {
            properties.retain(|name, _| asked.properties.contains(name));
        }
        found.insert(node.id.to_string(), properties);
    }
    Ok(HttpResponse::Ok().json(found))
}

/// How far the latest jobs of all clusters are that the caller sees, newest cluster first.
async fn cluster_statuses(state: State, identity: Identity) -> Answer {
    let rows = state
        .blocking(move |state| {
            let owner = identity.owner_seen();
            let filter = ClusterFilter { tenant: Some(identity.tenant), owner, ..ClusterFilter::default() };
            Ok(state.store.clusters(&filter)?)
        })
        .await?;
    let statuses: Result<Vec<Value>, Problem> = rows.iter().map(status).collect();
    Ok(HttpResponse::Ok().json(statuses?))
}

fn status(row: &ClusterRow) -> Result<Value, Problem> {
    let summary: Value = serde_json::from_str(&row.summary).map_err(Problem::internal)?;
    let progress = &summary["progress"];
    Ok(json!({
        "clusterid": row.id,
        "stepstotal": row.steps_total,
        "stepscompleted": row.steps_done,
        "status": row.status,
        "actionstatus": progress["actionstatus"],
        "action": progress["action"],
    }))
}
