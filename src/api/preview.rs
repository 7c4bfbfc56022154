//! What a create would do: nodes, tasks and time, without doing anything.

use std::num::NonZeroUsize;
use std::time::Duration;

use cooperage_domain::cluster::{Cluster, ClusterRequest, create, replay};
use cooperage_domain::id::NodeId;
use cooperage_domain::plan::{predict, render, schedule, stages};
use serde_json::{Value, json};

use super::apply::refuse_cycles;
use super::clusters::asking;
use super::identity::Identity;
use super::problem::Problem;
use super::state::AppState;

/// The nodes a request would get, the graph of tasks, and how long it would take. Waits for the database.
///
/// # Errors
/// As a create that refuses requests without a layout.
pub fn preview(state: &AppState, identity: &Identity, request: &ClusterRequest) -> Result<Value, Problem> {
    let catalog = state.catalog(&identity.tenant)?;
    let now = state.clock.now();
    let accepted = request.accept(&catalog, asking(state, identity, now))?;
    refuse_cycles(accepted.order.definitions.values())?;
    let nodes = accepted.lay_out(&catalog).map_err(|refusal| Problem::from(&refusal))?;
    let events = create(accepted.order, Ok(nodes), now)?;
    let cluster = replay(&events).ok_or_else(|| Problem::internal("a create without events"))?;
    shown(state, &cluster)
}

fn shown(state: &AppState, cluster: &Cluster) -> Result<Value, Problem> {
    let job = cluster.latest_job().ok_or_else(|| Problem::internal("a create without a job"))?;
    let (graph, numbers) = job.graph();
    let durations = state.estimates.durations(cluster, job, &numbers);
    let workers = NonZeroUsize::new(state.settings.workers.local).unwrap_or(NonZeroUsize::MIN);
    let prediction = predict(&graph, |task| durations.get(task.index).copied().unwrap_or_default(), workers);
    let label = |place: &usize| {
        let task = graph.tasks().get(*place);
        let host = task.map(|t| host(cluster, &t.node));
        let service = task.and_then(|t| t.service.as_ref()).map(|s| format!(" {s}")).unwrap_or_default();
        let name = task.map(|t| t.name.as_str()).unwrap_or_default();
        format!("{name}{service} on {}", host.unwrap_or_default())
    };
    let ms = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    Ok(json!({
        "nodes": cluster.nodes_by_number().iter().map(|node| &node.properties).collect::<Vec<_>>(),
        "services": cluster.services,
        "tasks": graph.len(),
        "graph": render(&graph, |node| host(cluster, node)),
        "stages": stages(&graph).len(),
        "predictedMs": ms(prediction.makespan),
        "lowerBoundMs": ms(schedule::lower_bound(&graph, &durations, workers)),
        "criticalPath": prediction.critical_path.iter().map(label).collect::<Vec<_>>(),
    }))
}

/// What people call a node.
fn host(cluster: &Cluster, node: &NodeId) -> String {
    let hostname = cluster.nodes.get(node).and_then(|node| node.properties.hostname.clone());
    hostname.unwrap_or_else(|| node.to_string())
}
