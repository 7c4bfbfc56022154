//! What comes when a job has ended: more tasks of the same job because it changed what others take, a delete that waited
//! for it, or the way back from it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::job::{Job, JobStatus};
use super::planning::{self, NextNumbers};
use super::refusal::Refusal;
use super::rollout::OnFailure;
use super::state::{Cluster, ClusterStatus};
use super::wanted_change::WantedChange;
use super::{delete, inherit, inputs, roll_back};
use crate::plan::{ClusterAction, UnitId, Wanted};
use crate::task::TaskName;

/// How often a job may get more tasks: values that services take from each other settle in a few rounds, or never.
const MOST_EXTENSIONS: u32 = 4;

/// What is to be done as soon as a job has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum FollowUp {
    /// The cluster is deleted.
    Delete {
        /// Who asked.
        by: String,
    },
    /// What was wanted before is wanted again.
    Undo {
        /// Who asked.
        by: String,
    },
}

/// `events`, and what follows from the end of a job among them.
pub(super) fn complete(cluster: &Cluster, mut events: Vec<Event>, now: i64) -> Vec<Event> {
    let Some(Event::JobEnded { job: number, status, .. }) = events.last() else { return events };
    let (number, status) = (*number, *status);
    let next = planning::after(cluster, &events);
    let Some(job) = next.jobs.get(&number) else { return events };
    if status == ClusterStatus::Active && job.status == JobStatus::Complete {
        let ended = events.pop();
        let before = planning::after(cluster, &events);
        match extension(&before, number, now) {
            Some(more) => events.extend(more),
            None => {
                events.extend(ended);
                events.extend(learned(cluster, &next, now));
            }
        }
        return events;
    }
    let followed = match follow_up(&next, job) {
        Some(FollowUp::Delete { by }) if status != ClusterStatus::Terminated => {
            delete::delete(&next, false, by, now)
        }
        Some(FollowUp::Undo { by }) => undo(&next, job, by, now),
        _ => Ok(Vec::new()),
    };
    // What cannot be planned is left to people: the job has ended, and says why it failed.
    let followed = followed.unwrap_or_default();
    match followed.is_empty() {
        true => events.extend(learned(cluster, &next, now)),
        false => events.extend(followed),
    }
    events
}

/// What a cluster does at rest about what it has learned of its ancestors meanwhile.
fn learned(before: &Cluster, next: &Cluster, now: i64) -> Vec<Event> {
    match before.kin.news && !next.kin.news && next.status == ClusterStatus::Active {
        true => inherit::catch_up(next, now),
        false => Vec::new(),
    }
}

/// What somebody asked for, or what the job's rollout says of a failure.
fn follow_up(cluster: &Cluster, job: &Job) -> Option<FollowUp> {
    let failing = job.rollout.as_ref().is_some_and(|rollout| rollout.on_failure == OnFailure::RollBack);
    let by_itself = || FollowUp::Undo { by: job.by.clone() };
    cluster.then.clone().or_else(|| (failing && job.status == JobStatus::Failed).then(by_itself))
}

/// What was wanted before is wanted again. There is nothing before a create: what it made is deleted.
fn undo(cluster: &Cluster, job: &Job, by: String, now: i64) -> Result<Vec<Event>, Refusal> {
    if cluster.status == ClusterStatus::Terminated {
        return Ok(Vec::new());
    }
    match (&cluster.previous, job.action) {
        (_, ClusterAction::ClusterCreate) => delete::delete(cluster, false, by, now),
        (Some(previous), action) if changes_what_is_wanted(action) => {
            roll_back::roll_back(cluster, previous, None, &by, now)
        }
        _ => Ok(Vec::new()),
    }
}

/// Whether jobs of this kind begin with a change of what is wanted, so that there is a way back from them.
pub(super) const fn changes_what_is_wanted(action: ClusterAction) -> bool {
    !matches!(
        action,
        ClusterAction::SolveLayout
            | ClusterAction::ClusterCreate
            | ClusterAction::ClusterDelete
            | ClusterAction::ClusterProbe
            | ClusterAction::ClusterConverge
            | ClusterAction::ClusterInherit
            | ClusterAction::RunErrand
    )
}

/// The further tasks of a job all of whose tasks are done, when units are not as wanted all the same: because of what a
/// probe found, or because values that they take have changed.
fn extension(cluster: &Cluster, number: u32, now: i64) -> Option<Vec<Event>> {
    let job = cluster.jobs.get(&number)?;
    if !settles(job.action) || job.extensions >= MOST_EXTENSIONS {
        return None;
    }
    let mut renew = inputs::stale(cluster);
    if job.action == ClusterAction::ClusterConverge {
        renew.extend(ill(cluster));
    }
    let mut events = Vec::new();
    if !renew.is_empty() {
        let change = Box::new(WantedChange { renew, ..WantedChange::default() });
        events.push(Event::WantedChanged { at: now, change, by: job.by.clone() });
    }
    let graph = planning::graph_to_wanted(&planning::after(cluster, &events)).ok()?;
    let tasks = planning::steps(&graph, NextNumbers::of(cluster).task);
    if tasks.is_empty() {
        return None;
    }
    events.push(Event::JobExtended { at: now, job: number, tasks });
    Some(events)
}

/// Services that a probe found ill are configured and restarted.
fn ill(cluster: &Cluster) -> impl Iterator<Item = (UnitId, BTreeSet<TaskName>)> + '_ {
    let found =
        cluster.units.iter().filter(|(_, unit)| unit.drift.is_some() && unit.wanted == Wanted::Running);
    found.map(|(id, _)| (id.clone(), BTreeSet::from([TaskName::Configure, TaskName::Stop, TaskName::Start])))
}

/// Whether jobs of this kind go on until every unit is as wanted. Coopr's do what they were planned to do.
const fn settles(action: ClusterAction) -> bool {
    matches!(
        action,
        ClusterAction::RemoveServices
            | ClusterAction::ClusterGrow
            | ClusterAction::ClusterShrink
            | ClusterAction::ClusterReconfigure
            | ClusterAction::ReplaceNodes
            | ClusterAction::ClusterHeal
            | ClusterAction::ClusterUpgrade
            | ClusterAction::ClusterRollBack
            | ClusterAction::ClusterConverge
            | ClusterAction::ClusterInherit
    )
}
