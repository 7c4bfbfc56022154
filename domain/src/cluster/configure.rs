//! Giving a cluster another configuration, and writing it on its nodes.

use serde_json::{Map, Value};

use super::decide::wrong_state;
use super::event::Event;
use super::planning::{self, NextNumbers};
use super::refusal::Refusal;
use super::request::check_macros;
use super::state::{Cluster, ClusterStatus};
use crate::plan::ClusterAction;

/// The configuration is replaced as a whole at once, whatever becomes of the job. What an earlier job left undone is done
/// as well, so that an inconsistent cluster is active in the end.
pub(super) fn configure(
    cluster: &Cluster,
    config: Map<String, Value>,
    restart: bool,
    by: String,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    check_macros(&config)?;
    if !matches!(cluster.status, ClusterStatus::Active | ClusterStatus::Inconsistent) {
        return Err(wrong_state(cluster, "configured"));
    }
    let action =
        if restart { ClusterAction::ClusterConfigureWithRestart } else { ClusterAction::ClusterConfigure };
    let mut events = vec![Event::ConfigReplaced { at: now, config, restart, by: by.clone() }];
    let graph = planning::graph_to_wanted(&planning::after(cluster, &events))?;
    events.extend(planning::job(NextNumbers::of(cluster), action, by, &graph, now));
    Ok(events)
}
