//! Changes that go through the nodes one batch after the other.
//!
//! A rollout is part of the graph: the first tasks of a batch wait for the last ones of the batch before, and for a pause.
//! A service that can be probed must be found well at the end of its turn, and again after a while, before the batch
//! counts as done. So at any moment the graph says what may be under way at the worst, a preview shows it, and a task that
//! waits for its batch waits for tasks that can be named.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::event::PlannedStep;
use super::planning;
use super::refusal::Refusal;
use super::state::Cluster;
use crate::id::NodeId;
use crate::invalid::Invalid;
use crate::plan::{Steps, UnitId, Wanted};
use crate::task::TaskName;

/// How a change goes through the nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Rollout {
    /// So many nodes go first, alone.
    pub canary: u32,
    /// At most so many nodes at a time after that; 0: all.
    pub max_in_flight: u32,
    /// Pause between two batches, in ms.
    pub pause: i64,
    /// How long a service must stay well before its batch counts as done, in ms.
    pub hold: i64,
    /// What becomes of it when a task fails for good.
    pub on_failure: OnFailure,
}

/// What becomes of a rollout when a task fails for good.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// It ends there; a retry goes on.
    #[default]
    Stop,
    /// It pauses; when it is resumed the task is tried again.
    Pause,
    /// What was wanted before is wanted again.
    RollBack,
}

impl Rollout {
    /// That its times are times.
    ///
    /// # Errors
    /// The first field at fault.
    pub fn check(&self) -> Result<(), Invalid> {
        for (field, ms) in [("rollout.pause", self.pause), ("rollout.hold", self.hold)] {
            if !(0..=86_400_000).contains(&ms) {
                let fault = "is not between no time and a day";
                return Err(Invalid::new(field, ms, fault, "give milliseconds, at most 86400000"));
            }
        }
        Ok(())
    }

    /// The nodes in batches.
    fn batches<T>(&self, mut nodes: Vec<T>) -> Vec<Vec<T>> {
        let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let rest = nodes.split_off(size(self.canary).min(nodes.len()));
        let mut batches = if nodes.is_empty() { Vec::new() } else { vec![nodes] };
        let most = if self.max_in_flight == 0 { usize::MAX } else { size(self.max_in_flight) };
        let mut rest = rest.into_iter().peekable();
        while rest.peek().is_some() {
            batches.push(rest.by_ref().take(most).collect());
        }
        batches
    }
}

/// The tasks that bring a cluster to what is wanted, node by node as `rollout` says, numbered from `first` on. Only the
/// order on each node counts: what is on other nodes goes on running.
pub(super) fn steps(cluster: &Cluster, rollout: &Rollout, first: u32) -> Result<Vec<PlannedStep>, Refusal> {
    let all = planning::converge(cluster)?;
    let mut by_node: BTreeMap<NodeId, Steps> = BTreeMap::new();
    for (unit, steps) in all {
        by_node.entry(unit.node.clone()).or_default().insert(unit, steps);
    }
    let nodes: Vec<NodeId> = cluster
        .nodes_by_number()
        .into_iter()
        .map(|node| node.id.clone())
        .filter(|id| by_node.contains_key(id))
        .collect();
    let mut planned: Vec<PlannedStep> = Vec::new();
    let mut before: BTreeSet<u32> = BTreeSet::new();
    for (number, batch) in rollout.batches(nodes).into_iter().enumerate() {
        let start = planned.len();
        for node in &batch {
            let next = first + u32::try_from(planned.len()).unwrap_or(u32::MAX);
            let graph = planning::graph_of_node(cluster, node, &by_node[node])?;
            let mut own = planning::steps(&graph, next);
            own.extend(probes(cluster, rollout, &own, next));
            planned.extend(own);
        }
        let awaited: BTreeSet<u32> = planned[start..].iter().flat_map(|step| step.after.clone()).collect();
        for step in planned[start..].iter_mut().filter(|step| step.after.is_empty()) {
            step.after.extend(before.iter().copied());
            step.delay = if number == 0 { 0 } else { rollout.pause };
        }
        let last = planned[start..].iter().map(|step| step.number);
        before = last.filter(|number| !awaited.contains(number)).collect();
    }
    Ok(planned)
}

/// Probes of the services that `own` steps of one node bring up: one at the end of each, and one when it has held.
fn probes(cluster: &Cluster, rollout: &Rollout, own: &[PlannedStep], first: u32) -> Vec<PlannedStep> {
    let mut next = first + u32::try_from(own.len()).unwrap_or(u32::MAX);
    let last: BTreeMap<&String, &PlannedStep> =
        own.iter().filter_map(|step| Some((step.service.as_ref()?, step))).collect();
    let mut probes = Vec::new();
    for (service, step) in last {
        let unit = cluster.units.get(&UnitId::service(step.node.clone(), service));
        if !cluster.defines(service, TaskName::Probe)
            || unit.is_none_or(|unit| unit.wanted != Wanted::Running)
        {
            continue;
        }
        let probe = |number, after, delay| PlannedStep {
            number,
            name: TaskName::Probe,
            node: step.node.clone(),
            service: Some(service.clone()),
            after: vec![after],
            delay,
            errand: None,
        };
        probes.push(probe(next, step.number, 0));
        next += 1;
        if rollout.hold > 0 {
            probes.push(probe(next, next - 1, rollout.hold));
            next += 1;
        }
    }
    probes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canary_goes_first_and_the_rest_in_batches() {
        let batches = |canary, max_in_flight| {
            let rollout = Rollout { canary, max_in_flight, ..Rollout::default() };
            rollout.batches((1..=5).collect::<Vec<_>>())
        };
        assert_eq!(batches(1, 2), [vec![1], vec![2, 3], vec![4, 5]]);
        assert_eq!(batches(0, 0), [vec![1, 2, 3, 4, 5]]);
        assert_eq!(batches(9, 1), [vec![1, 2, 3, 4, 5]]);
        assert_eq!(batches(2, 0), [vec![1, 2], vec![3, 4, 5]]);
    }
}
