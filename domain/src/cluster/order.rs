//! What a worker is given with a task, put together from all that is known when it is handed out.

use std::collections::BTreeMap;

use super::state::{Cluster, Node};
use crate::entity::{ActionSpec, Provider};
use crate::id::NodeId;
use crate::macros::{self, ClusterView, MacroError};
use crate::task::{NodeProperties, ServiceOrder, TaskConfig, TaskOrder};

/// Why a task cannot be handed out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// The task, its node or its service is not part of the cluster.
    #[error("task {0} is not a task of the cluster's latest job")]
    UnknownTask(u32),
    /// A macro in the configuration or in the action's fields cannot be expanded.
    #[error("Exception while expanding macros: {0}")]
    Macro(#[from] MacroError),
}

/// The order for attempt `attempt` of task `task` (numbers in the cluster).
///
/// Service tasks see the configuration with macros expanded from their node, machine tasks as it was written, because
/// the machines it speaks of are only being made.
///
/// # Errors
/// When the task is unknown, or its configuration cannot be expanded yet.
pub fn order(cluster: &Cluster, task: u32, attempt: u32) -> Result<TaskOrder, OrderError> {
    let unknown = OrderError::UnknownTask(task);
    let job = cluster.latest_job().ok_or(unknown.clone())?;
    let found = job.tasks.get(&task).ok_or(unknown.clone())?;
    let node = cluster.nodes.get(&found.node).ok_or(unknown.clone())?;
    let mut config = TaskConfig {
        cluster: cluster.config.clone(),
        service: None,
        node: node.properties.clone(),
        provider: Provider { ..cluster.provider.clone() },
        nodes: cluster.nodes.iter().map(|(id, n)| (id.clone(), n.properties.clone())).collect(),
        results: node.results.clone(),
    };
    if let Some(service) = &found.service {
        let action = found
            .name
            .service_action()
            .and_then(|action| cluster.definitions.get(service)?.provisioner.actions.get(&action))
            .ok_or(unknown)?;
        let view = view(cluster);
        config.cluster = macros::expand_map(&cluster.config, &view, Some(&node.id))?;
        let fields = expand_fields(action, &view, node)?;
        let action = ActionSpec { automator: action.automator.clone(), fields };
        config.service = Some(ServiceOrder { name: service.clone(), action });
    }
    Ok(TaskOrder {
        task_id: found.id,
        job_id: job.id,
        cluster_id: cluster.id,
        task_name: found.name,
        node_id: node.id.clone(),
        attempt,
        config,
    })
}

fn expand_fields(
    action: &ActionSpec,
    view: &ClusterView<'_>,
    node: &Node,
) -> Result<BTreeMap<String, String>, MacroError> {
    let expand =
        |(key, text): (&String, &String)| Ok((key.clone(), macros::expand(text, view, Some(&node.id))?));
    action.fields.iter().map(expand).collect()
}

/// The cluster as macros see it.
#[must_use]
pub fn view(cluster: &Cluster) -> ClusterView<'_> {
    let nodes: Vec<(&NodeId, &NodeProperties)> =
        cluster.nodes.iter().map(|(id, n)| (id, &n.properties)).collect();
    ClusterView::new(&cluster.account.user_id, nodes)
}
