//! Clusters and nodes as JSON, in Coopr's shapes and with what we know beyond them.

use cooperage_domain::cluster::{Cluster, ClusterStatus, Node, outputs, view};
use cooperage_domain::entity::Link;
use cooperage_domain::macros::{ClusterView, expand_link};
use serde_json::{Map, Value, json};

use super::care::notes;

/// Everything about one cluster.
pub fn details(cluster: &Cluster) -> Value {
    let macros = view(cluster);
    let links: Vec<Link> =
        cluster.template.links.iter().map(|link| expand_link(link, &macros, None)).collect();
    let nodes: Vec<Value> =
        cluster.nodes_by_number().iter().map(|node| node_details(cluster, node, &macros)).collect();
    let job = cluster.latest_job();
    let mut details = json!({
        "id": cluster.id,
        "name": cluster.name,
        "description": cluster.description,
        "account": cluster.account,
        "createTime": cluster.created,
        "expireTime": cluster.expires,
        "expiryWarningTime": cluster.warning_at(),
        "provider": cluster.provider,
        "clusterTemplate": cluster.template,
        "nodes": nodes,
        "services": cluster.services,
        "latestJobId": job.map(|job| job.id),
        "status": cluster.status,
        "config": cluster.config,
        "links": links,
        "progress": cluster.progress(),
        "revision": cluster.sequence,
    });
    if let (Some(message), Value::Object(fields)) = (job.and_then(|job| job.message.clone()), &mut details) {
        fields.insert("message".to_owned(), message.into());
    }
    if let (Some(maintenance), Value::Object(fields)) = (&cluster.care.maintenance, &mut details) {
        fields.insert("maintenance".to_owned(), json!(maintenance));
    }
    add_ancestors(cluster, &mut details);
    details
}

/// Adds whom a cluster is built upon, where it is.
fn add_ancestors(cluster: &Cluster, details: &mut Value) {
    let origins = &cluster.kin.origins;
    for (field, origin) in [("parent", &origins.parent), ("foundation", &origins.foundation)] {
        if let Some(origin) = origin {
            details[field] = json!(origin.from);
        }
    }
    if !origins.is_empty() {
        details["fromAncestors"] = json!(cluster.taken());
    }
}

/// Adds to a cluster that is shown how long its lease still lasts, in ms, and whether that is soon.
pub fn add_lease_left(shown: &mut Value, now: i64) {
    let (Some(expires), Some(status)) = (shown["expireTime"].as_i64(), shown["status"].as_str()) else {
        return;
    };
    if expires == 0 || status == ClusterStatus::Terminated.as_str() {
        return;
    }
    let is_soon = shown["expiryWarningTime"].as_i64().is_some_and(|from| from <= now);
    shown["expiresIn"] = expires.saturating_sub(now).max(0).into();
    shown["expiring"] = is_soon.into();
}

/// Everything about one node.
pub fn node(cluster: &Cluster, node: &Node) -> Value {
    node_details(cluster, node, &view(cluster))
}

fn node_details(cluster: &Cluster, node: &Node, macros: &ClusterView<'_>) -> Value {
    let services: Vec<_> =
        node.properties.services.iter().filter_map(|name| cluster.definitions.get(name)).collect();
    let links: Vec<Link> = services
        .iter()
        .flat_map(|service| &service.links)
        .map(|link| expand_link(link, macros, Some(&node.id)))
        .collect();
    let mut details = json!({
        "id": node.id,
        "clusterId": cluster.id,
        "services": services,
        "properties": node.properties,
        "status": cluster.node_status(node),
        "actions": cluster.node_actions(&node.id),
        "provisionerResults": public_results(&node.results),
        "links": links,
    });
    if let Value::Object(fields) = &mut details {
        fields.extend(notes(cluster, &node.id));
        if !node.config.is_empty() {
            fields.insert("config".to_owned(), Value::Object(node.config.clone()));
        }
    }
    details
}

/// What earlier tasks reported, without the passwords that some providers put there, and with masks for secret outputs.
fn public_results(results: &Map<String, Value>) -> Map<String, Value> {
    let mut results = results.clone();
    if let Some(Value::Object(auth)) = results.get_mut("ssh-auth") {
        auth.retain(|key, _| !key.contains("password"));
    }
    results.values_mut().for_each(outputs::mask_tokens);
    results
}

/// How far the latest job is.
pub fn status(cluster: &Cluster) -> Value {
    let progress = cluster.progress();
    json!({
        "clusterid": cluster.id,
        "stepstotal": progress.as_ref().map_or(0, |p| p.total),
        "stepscompleted": progress.as_ref().map_or(0, |p| p.done),
        "status": cluster.status,
        "actionstatus": progress.as_ref().map(|p| p.status),
        "action": progress.as_ref().map(|p| p.action),
    })
}
