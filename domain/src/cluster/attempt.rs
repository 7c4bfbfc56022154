//! What happens to a task: it is handed out, it succeeds, it fails and is tried again or given up, its time runs out.

use super::budget;
use super::ending::ending_after;
use super::event::{Event, FailedNext};
use super::job::{Job, Outcome, Task, TaskState};
use super::limits::Overdue;
use super::refusal::Refusal;
use super::rollout::OnFailure;
use super::state::Cluster;
use super::{converge, inputs, outputs};
use crate::error_kind::ErrorKind;
use crate::mutant;
use crate::node_action::cut_log;
use crate::plan::UnitId;
use crate::task::{TaskName, TaskReport};
use uuid::Uuid;

/// Code of a failure that no worker reported: a time-out, or configuration that cannot be expanded.
pub const INTERNAL_FAILURE: i64 = -1;

/// How much of the last line a task printed is told as the reason of its failure, in characters.
const LONGEST_REASON: usize = 200;

/// How the text of a failure begins when nobody took the task, how it goes on, and how it ends.
const NOT_TAKEN: &str = "No worker took it for ";
const NOT_TAKEN_BECAUSE: &str = ": it waited ";
const NOT_TAKEN_REMEDY: &str = ". Retry when that has changed.";

/// For what a task waited that nobody took, from the text of its failure.
pub(super) fn why_not_taken(text: &str) -> Option<&str> {
    let told = text.strip_prefix(NOT_TAKEN)?.strip_suffix(NOT_TAKEN_REMEDY)?;
    told.split_once(NOT_TAKEN_BECAUSE).map(|(_, why)| why)
}

pub(super) fn start(cluster: &Cluster, task: u32, worker: String, now: i64) -> Result<Vec<Event>, Refusal> {
    let refuse = |reason| Refusal::NotReady { task, reason };
    let job = cluster.latest_job().ok_or(refuse("the cluster has no job"))?;
    let found = job.tasks.get(&task).ok_or(refuse("the job has no such task"))?;
    budget::may_start(cluster, job, found, now).map_err(|why| refuse(why.refusal()))?;
    let unit = UnitId { node: found.node.clone(), service: found.service.clone() };
    let inputs = inputs::hash_at(cluster, &unit, found.name);
    Ok(vec![Event::AttemptStarted { at: now, task, attempt: found.next_attempt(), worker, inputs }])
}

pub(super) fn finish(
    cluster: &Cluster,
    task: u32,
    attempt: u32,
    report: TaskReport,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    let (job, found) = open(cluster, task, attempt)?;
    let report = match found.service.as_ref().and_then(|name| cluster.definitions.get(name)) {
        Some(service) => outputs::checked(service, report),
        None => report,
    };
    let happened = if found.name == TaskName::Probe && converge::only_finds_out(job.action) {
        Event::UnitProbed { task, outcome: outcome(cluster, found, &report, now) }
    } else if report.succeeded() {
        let quiet = TaskReport { stdout: String::new(), stderr: String::new(), ..report };
        Event::TaskSucceeded { at: now, task, report: Box::new(quiet) }
    } else {
        failed(cluster, job, found, report, now)
    };
    let failure = match &happened {
        Event::TaskFailed { next: FailedNext::GiveUp, outcome, .. } if job.is_open() => {
            let message = failure_message(cluster, found, outcome);
            Some(Event::JobFailed { at: now, job: job.id.number, message, by: None, stop: false })
        }
        Event::TaskFailed { next: FailedNext::Repeat { .. }, outcome, .. }
            if gives_way(cluster, job, found, outcome.kind.unwrap_or_default()) =>
        {
            let reason = Some(failure_message(cluster, found, outcome));
            Some(Event::JobPaused { at: now, job: job.id.number, by: "rollout".to_owned(), reason })
        }
        _ => None,
    };
    let ending = ending_after(cluster, job, found, &happened, now);
    Ok([happened].into_iter().chain(failure).chain(ending).collect())
}

pub(super) fn time_out(cluster: &Cluster, task: u32, attempt: u32, now: i64) -> Result<Vec<Event>, Refusal> {
    let (_, found) = open(cluster, task, attempt)?;
    let seconds = cluster.time_of(found) / 1000;
    let text = format!("Timed out: no result after {seconds} s. The attempt was given up.");
    finish(cluster, task, attempt, TaskReport::failure(INTERNAL_FAILURE, text), now)
}

/// The task, if exactly this attempt of it is open. Anything else is late, and changes nothing.
fn open(cluster: &Cluster, task: u32, attempt: u32) -> Result<(&Job, &Task), Refusal> {
    let stale = Refusal::StaleAttempt { task, attempt };
    let job = cluster.latest_job().ok_or(stale.clone())?;
    let found = job.tasks.get(&task).ok_or(stale.clone())?;
    let is_open = found.state == TaskState::Running
        && found.open_attempt().is_some_and(|a| a.number == attempt || mutant::is("takes-any-report"));
    if is_open { Ok((job, found)) } else { Err(stale) }
}

/// How an attempt ended, with the last of what it printed.
fn outcome(cluster: &Cluster, task: &Task, report: &TaskReport, now: i64) -> Outcome {
    let limit = cluster.limits.max_log_length;
    let (stdout, stderr) = (cut_log(&report.stdout, limit), cut_log(&report.stderr, limit));
    let kind = (!report.succeeded()).then(|| ErrorKind::of(task.name, report));
    Outcome { at: now, code: report.status, kind, stdout, stderr }
}

/// Whether a failure for good pauses the job: its rollout says so, and it is still going on.
fn gives_way(cluster: &Cluster, job: &Job, task: &Task, kind: ErrorKind) -> bool {
    let pauses = job.rollout.as_ref().is_some_and(|rollout| rollout.on_failure == OnFailure::Pause);
    let attempts = task.open_attempt().map_or(1, |attempt| attempt.number);
    pauses && job.is_open() && attempts >= cluster.limits.attempts_of(kind)
}

fn failed(cluster: &Cluster, job: &Job, task: &Task, report: TaskReport, now: i64) -> Event {
    let limits = &cluster.limits;
    let outcome = outcome(cluster, task, &report, now);
    let kind = outcome.kind.unwrap_or_default();
    let attempts = task.open_attempt().map_or(1, |a| a.number);
    let chance = chance(cluster.seed, task.id.number, attempts);
    let not_before = now.saturating_add(limits.pause_after(kind, attempts, chance));
    let next = if gives_way(cluster, job, task, kind) {
        FailedNext::Repeat { not_before: now }
    } else if (attempts >= limits.attempts_of(kind) && !mutant::is("retries-for-ever")) || !job.is_open() {
        FailedNext::GiveUp
    } else if task.name == TaskName::Confirm && kind != ErrorKind::Transient {
        FailedNext::Recreate { not_before, delete: cluster.last_task + 1, create: cluster.last_task + 2 }
    } else {
        FailedNext::Repeat { not_before }
    };
    Event::TaskFailed { task: task.id.number, outcome, result: report.result, next }
}

/// A number that nobody can foretell, and that is the same whenever the same is decided.
fn chance(seed: Uuid, task: u32, attempt: u32) -> u64 {
    Uuid::new_v5(&seed, format!("pause {task} {attempt}").as_bytes()).as_u64_pair().0
}

/// Nobody took a task in time: it fails without an attempt, unless such tasks are only told about. `why` says what the
/// workers were doing.
pub(super) fn time_out_queue(
    cluster: &Cluster,
    task: u32,
    why: &str,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    let refuse = |reason| Refusal::NotReady { task, reason };
    let job = cluster.latest_job().ok_or(refuse("the cluster has no job"))?;
    let found = job.tasks.get(&task).ok_or(refuse("the job has no such task"))?;
    budget::may_start(cluster, job, found, now).map_err(|why| refuse(why.refusal()))?;
    if cluster.queue_deadline(job, found).is_none_or(|deadline| deadline > now) {
        return Err(refuse("its time to wait for a worker is not over"));
    }
    if cluster.limits.overdue == Overdue::Flag {
        return Ok(Vec::new());
    }
    let waited = budget::span(now.saturating_sub(found.ready_since.unwrap_or(now)));
    let text = format!("{NOT_TAKEN}{waited}{NOT_TAKEN_BECAUSE}{why}{NOT_TAKEN_REMEDY}");
    let outcome = Outcome {
        at: now,
        code: INTERNAL_FAILURE,
        kind: Some(ErrorKind::Unknown),
        stdout: String::new(),
        stderr: text.clone(),
    };
    let title = budget::title(cluster, found);
    let next = FailedNext::GiveUp;
    let happened = Event::TaskFailed { task, outcome, result: serde_json::Map::new(), next };
    let message = format!("{title} was not begun. {text}");
    let failure = Event::JobFailed { at: now, job: job.id.number, message, by: None, stop: false };
    let mut ending = ending_after(cluster, job, found, &happened, now);
    if let Some(Event::JobEnded { message, .. }) = &mut ending {
        // That nothing was made is no fault of the provider.
        *message = None;
    }
    Ok([happened, failure].into_iter().chain(ending).collect())
}

fn failure_message(cluster: &Cluster, task: &Task, outcome: &Outcome) -> String {
    let node = cluster.nodes.get(&task.node);
    let host = node.and_then(|n| n.properties.hostname.as_deref()).unwrap_or(task.node.as_str());
    let service = task.service.iter().map(|service| format!(" {service}")).collect::<String>();
    let attempts = match task.attempts.len() {
        1 => "1 attempt".to_owned(),
        several => format!("{several} attempts"),
    };
    let said: String =
        outcome.last_words().unwrap_or("it printed nothing").chars().take(LONGEST_REASON).collect();
    let (name, code) = (task.name, outcome.code);
    let advice = outcome.kind.and_then(ErrorKind::advice).map(|advice| format!("; {advice}"));
    format!(
        "{name}{service} failed on {host} after {attempts} with code {code}: {said} (what it printed is kept with the node){}",
        advice.unwrap_or_default()
    )
}
