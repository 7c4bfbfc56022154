//! What of a cluster is probed, and what a probe is given.

use super::order::{OrderError, config};
use super::state::Cluster;
use crate::entity::{ActionSpec, Service, ServiceAction};
use crate::id::{NodeId, TaskId};
use crate::plan::{Observed, Unit, UnitId, Wanted};
use crate::task::{TaskName, TaskOrder};

/// Number of a task that no job has: probes are none of a cluster's tasks.
const NO_TASK: u32 = 0;

/// The machines that are there, and the services that run and say how they are probed. Nothing of nodes in maintenance.
#[must_use]
pub fn to_probe(cluster: &Cluster) -> Vec<UnitId> {
    let is_probed = |id: &UnitId, unit: &Unit| match &id.service {
        None => unit.wanted != Wanted::Absent && unit.observed >= Observed::Confirmed,
        Some(name) => {
            let service = cluster.definitions.get(name);
            let runs = unit.wanted == Wanted::Running && unit.observed == Observed::Started;
            runs && service.and_then(probe_action).is_some()
        }
    };
    let units = cluster.units.iter().filter(|(id, _)| cluster.in_maintenance(&id.node).is_none());
    units.filter(|(id, unit)| is_probed(id, unit)).map(|(id, _)| id.clone()).collect()
}

/// What a plugin is given to probe a machine or a service of a cluster.
///
/// # Errors
/// When there is no such unit, or its configuration cannot be expanded.
pub fn probe_order(cluster: &Cluster, unit: &UnitId) -> Result<TaskOrder, OrderError> {
    let unknown = OrderError::UnknownTask(NO_TASK);
    let job = cluster.latest_job().ok_or(unknown.clone())?;
    let node = cluster.nodes.get(&unit.node).ok_or(unknown.clone())?;
    let action = match &unit.service {
        None => None,
        Some(name) => {
            let definition = cluster.definitions.get(name).ok_or(unknown.clone())?;
            Some((definition, probe_action(definition).ok_or(unknown)?))
        }
    };
    Ok(TaskOrder {
        task_id: TaskId { job: job.id, number: NO_TASK },
        job_id: job.id,
        cluster_id: cluster.id,
        task_name: TaskName::Probe,
        node_id: node.id.clone(),
        attempt: 1,
        config: config(cluster, node, action)?,
    })
}

/// The worker that made the machine of a node: the last that carried out its CREATE.
#[must_use]
pub fn made_by<'a>(cluster: &'a Cluster, node: &NodeId) -> Option<&'a str> {
    let creates =
        cluster.jobs.values().flat_map(|job| job.tasks_of(node)).filter(|it| it.name == TaskName::Create);
    let attempts = creates.flat_map(|task| &task.attempts);
    attempts.max_by_key(|attempt| attempt.sequence).map(|attempt| attempt.worker.as_str())
}

fn probe_action(service: &Service) -> Option<&ActionSpec> {
    service.provisioner.actions.get(&ServiceAction::Probe)
}
