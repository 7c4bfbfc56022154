//! How jobs end, and what the cluster is afterwards.

use super::event::{Event, FailedNext};
use super::job::{Job, JobStatus, Task};
use super::state::ClusterStatus;
use crate::plan::ClusterAction;

/// Codes by which a provider says that nothing was made.
const NOTHING_MADE: std::ops::RangeInclusive<i64> = 200..=299;

/// The end of `job`, if `events` (about `task`, not yet applied) end it: its last task is done, or it has failed and
/// nothing runs any more.
pub(super) fn ending_after(job: &Job, task: &Task, events: &[Event], now: i64) -> Option<Event> {
    let number = job.id.number;
    let succeeded = matches!(events[0], Event::TaskSucceeded { .. });
    if succeeded && job.is_open() && job.done as usize + 1 == job.tasks.len() {
        return Some(Event::JobEnded {
            at: now,
            job: number,
            status: status_of_success(job.action),
            message: None,
        });
    }
    let failing =
        job.status == JobStatus::Failed || events.iter().any(|e| matches!(e, Event::JobFailed { .. }));
    let others_run = job.running.iter().any(|n| *n != task.id.number);
    if !failing || others_run {
        return None;
    }
    let code = match &events[0] {
        Event::TaskFailed { outcome, next: FailedNext::GiveUp | FailedNext::Repeat { .. }, .. } => {
            Some(outcome.code)
        }
        _ => None,
    };
    Some(failure(job, succeeded, code, now))
}

/// The end of a job that has failed while nothing of it runs.
pub(super) fn failure(job: &Job, one_more_done: bool, code: Option<i64>, now: i64) -> Event {
    let nothing_made = job.action == ClusterAction::ClusterCreate
        && !one_more_done
        && job.done == 0
        && code.is_none_or(|c| NOTHING_MADE.contains(&c))
        && job.tasks.values().all(only_refused);
    let (status, message) = if nothing_made {
        let text = "Unable to create nodes, please check your provider settings".to_owned();
        (ClusterStatus::Terminated, job.message.is_none().then_some(text))
    } else {
        (status_of_failure(job.action), None)
    };
    Event::JobEnded { at: now, job: job.id.number, status, message }
}

/// Whether all closed attempts of a task said that nothing was made.
fn only_refused(task: &Task) -> bool {
    task.attempts.iter().filter_map(|a| a.outcome.as_ref()).all(|o| NOTHING_MADE.contains(&o.code))
}

const fn status_of_success(action: ClusterAction) -> ClusterStatus {
    match action {
        ClusterAction::ClusterDelete => ClusterStatus::Terminated,
        _ => ClusterStatus::Active,
    }
}

const fn status_of_failure(action: ClusterAction) -> ClusterStatus {
    match action {
        ClusterAction::SolveLayout => ClusterStatus::Terminated,
        ClusterAction::ClusterCreate | ClusterAction::ClusterDelete => ClusterStatus::Incomplete,
        _ => ClusterStatus::Inconsistent,
    }
}
