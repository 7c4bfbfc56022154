//! What is sent to hooks.

use cooperage_domain::callback::Hook;
use cooperage_domain::cluster::{Cluster, Job};
use serde_json::{Map, Value, json};

/// Fields of our own form that stay beside Coopr's.
const BESIDE: [&str; 6] = ["id", "event", "time", "callback", "who", "lease"];

/// The body of a call: what is told of the occurrence, with the call's id and the hook's name. Hooks of the settings get
/// Coopr's `cluster`, `job` and `nodes` in place of ours, from the cluster as it is now, where it can be read.
pub(super) fn body(document: &str, id: &str, hook: &Hook, now: Option<(&Cluster, Option<u32>)>) -> String {
    let mut document: Map<String, Value> = serde_json::from_str(document).unwrap_or_default();
    document.insert("id".to_owned(), id.into());
    document.insert("callback".to_owned(), hook.name.as_str().into());
    let Some((cluster, job)) = now.filter(|_| hook.is_of_settings()) else {
        return Value::Object(document).to_string();
    };
    document.retain(|field, _| BESIDE.contains(&field.as_str()));
    let job = job.and_then(|number| cluster.job(number)).or_else(|| cluster.latest_job());
    document.insert("cluster".to_owned(), coopr_cluster(cluster));
    document.insert("job".to_owned(), job.map(coopr_job).unwrap_or_default());
    document.insert("nodes".to_owned(), coopr_nodes(cluster));
    Value::Object(document).to_string()
}

/// A cluster under the names of Coopr's own fields, with words in capitals.
fn coopr_cluster(cluster: &Cluster) -> Value {
    json!({
        "id": cluster.id,
        "name": cluster.name,
        "description": cluster.description,
        "account": cluster.account,
        "createTime": cluster.created,
        "expireTime": cluster.expires,
        "provider": cluster.provider,
        "clusterTemplate": cluster.template,
        "nodes": cluster.nodes.keys().collect::<Vec<_>>(),
        "services": cluster.services,
        "latestJobId": cluster.latest_job().map(|job| job.id),
        "status": cluster.status.as_str().to_uppercase(),
        "config": cluster.config,
    })
}

fn coopr_job(job: &Job) -> Value {
    let statuses = job.tasks.values().map(|task| {
        let status = task.state.as_str().to_uppercase();
        (task.id.to_string(), Value::from(status))
    });
    json!({
        "jobId": job.id,
        "clusterId": job.id.cluster,
        "clusterAction": job.action.as_upper(),
        "taskStatus": statuses.collect::<Map<_, _>>(),
        "jobStatus": job.status.as_str().to_uppercase(),
        "statusMessage": job.message,
    })
}

fn coopr_nodes(cluster: &Cluster) -> Value {
    let node = |node: &&cooperage_domain::cluster::Node| {
        json!({
            "id": node.id,
            "clusterId": cluster.id,
            "services": node.properties.services,
            "properties": node.properties,
            "status": cluster.node_status(node).as_str().to_uppercase(),
        })
    };
    cluster.nodes_by_number().iter().map(node).collect()
}
