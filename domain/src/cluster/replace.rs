//! Making machines anew, with all that is on them: because somebody wants it, or because they are lost.

use std::collections::{BTreeMap, BTreeSet};

use super::decide::wrong_state;
use super::event::Event;
use super::planning;
use super::refusal::Refusal;
use super::rollout::Rollout;
use super::state::{Cluster, ClusterStatus};
use super::wanted_change::WantedChange;
use crate::id::NodeId;
use crate::plan::{ClusterAction, UnitId};
use crate::task::TaskName;

/// Which machines are made anew, and how.
pub(super) struct Replacement {
    pub nodes: BTreeSet<NodeId>,
    pub lost: bool,
    pub rollout: Option<Rollout>,
}

/// A node keeps its number and name, and gets another machine. What services elsewhere take of it is given to them anew.
pub(super) fn replace(
    cluster: &Cluster,
    replacement: Replacement,
    by: &str,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    let Replacement { nodes, lost, rollout } = replacement;
    // A create that stopped half-way may have lost machines too.
    let incomplete = cluster.status == ClusterStatus::Incomplete && !cluster.was_deleted();
    let may_change = cluster.may_change() || (lost && incomplete);
    if !may_change {
        return Err(wrong_state(cluster, if lost { "healed" } else { "given other machines" }));
    }
    let nodes = cluster.nodes_named(&nodes)?;
    let again = BTreeSet::from([TaskName::Delete]);
    let renew: BTreeMap<_, _> =
        nodes.into_iter().map(|node| (UnitId::machine(node), again.clone())).collect();
    let change = WantedChange { renew, ..WantedChange::default() };
    let action = if lost { ClusterAction::ClusterHeal } else { ClusterAction::ReplaceNodes };
    planning::change(cluster, change, action, rollout, by, now)
}
