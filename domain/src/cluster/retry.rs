//! Retrying a create that stopped half-way: what is done stays done, the rest is planned again.

use super::decide::{new_job, wrong_state};
use super::event::Event;
use super::planning;
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use crate::plan::ClusterAction;

/// Only an incomplete cluster whose latest job was its create can go on.
pub(super) fn retry(cluster: &Cluster, by: String, now: i64) -> Result<Vec<Event>, Refusal> {
    let created = cluster.latest_job().is_some_and(|job| job.action == ClusterAction::ClusterCreate);
    if cluster.status != ClusterStatus::Incomplete || !created {
        return Err(wrong_state(cluster, "retried", "only a create that failed can be taken up again"));
    }
    let graph = planning::graph_to_wanted(cluster)?;
    Ok(new_job(cluster, ClusterAction::ClusterCreate, by, &graph, now))
}
