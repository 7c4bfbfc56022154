//! Clusters, nodes and plans as JSON, in Coopr's shapes and with what we know beyond them.

use std::sync::Arc;

use cooperage_domain::cluster::{Cluster, ClusterStatus, Job, Node, Task, outputs, view};
use cooperage_domain::entity::Link;
use cooperage_domain::macros::{ClusterView, expand_link};
use cooperage_domain::plan::{schedule, stages};
use serde_json::{Map, Value, json};

use super::care::notes;
use super::waiting::Looker;

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

/// A job as Coopr shows it, in stages; and as it is: a graph with times.
pub fn plan(cluster: &Arc<Cluster>, job: &Job, looker: &Looker<'_>) -> Value {
    let (graph, numbers) = job.graph();
    let task = |place: usize| numbers.get(place).and_then(|number| job.tasks.get(number));
    let staged: Vec<Vec<&Task>> =
        stages(&graph).into_iter().map(|stage| stage.into_iter().filter_map(task).collect()).collect();
    let durations = looker.estimates.durations(cluster, job, &numbers);
    let ranks = schedule::ranks(&graph, &durations);
    let critical: Vec<String> = schedule::critical_path(&graph, &ranks)
        .into_iter()
        .filter_map(task)
        .map(|task| task.id.to_string())
        .collect();
    let tasks: Vec<Value> = numbers
        .iter()
        .enumerate()
        .filter_map(|(place, number)| Some((job.tasks.get(number)?, durations.get(place)?)))
        .map(|(task, estimate)| {
            let mut shown = graph_task(job, task, estimate.as_millis());
            looker.add_to(&mut shown, cluster, job, task);
            shown
        })
        .collect();
    json!({
        "id": job.id,
        "clusterId": cluster.id,
        "action": job.action.as_upper(),
        "currentStage": current_stage(&staged),
        "stages": staged.iter().map(|stage| stage.iter().map(|task| staged_task(task)).collect()).collect::<Vec<Vec<_>>>(),
        "status": job.status,
        "message": job.message,
        "startTime": job.started,
        "endTime": job.ended,
        "tasks": tasks,
        "criticalPath": critical,
        "predictedMs": ranks.into_iter().max().unwrap_or_default().as_millis() as u64,
    })
}

/// The first stage that has a task to do; the last one when all is done.
fn current_stage(stages: &[Vec<&Task>]) -> usize {
    let is_open = |task: &&Task| {
        let outcome = task.attempts.last().map(|attempt| attempt.outcome.as_ref());
        !matches!(outcome, Some(Some(outcome)) if outcome.code == 0)
    };
    let open = stages.iter().position(|stage| stage.iter().any(is_open));
    open.unwrap_or_else(|| stages.len().saturating_sub(1))
}

fn staged_task(task: &Task) -> Value {
    json!({
        "id": task.id,
        "taskName": task.name,
        "nodeId": task.node,
        "service": task.service.as_deref().unwrap_or_default(),
    })
}

fn graph_task(job: &Job, task: &Task, estimate_ms: u128) -> Value {
    let id = |number: &u32| job.tasks.get(number).map(|task| task.id);
    let attempts: Vec<Value> = task
        .attempts
        .iter()
        .map(|attempt| {
            let outcome = attempt.outcome.as_ref();
            json!({
                "number": attempt.number,
                "worker": attempt.worker,
                "startTime": attempt.started,
                "endTime": outcome.map(|o| o.at),
                "code": outcome.map(|o| o.code),
                "errorKind": outcome.and_then(|o| o.kind),
            })
        })
        .collect();
    json!({
        "id": task.id,
        "taskName": task.name,
        "nodeId": task.node,
        "service": task.service.as_deref().unwrap_or_default(),
        "after": task.after.iter().filter_map(id).collect::<Vec<_>>(),
        "status": task.state,
        "estimateMs": u64::try_from(estimate_ms).unwrap_or(u64::MAX),
        "attempts": attempts,
    })
}
