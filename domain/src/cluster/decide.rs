//! The decider: what should happen, or why not.

use super::command::Command;
use super::event::Event;
use super::job::JobStatus;
use super::refusal::Refusal;
use super::replace::Replacement;
use super::state::{Cluster, ClusterStatus};
use super::upgrade::Newer;
use super::{
    abort, add_services, adopt, attempt, cancel, care, configure, converge, delete, errand, follow_up,
    give_fields, inherit, pause, prolong, reconfigure, remove_services, replace, resize, retry, roll_back,
    services, sync_template, upgrade, warn_of_expiry,
};
use crate::plan::ClusterAction;

/// What should happen to `cluster` because of `command`, at `now` (ms since 1970). An empty list: nothing needs to.
///
/// # Errors
/// When the command cannot be carried out; nothing has changed.
pub fn decide(cluster: &Cluster, command: Command, now: i64) -> Result<Vec<Event>, Refusal> {
    let is_asked = adopt::is_asked(&command);
    let events = decided(cluster, command, now)?;
    if is_asked {
        adopt::keep_for_children(cluster, &events)?;
    }
    Ok(follow_up::complete(cluster, events, now))
}

fn decided(cluster: &Cluster, command: Command, now: i64) -> Result<Vec<Event>, Refusal> {
    match command {
        Command::Delete { now: at_once, by } => delete::delete(cluster, at_once, by, now),
        Command::Cancel { undo, by } => cancel::cancel(cluster, undo, by, now),
        Command::Resize { resize, by } => resize::resize(cluster, &resize, &by, now),
        Command::RemoveServices { services, by } => remove_services::remove(cluster, &services, &by, now),
        Command::Replace { nodes, lost, rollout, by } => {
            replace::replace(cluster, Replacement { nodes, lost, rollout }, &by, now)
        }
        Command::Reconfigure { config, nodes, rollout, by } => {
            reconfigure::reconfigure(cluster, config, &nodes, rollout, &by, now)
        }
        Command::Upgrade { template, definitions, rollout, by } => {
            upgrade::upgrade(cluster, Newer { template, definitions }, rollout, &by, now)
        }
        Command::RollBack { to, rollout, by } => roll_back::roll_back(cluster, &to, rollout, &by, now),
        Command::Converge { mend, by } => converge::converge(cluster, mend, by, now),
        Command::RunErrand { service, errand, nodes, by } => {
            errand::run(cluster, (&service, &errand), &nodes, by, now)
        }
        Command::Retry { by } => retry::retry(cluster, by, now),
        Command::Abort { by } => abort::abort(cluster, by, now),
        Command::ChangeServices { change, service, by } => {
            services::change(cluster, change, service.as_deref(), by, now)
        }
        Command::Configure { config, restart, by } => configure::configure(cluster, config, restart, by, now),
        Command::AddServices { services, known, by } => {
            add_services::add(cluster, &services, &known, by, now)
        }
        Command::Pause { by } => Ok(pause::pause(cluster, by, now)),
        Command::Resume { by } => Ok(pause::resume(cluster, by, now)),
        Command::Prolong { expires, by } => prolong::prolong(cluster, expires, by, now),
        Command::WarnOfExpiry => Ok(warn_of_expiry::warn(cluster, now)),
        Command::SyncTemplate { template, by } => sync_template::sync(cluster, *template, by, now),
        Command::GiveFields { fields, command, by } => give_fields::give(cluster, fields, *command, by, now),
        Command::Care { changes, by } => care::change(cluster, changes, &by, now),
        Command::Adopt { child, name, needs } => adopt::adopt(cluster, child, name, needs, now),
        Command::Release { child } => Ok(adopt::release(cluster, child, now)),
        Command::Inherit { from, lineage } => inherit::inherit(cluster, from, lineage, now),
        Command::StartAttempt { task, worker } => attempt::start(cluster, task, worker, now),
        Command::FinishAttempt { task, attempt, report } => {
            attempt::finish(cluster, task, attempt, report, now)
        }
        Command::TimeOutAttempt { task, attempt } => attempt::time_out(cluster, task, attempt, now),
        Command::TimeOutQueue { task, why } => attempt::time_out_queue(cluster, task, &why, now),
    }
}

/// A refusal because of what the cluster is; `asked` is a participle ("deleted").
pub(super) fn wrong_state(cluster: &Cluster, asked: &'static str) -> Refusal {
    let (cluster, status, remedy) = (cluster.id.to_string(), cluster.status, way_on(cluster));
    Refusal::WrongState { cluster, status, asked, remedy }
}

/// What can be done with a cluster that cannot do what is asked now.
pub(super) fn way_on(cluster: &Cluster) -> &'static str {
    let job = cluster.latest_job();
    let is_create = job.is_some_and(|job| job.action == ClusterAction::ClusterCreate);
    match (cluster.status, job.map(|job| job.status)) {
        (ClusterStatus::Pending, Some(JobStatus::Paused)) => "resume its job first, and wait for its end",
        (ClusterStatus::Pending, Some(JobStatus::Running)) if is_create => {
            "wait until its job has ended, or abort the job first"
        }
        (ClusterStatus::Pending, _) => "wait until its job has ended",
        (ClusterStatus::Active, _) => "none of its jobs has stopped half-way",
        (ClusterStatus::Incomplete, _) if is_create => "retry its create first, or delete it",
        (ClusterStatus::Incomplete, _) => "its delete stopped half-way, so delete it again",
        (ClusterStatus::Inconsistent, _) => "retry its last job or configure it first, or delete it",
        (ClusterStatus::Terminated, _) => "it is gone; create another one",
    }
}
