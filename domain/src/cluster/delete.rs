//! Deleting a cluster: every machine that may exist is given back.

use super::cancel;
use super::decide::wrong_state;
use super::event::Event;
use super::follow_up::FollowUp;
use super::job::{Job, JobStatus};
use super::planning::{self, NextNumbers};
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use crate::plan::ClusterAction;

/// A terminated cluster needs nothing; a pending one must end its job first, or has it stopped if it is to go `at_once`.
pub(super) fn delete(cluster: &Cluster, at_once: bool, by: String, now: i64) -> Result<Vec<Event>, Refusal> {
    match cluster.status {
        ClusterStatus::Terminated => Ok(Vec::new()),
        ClusterStatus::Pending if at_once && !is_being_deleted(cluster) => {
            let then = Some(FollowUp::Delete { by: by.clone() });
            Ok(cancel::stop(cluster, "Stopped to delete the cluster.", by, then, now))
        }
        ClusterStatus::Pending if at_once => Ok(Vec::new()),
        ClusterStatus::Pending => Err(wrong_state(cluster, "deleted")),
        ClusterStatus::Active | ClusterStatus::Incomplete | ClusterStatus::Inconsistent => {
            let graph = planning::graph_to_nothing(cluster)?;
            Ok(planning::job(NextNumbers::of(cluster), ClusterAction::ClusterDelete, by, &graph, now))
        }
    }
}

/// Whether a delete is under way that nobody has paused or stopped.
fn is_being_deleted(cluster: &Cluster) -> bool {
    let runs = |job: &Job| job.action == ClusterAction::ClusterDelete && job.status == JobStatus::Running;
    cluster.latest_job().is_some_and(runs)
}
