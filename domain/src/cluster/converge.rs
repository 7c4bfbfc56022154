//! Looking at every service that should run, and bringing those up that are not as wanted.

use super::decide::wrong_state;
use super::event::{Event, PlannedStep};
use super::planning::{self, NextNumbers};
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use crate::plan::{ClusterAction, Observed, Wanted};
use crate::task::TaskName;

/// First every service that can be probed is. When it is to be mended, the job goes on with what the probes showed, with
/// what earlier jobs left undone, and with services that were brought up with other values than they would get now.
pub(super) fn converge(cluster: &Cluster, mend: bool, by: String, now: i64) -> Result<Vec<Event>, Refusal> {
    let may = if mend { cluster.may_change() } else { cluster.status == ClusterStatus::Active };
    if !may {
        return Err(wrong_state(cluster, if mend { "converged" } else { "probed" }));
    }
    let action = if mend { ClusterAction::ClusterConverge } else { ClusterAction::ClusterProbe };
    let next = NextNumbers::of(cluster);
    let events = planning::job_of(next, action, by, probes(cluster, next.task), None, now);
    Ok(events)
}

/// Whether probes of jobs of this kind only find out. Elsewhere a probe that fails is a failure.
pub(super) const fn only_finds_out(action: ClusterAction) -> bool {
    matches!(action, ClusterAction::ClusterProbe | ClusterAction::ClusterConverge)
}

fn probes(cluster: &Cluster, first: u32) -> Vec<PlannedStep> {
    let probed = cluster.units.iter().filter_map(|(id, unit)| {
        let service = id.service.as_ref()?;
        (cluster.defines(service, TaskName::Probe)
            && unit.wanted == Wanted::Running
            && unit.observed == Observed::Started)
            .then_some(id)
    });
    (first..)
        .zip(probed)
        .map(|(number, unit)| PlannedStep {
            number,
            name: TaskName::Probe,
            node: unit.node.clone(),
            service: unit.service.clone(),
            after: Vec::new(),
            delay: 0,
            errand: None,
        })
        .collect()
}
