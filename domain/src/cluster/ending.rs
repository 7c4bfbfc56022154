//! How jobs end, and what the cluster is afterwards.

use super::event::{Event, FailedNext};
use super::job::{Job, Task};
use super::state::{Cluster, ClusterStatus};
use crate::mutant;
use crate::plan::ClusterAction;
use crate::task::TaskName;

/// What a user is told when no provider made anything.
const NOTHING_MADE: &str = "Unable to create nodes, please check your provider settings";

/// The end of the latest job, if what `happened` to `task` (not applied yet) ends it: its last task is done, or it has
/// failed and nothing of it runs any more.
pub(super) fn ending_after(
    cluster: &Cluster,
    job: &Job,
    task: &Task,
    happened: &Event,
    now: i64,
) -> Option<Event> {
    let succeeded = matches!(happened, Event::TaskSucceeded { .. } | Event::UnitProbed { .. });
    if succeeded && job.is_open() {
        return (job.done as usize + 1 == job.tasks.len()).then(|| success(job.id.number, job.action, now));
    }
    let given_up = matches!(happened, Event::TaskFailed { next: FailedNext::GiveUp, .. });
    let failing = given_up || !job.is_open();
    let mut others_run = job.running.iter().any(|number| *number != task.id.number);
    others_run |= mutant::is("fails-and-never-ends");
    others_run &= !mutant::is("ends-while-others-run");
    if !failing || others_run {
        return None;
    }
    let refused = is_refused_create(cluster, task, happened).then_some(task);
    if succeeded || !nothing_made(cluster, job, refused) {
        return Some(ended(job, status_of_failure(job.action), None, now));
    }
    // A job that has failed before says why already.
    let message = job.is_open().then(|| NOTHING_MADE.to_owned());
    Some(ended(job, ClusterStatus::Terminated, message, now))
}

/// The end of a job all of whose tasks are done.
pub(super) const fn success(job: u32, action: ClusterAction, now: i64) -> Event {
    let status = match action {
        ClusterAction::ClusterDelete => ClusterStatus::Terminated,
        _ => ClusterStatus::Active,
    };
    Event::JobEnded { at: now, job, status, message: None }
}

/// The end of a job that is aborted while nothing of it runs.
pub(super) fn aborted(cluster: &Cluster, job: &Job, now: i64) -> Event {
    let status = if nothing_made(cluster, job, None) {
        ClusterStatus::Terminated
    } else {
        status_of_failure(job.action)
    };
    ended(job, status, None, now)
}

const fn ended(job: &Job, status: ClusterStatus, message: Option<String>, now: i64) -> Event {
    Event::JobEnded { at: now, job: job.id.number, status, message }
}

/// Whether a create leaves nothing behind: none of its tasks is done, and no node can have a machine, be it from an
/// earlier job. `refused` is the task that has just been told that nothing was made.
fn nothing_made(cluster: &Cluster, job: &Job, refused: Option<&Task>) -> bool {
    let mut may_exist = cluster.nodes.values().filter(|node| node.may_have_machine());
    job.action == ClusterAction::ClusterCreate
        && job.done == 0
        && may_exist.all(|node| {
            refused.is_some_and(|task| task.node == node.id) || mutant::is("aborts-without-machines")
        })
}

/// Whether the provider says that nothing was made, and nobody asked for the machine before.
fn is_refused_create(cluster: &Cluster, task: &Task, happened: &Event) -> bool {
    let Event::TaskFailed { outcome, .. } = happened else { return false };
    let node = cluster.nodes.get(&task.node);
    let only_request = node.is_some_and(|node| node.asked.is_some() && node.asked == task.open_id());
    task.name == TaskName::Create && outcome.says_nothing_was_made() && only_request
}

const fn status_of_failure(action: ClusterAction) -> ClusterStatus {
    match action {
        ClusterAction::SolveLayout => ClusterStatus::Terminated,
        ClusterAction::ClusterCreate | ClusterAction::ClusterDelete => ClusterStatus::Incomplete,
        // They were asked of an active cluster, and change nothing of it.
        ClusterAction::ClusterProbe | ClusterAction::RunErrand => ClusterStatus::Active,
        _ => ClusterStatus::Inconsistent,
    }
}
