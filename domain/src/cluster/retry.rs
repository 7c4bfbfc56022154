//! Retrying a create that stopped half-way: what is done stays done, the rest is planned again.

use super::decide::wrong_state;
use super::event::Event;
use super::planning::{self, NextNumbers};
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use crate::plan::ClusterAction;

/// Only an incomplete cluster whose latest job was its create can go on.
pub(super) fn retry(cluster: &Cluster, by: String, now: i64) -> Result<Vec<Event>, Refusal> {
    let created = cluster.latest_job().is_some_and(|job| job.action == ClusterAction::ClusterCreate);
    if cluster.status != ClusterStatus::Incomplete || !created {
        let remedy = match cluster.status {
            ClusterStatus::Pending => "wait until its job has ended",
            ClusterStatus::Incomplete => "its delete stopped half-way, so delete it again",
            _ => "only a create that failed can be taken up again",
        };
        return Err(wrong_state(cluster, "retried", remedy));
    }
    let graph = planning::graph_to_wanted(cluster)?;
    Ok(planning::job(NextNumbers::of(cluster), ClusterAction::ClusterCreate, by, &graph, now))
}
