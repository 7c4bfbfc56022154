//! Clusters on top of a cluster: they are known to it before they come into being, and keep it and what they need of it
//! until they are gone.

use std::collections::{BTreeMap, BTreeSet};

use super::ancestry::Child;
use super::command::Command;
use super::delete;
use super::event::Event;
use super::follow_up::FollowUp;
use super::planning;
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use crate::id::ClusterId;
use crate::invalid::Invalid;
use crate::mutant;
use crate::plan::ClusterAction;

/// A cluster is to be built upon this one, or needs something else of it than before.
pub(super) fn adopt(
    cluster: &Cluster,
    child: ClusterId,
    name: String,
    needs: BTreeSet<String>,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    match cluster.kin.children.get(&child) {
        Some(known) if known.name == name && known.needs == needs => return Ok(Vec::new()),
        Some(_) => {}
        None => check_usable(cluster, &needs)?,
    }
    Ok(vec![Event::ChildAdopted { at: now, child, name, needs }])
}

/// Only what is usable, or soon will be, is built upon.
fn check_usable(cluster: &Cluster, needs: &BTreeSet<String>) -> Result<(), Refusal> {
    let remedy = match cluster.status {
        ClusterStatus::Active | ClusterStatus::Pending if !goes(cluster) => {
            let met = |name: &str| cluster.carries(name) || cluster.kin.origins.satisfying(name).is_some();
            return match needs.iter().find(|name| !met(name)) {
                None => Ok(()),
                Some(missing) => {
                    let fault = format!("has no service that is called or provides {missing} any more");
                    let remedy = "add such a service to it, or name another parent";
                    Err(Invalid::new("parent", cluster.id, fault, remedy).into())
                }
            };
        }
        ClusterStatus::Active | ClusterStatus::Pending => "it is being deleted; name another parent",
        ClusterStatus::Terminated => "it is gone; name another parent",
        ClusterStatus::Incomplete | ClusterStatus::Inconsistent => {
            "retry its last job first, or name another parent"
        }
    };
    let (cluster, status, asked) = (cluster.id.to_string(), cluster.status, "built upon");
    Err(Refusal::WrongState { cluster, status, asked, remedy })
}

/// Whether the cluster is on its way out.
fn goes(cluster: &Cluster) -> bool {
    let creates = cluster.latest_job().is_some_and(|job| job.action == ClusterAction::ClusterCreate);
    let then = match cluster.then {
        Some(FollowUp::Delete { .. }) => true,
        Some(FollowUp::Undo { .. }) => creates,
        None => false,
    };
    then || delete::is_being_deleted(cluster)
        || cluster.status != ClusterStatus::Active && cluster.was_deleted()
}

/// A cluster on top of this one is gone, or did not come into being.
pub(super) fn release(cluster: &Cluster, child: ClusterId, now: i64) -> Vec<Event> {
    let known = cluster.kin.children.contains_key(&child);
    known.then_some(Event::ChildReleased { at: now, child }).into_iter().collect()
}

/// Whether somebody asks for it, so that it can be refused; what tasks report is as it is.
pub(super) const fn is_asked(command: &Command) -> bool {
    !matches!(
        command,
        Command::StartAttempt { .. }
            | Command::FinishAttempt { .. }
            | Command::TimeOutAttempt { .. }
            | Command::TimeOutQueue { .. }
            | Command::Inherit { .. }
    )
}

/// Nothing that was decided on somebody's request takes a cluster away under those on top of it, or what they require.
pub(super) fn keep_for_children(cluster: &Cluster, events: &[Event]) -> Result<(), Refusal> {
    if cluster.kin.children.is_empty() || mutant::is("deletes-under-children") {
        return Ok(());
    }
    let creates = cluster.latest_job().is_some_and(|job| job.action == ClusterAction::ClusterCreate);
    let is_deletion = |event: &Event| match event {
        Event::JobPlanned { action, .. } => *action == ClusterAction::ClusterDelete,
        Event::FollowUpSet { then: FollowUp::Delete { .. }, .. } => true,
        Event::FollowUpSet { then: FollowUp::Undo { .. }, .. } => creates,
        Event::JobEnded { status, .. } => *status == ClusterStatus::Terminated,
        _ => false,
    };
    if events.iter().any(is_deletion) {
        let children = named(&cluster.kin.children);
        return Err(Refusal::HasChildren { cluster: cluster.id.to_string(), children });
    }
    if !events.iter().any(|event| matches!(event, Event::WantedChanged { .. })) {
        return Ok(());
    }
    let next = planning::after(cluster, events);
    let is_lost = |name: &String| {
        cluster.carries(name) && !next.carries(name) && next.kin.origins.satisfying(name).is_none()
    };
    let needed: BTreeSet<&String> = cluster.kin.children.values().flat_map(|child| &child.needs).collect();
    let Some(lost) = needed.into_iter().find(|name| is_lost(name)) else { return Ok(()) };
    let needing = cluster.kin.children.iter().filter(|(_, child)| child.needs.contains(lost));
    let children = needing.map(|(id, child)| (*id, child.name.clone())).collect();
    Err(Refusal::NeededByChildren { cluster: cluster.id.to_string(), service: lost.clone(), children })
}

fn named(children: &BTreeMap<ClusterId, Child>) -> BTreeMap<ClusterId, String> {
    children.iter().map(|(id, child)| (*id, child.name.clone())).collect()
}
