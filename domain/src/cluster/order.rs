//! What a worker is given with a task, put together from all that is known when it is handed out.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::inputs;
use super::state::{Cluster, Node};
use super::values::effective;
use crate::entity::{ActionSpec, Service};
use crate::macros::{self, ClusterView, MacroError};
use crate::neighbours::Neighbours;
use crate::task::{ServiceOrder, TaskConfig, TaskOrder};

/// What a worker is given besides results: a result of the same name would hide it.
const TAKEN: [&str; 14] = [
    "automators",
    "cluster",
    "flavor",
    "hardwaretype",
    "hostname",
    "image",
    "imagetype",
    "ipaddresses",
    "nodenum",
    "nodes",
    "provider",
    "service",
    "services",
    "sshuser",
];

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
/// Service tasks see the configuration and the fields of their action with macros expanded from their node, machine
/// tasks the configuration as it was written, because the machines it speaks of are only being made. A field that holds
/// no macros but percent signs is passed on as it is.
///
/// What earlier tasks of the node reported lies flat beside the rest and hides nothing of it.
///
/// # Errors
/// When the task is unknown, or its configuration cannot be expanded yet.
pub fn order(cluster: &Cluster, task: u32, attempt: u32) -> Result<TaskOrder, OrderError> {
    let unknown = OrderError::UnknownTask(task);
    let job = cluster.latest_job().ok_or(unknown.clone())?;
    let found = job.tasks.get(&task).ok_or(unknown.clone())?;
    let node = cluster.nodes.get(&found.node).ok_or(unknown.clone())?;
    let action = match &found.service {
        None => None,
        Some(service) => {
            let definition = cluster.definitions.get(service).ok_or(unknown.clone())?;
            let spec = match &found.errand {
                Some(errand) => definition.errands.get(errand).map(|errand| &errand.action),
                None => found.name.service_action().and_then(|it| definition.provisioner.actions.get(&it)),
            };
            Some((definition, spec.ok_or(unknown)?))
        }
    };
    Ok(TaskOrder {
        task_id: found.id,
        job_id: job.id,
        cluster_id: cluster.id,
        task_name: found.name,
        node_id: node.id.clone(),
        attempt,
        config: config(cluster, node, action)?,
    })
}

/// All that is known for a task on a node, and the action of the service that it is about.
pub(super) fn config(
    cluster: &Cluster,
    node: &Node,
    service: Option<(&Service, &ActionSpec)>,
) -> Result<TaskConfig, MacroError> {
    let mut config = TaskConfig {
        cluster: effective(cluster, Some(node), service.map(|(definition, _)| definition)).into_owned(),
        service: None,
        node: node.properties.clone(),
        provider: cluster.provider.clone(),
        nodes: neighbours(cluster, node),
        results: results(node),
    };
    if let Some((definition, action)) = service {
        let view = view(cluster);
        config.cluster = macros::expand_map(&config.cluster, &view, Some(&node.id))?;
        let action = expand_fields(action, &view, node)?;
        let inputs = inputs::values(cluster, &view, definition, &node.id).unwrap_or_default();
        config.service = Some(ServiceOrder { name: definition.name().to_owned(), action, inputs });
    }
    Ok(config)
}

/// The nodes that a task hears of: those that stay, and its own. Put together anew only when something about them changed.
fn neighbours(cluster: &Cluster, own: &Node) -> Neighbours {
    let staying = cluster.told.0.get_or_init(|| staying(cluster));
    debug_assert_eq!(*staying, self::staying(cluster), "a change of the nodes was not noticed");
    if staying.contains_key(&own.id) { staying.clone() } else { staying.with(&own.id, &own.properties) }
}

fn staying(cluster: &Cluster) -> Neighbours {
    let leaving = cluster.leaving();
    let told = cluster.nodes.values().filter(|node| !leaving.contains(&node.id));
    Neighbours::new(told.map(|node| (node.id.clone(), node.properties.clone())).collect())
}

/// What orders say of all nodes that stay, once an order was put together. It is no part of the state: never stored, and
/// equal to any other.
#[derive(Debug, Clone, Default)]
pub struct Told(OnceLock<Neighbours>);

impl Told {
    /// Something about the nodes may have changed.
    pub(super) fn forget(&mut self) {
        self.0.take();
    }
}

impl PartialEq for Told {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

fn results(node: &Node) -> Map<String, Value> {
    let free = node.results.iter().filter(|(key, _)| !TAKEN.contains(&key.as_str()));
    free.map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn expand_fields(action: &ActionSpec, view: &ClusterView<'_>, node: &Node) -> Result<ActionSpec, MacroError> {
    let expand = |(key, text): (&String, &String)| {
        let value = match macros::expand(text, view, Some(&node.id)) {
            // Fields are commands as often as values: `date +%H%M` is meant as it stands.
            Err(MacroError::Syntax { .. }) => text.clone(),
            expanded => expanded?,
        };
        Ok((key.clone(), value))
    };
    let fields = action.fields.iter().map(expand).collect::<Result<_, MacroError>>()?;
    Ok(ActionSpec { automator: action.automator.clone(), fields, timeout: action.timeout })
}

/// The cluster as macros see it.
#[must_use]
pub fn view(cluster: &Cluster) -> ClusterView<'_> {
    let nodes = cluster.nodes.iter().map(|(id, node)| (id, &node.properties));
    let own = ClusterView::new(&cluster.account.user_id, nodes).without(|| cluster.leaving());
    let ancestors = cluster.kin.origins.ancestors().map(|published| &published.nodes);
    own.answered_by(|service| cluster.services.contains(service), ancestors)
}
