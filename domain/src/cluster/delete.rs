//! Deleting a cluster: every machine that may exist is given back.

use super::decide::wrong_state;
use super::event::Event;
use super::planning::{self, NextNumbers};
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use crate::plan::ClusterAction;

/// A terminated cluster needs nothing; a pending one must end its job first.
pub(super) fn delete(cluster: &Cluster, by: String, now: i64) -> Result<Vec<Event>, Refusal> {
    match cluster.status {
        ClusterStatus::Terminated => Ok(Vec::new()),
        ClusterStatus::Pending => Err(wrong_state(cluster, "deleted")),
        ClusterStatus::Active | ClusterStatus::Incomplete | ClusterStatus::Inconsistent => {
            let graph = planning::graph_to_nothing(cluster)?;
            Ok(planning::job(NextNumbers::of(cluster), ClusterAction::ClusterDelete, by, &graph, now))
        }
    }
}
