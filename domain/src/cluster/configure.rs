//! Giving a cluster another configuration, and writing it on its nodes.

use serde_json::{Map, Value};

use super::decide::wrong_state;
use super::event::Event;
use super::planning::{self, NextNumbers};
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use crate::plan::ClusterAction;

/// The configuration is replaced as a whole at once, whatever becomes of the job.
pub(super) fn configure(
    cluster: &Cluster,
    config: Map<String, Value>,
    restart: bool,
    by: String,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    if !matches!(cluster.status, ClusterStatus::Active | ClusterStatus::Inconsistent) {
        return Err(wrong_state(cluster, "configured", "only an active or inconsistent cluster can be"));
    }
    let action =
        if restart { ClusterAction::ClusterConfigureWithRestart } else { ClusterAction::ClusterConfigure };
    let (_, graph) = planning::coopr_graph(cluster, action, None, None)?;
    let replaced = Event::ConfigReplaced { at: now, config, by: by.clone() };
    let job = planning::job(NextNumbers::of(cluster), action, by, &graph, now);
    Ok([replaced].into_iter().chain(job).collect())
}
