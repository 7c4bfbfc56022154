//! Going back to what was wanted once.

use super::decide::wrong_state;
use super::event::Event;
use super::planning;
use super::refusal::Refusal;
use super::revision::Revision;
use super::rollout::Rollout;
use super::state::{Cluster, ClusterStatus};
use crate::plan::ClusterAction;

/// The way from now to then. Machines that went are made anew, empty; what they held is not brought back.
pub(super) fn roll_back(
    cluster: &Cluster,
    to: &Revision,
    rollout: Option<Rollout>,
    by: &str,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    let change = to.change_from(cluster);
    if !cluster.may_change() {
        return Err(wrong_state(cluster, "rolled back"));
    }
    if change.is_empty() && cluster.status == ClusterStatus::Active {
        return Ok(Vec::new());
    }
    planning::change(cluster, change, ClusterAction::ClusterRollBack, rollout, by, now)
}
