//! Retrying a job that stopped half-way: what is done stays done, the rest is planned again.

use super::decide::wrong_state;
use super::event::Event;
use super::planning::{self, NextNumbers};
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use crate::plan::ClusterAction;

/// An incomplete cluster whose latest job was its create can go on, and so can an inconsistent one with whatever made it
/// so. A delete is asked for again instead.
pub(super) fn retry(cluster: &Cluster, by: String, now: i64) -> Result<Vec<Event>, Refusal> {
    let stopped = matches!(cluster.status, ClusterStatus::Incomplete | ClusterStatus::Inconsistent);
    let action = cluster.latest_job().map(|job| job.action).filter(|_| stopped);
    let Some(action) = action.filter(|action| *action != ClusterAction::ClusterDelete) else {
        return Err(wrong_state(cluster, "retried"));
    };
    let graph = planning::graph_to_wanted(cluster)?;
    Ok(planning::job(NextNumbers::of(cluster), action, by, &graph, now))
}
