//! What happens to a task: it is handed out, it succeeds, it fails and is tried again or given up, its time runs out.

use super::ending::ending_after;
use super::event::{Event, FailedNext};
use super::job::{Job, JobStatus, Outcome, Task, TaskState};
use super::refusal::Refusal;
use super::state::Cluster;
use crate::node_action::cut_log;
use crate::task::{TaskName, TaskReport};

/// Code of a failure that no worker reported: a time-out, or configuration that cannot be expanded.
pub const INTERNAL_FAILURE: i64 = -1;

pub(super) fn start(cluster: &Cluster, task: u32, worker: String, now: i64) -> Result<Vec<Event>, Refusal> {
    let refuse = |reason| Err(Refusal::NotReady { task, reason });
    let Some(job) = cluster.latest_job() else { return refuse("the cluster has no job") };
    if job.status != JobStatus::Running {
        return refuse("its job starts nothing more");
    }
    if !job.ready.contains(&task) {
        return refuse("it waits for other tasks, or has been started");
    }
    let Some(found) = job.tasks.get(&task) else { return refuse("it is not in the job") };
    if found.not_before > now {
        return refuse("its pause after a failure has not ended");
    }
    let busy = job.running.iter().filter_map(|n| job.tasks.get(n)).any(|running| running.node == found.node);
    if busy {
        return refuse("its node is busy");
    }
    Ok(vec![Event::AttemptStarted { at: now, task, attempt: found.next_attempt(), worker }])
}

pub(super) fn finish(
    cluster: &Cluster,
    task: u32,
    attempt: u32,
    report: TaskReport,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    let (job, found) = open(cluster, task, attempt)?;
    let mut events = vec![if report.succeeded() {
        let quiet = TaskReport { stdout: String::new(), stderr: String::new(), ..report };
        Event::TaskSucceeded { at: now, task, report: Box::new(quiet) }
    } else {
        failed(cluster, found, report, now)
    }];
    let given_up = matches!(&events[0], Event::TaskFailed { next: FailedNext::GiveUp, .. });
    if given_up && job.is_open() {
        events.push(Event::JobFailed { job: job.id.number, message: failure_message(cluster, found) });
    }
    events.extend(ending_after(job, found, &events, now));
    Ok(events)
}

pub(super) fn time_out(cluster: &Cluster, task: u32, attempt: u32, now: i64) -> Result<Vec<Event>, Refusal> {
    let seconds = cluster.limits.task_timeout / 1000;
    let text = format!("Timed out: no result after {seconds} s. The attempt was given up.");
    finish(cluster, task, attempt, TaskReport::failure(INTERNAL_FAILURE, text), now)
}

/// The task, if exactly this attempt of it is open. Anything else is late, and changes nothing.
fn open(cluster: &Cluster, task: u32, attempt: u32) -> Result<(&Job, &Task), Refusal> {
    let stale = Refusal::StaleAttempt { task, attempt };
    let job = cluster.latest_job().ok_or(stale.clone())?;
    let found = job.tasks.get(&task).ok_or(stale.clone())?;
    let is_open =
        found.state == TaskState::Running && found.open_attempt().is_some_and(|a| a.number == attempt);
    if is_open { Ok((job, found)) } else { Err(stale) }
}

fn failed(cluster: &Cluster, task: &Task, report: TaskReport, now: i64) -> Event {
    let limits = &cluster.limits;
    let outcome = Outcome {
        at: now,
        code: report.status,
        stdout: cut_log(&report.stdout, limits.max_log_length),
        stderr: cut_log(&report.stderr, limits.max_log_length),
    };
    let attempts = task.open_attempt().map_or(1, |a| a.number);
    let not_before = now + limits.retry_delay_after(attempts);
    let next = if attempts >= limits.max_attempts {
        FailedNext::GiveUp
    } else if task.name == TaskName::Confirm {
        FailedNext::Recreate { not_before, delete: cluster.last_task + 1, create: cluster.last_task + 2 }
    } else {
        FailedNext::Repeat { not_before }
    };
    Event::TaskFailed { task: task.id.number, outcome, result: report.result, next }
}

fn failure_message(cluster: &Cluster, task: &Task) -> String {
    let node = cluster.nodes.get(&task.node);
    let host = node.and_then(|n| n.properties.hostname.as_deref()).unwrap_or(task.node.as_str());
    let what = task.service.as_ref().map_or_else(|| task.name.to_string(), |s| format!("{} {s}", task.name));
    let attempts = cluster.limits.max_attempts;
    format!("{what} failed on {host} after {attempts} attempts; its last output is kept with the node")
}
