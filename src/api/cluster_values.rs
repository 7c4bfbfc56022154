//! The values that a node's services see, and where each comes from.

use actix_web::{HttpResponse, web};
use cooperage_domain::cluster::{Layered, Node, layered, put_together, taken_outputs, view};
use cooperage_domain::macros::expand_tree;
use serde::Deserialize;
use serde_json::{Value, json};

use super::cluster_changes::{Answer, Id, State};
use super::cluster_life::node_named;
use super::identity::Identity;
use super::routes::Routes;

/// The route of values with their layers.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/clusters/{id}/values", |on| on.get(values));
}

#[derive(Debug, Deserialize)]
struct Of {
    /// A node, by id, number or host name.
    node: Option<String>,
}

/// `GET /v2/clusters/{id}/values[?node=]`: what the services of a node see, or what all nodes have in common.
async fn values(state: State, identity: Identity, id: Id, of: web::Query<Of>) -> Answer {
    let cluster = state.cluster(&identity, &id).await?;
    let named = of.node.as_deref().map(|name| node_named(&cluster, "node", name)).transpose()?;
    let node: Option<&Node> = named.and_then(|id| cluster.nodes.get(&id));
    let macros = view(&cluster);
    let config = layered(&cluster, node);
    let outputs = node.map(|node| taken_outputs(&cluster, node)).unwrap_or_default();
    let shown = |it: &Layered| {
        let mut line = json!({ "path": it.path(), "value": it.value, "layer": it.layer });
        if let Some(service) = &it.service {
            line["service"] = json!(service);
        }
        let expanded = node.and_then(|node| expand_tree(&it.value, &macros, Some(&node.id)).ok());
        if let Some(expanded) = expanded.filter(|expanded| *expanded != it.value) {
            line["expanded"] = expanded;
        }
        line
    };
    let lines: Vec<Value> = config.iter().chain(&outputs).map(shown).collect();
    let mut answer = json!({ "clusterId": cluster.id, "values": lines, "config": put_together(config) });
    if let Some(node) = node {
        let properties = &node.properties;
        answer["node"] = json!({ "id": node.id, "number": properties.nodenum, "host": properties.hostname });
    }
    Ok(HttpResponse::Ok().json(answer))
}
