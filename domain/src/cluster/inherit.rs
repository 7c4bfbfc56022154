//! What an ancestor publishes has changed: those services that take a value of it which changed are brought up again.

use std::collections::{BTreeMap, BTreeSet};

use super::ancestry::Published;
use super::event::Event;
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use super::wanted_change::WantedChange;
use super::{inputs, planning};
use crate::id::ClusterId;
use crate::invalid::Invalid;
use crate::mutant;
use crate::plan::{ClusterAction, UnitId};
use crate::task::TaskName;

/// The same once more changes nothing. A cluster that is not at rest, or in maintenance, keeps it for the end of that.
pub(super) fn inherit(
    cluster: &Cluster,
    from: ClusterId,
    lineage: Vec<Published>,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    let Some(known) = cluster.kin.origins.iter().find(|known| known.from == from) else {
        let fault = format!("is no cluster that cluster {} was built upon", cluster.id);
        let remedy = "tell it of its parent or its foundation";
        return Err(Invalid::new("from", from, fault, remedy).into());
    };
    if known.lineage == lineage
        || mutant::is("inherits-nothing")
        || cluster.status == ClusterStatus::Terminated
    {
        return Ok(Vec::new());
    }
    let mut events = vec![Event::Inherited { at: now, from, lineage }];
    if cluster.status == ClusterStatus::Active && cluster.care.maintenance.is_none() {
        let next = planning::after(cluster, &events);
        let mut renew = inputs::stale_since(cluster, &next);
        // What was out of date before is for somebody else to look at.
        let before = inputs::stale(cluster);
        renew.retain(|unit, _| !before.contains_key(unit));
        events.extend(bring_up(&next, renew, now));
    }
    Ok(events)
}

/// Looks at what was kept while a job ran, or during maintenance.
pub(super) fn catch_up(cluster: &Cluster, now: i64) -> Vec<Event> {
    bring_up(cluster, inputs::stale(cluster), now)
}

/// The job that brings units up again; none where nothing is to be done. What cannot be planned is left to people.
fn bring_up(cluster: &Cluster, renew: BTreeMap<UnitId, BTreeSet<TaskName>>, now: i64) -> Vec<Event> {
    if renew.is_empty() {
        return Vec::new();
    }
    let change = WantedChange { renew, ..WantedChange::default() };
    let by = cluster.account.user_id.clone();
    planning::change(cluster, change, ClusterAction::ClusterInherit, None, &by, now).unwrap_or_default()
}
