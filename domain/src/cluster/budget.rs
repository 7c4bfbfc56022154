//! What may run now, and for everything that may not: why, in words.
//!
//! One set of rules for both: [`may_start`] is asked before a task begins, [`why_waiting`] tells people. What only the
//! workers know (that none is free) is added by whoever asks them.

use serde::Serialize;

use super::job::{Job, JobStatus, Task, TaskState};
use super::state::Cluster;
use crate::id::TaskId;
use crate::mutant;

/// Predecessors that are told one by one; more are counted.
const TOLD: usize = 5;

/// Why a task waits, for programs. The words never change their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitCode {
    /// Its job has failed or was aborted, and starts nothing more.
    JobStopped,
    /// Its job is paused.
    JobPaused,
    /// Tasks that come before it are not done.
    Predecessor,
    /// Its time has not come: the pause after a failed attempt.
    RetryPause,
    /// Its time has not come: it was planned for later.
    Delay,
    /// Its node, or the whole cluster, is in maintenance.
    Maintenance,
    /// Another task of its node runs.
    NodeBusy,
    /// As many tasks of the cluster run as may.
    ClusterLimit,
    /// As many tasks of the whole installation run as may.
    GlobalLimit,
    /// The tenant has no workers.
    NoWorkers,
    /// All workers of the tenant are busy.
    WorkersBusy,
    /// It is about to begin.
    Next,
}

impl WaitCode {
    /// As in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::JobStopped => "job_stopped",
            Self::JobPaused => "job_paused",
            Self::Predecessor => "predecessor",
            Self::RetryPause => "retry_pause",
            Self::Delay => "delay",
            Self::Maintenance => "maintenance",
            Self::NodeBusy => "node_busy",
            Self::ClusterLimit => "cluster_limit",
            Self::GlobalLimit => "global_limit",
            Self::NoWorkers => "no_workers",
            Self::WorkersBusy => "workers_busy",
            Self::Next => "next",
        }
    }

    /// Why a start is refused.
    pub(super) const fn refusal(self) -> &'static str {
        match self {
            Self::JobStopped => "its job starts nothing more",
            Self::JobPaused => "its job is paused",
            Self::Predecessor => "it waits for other tasks, or has been started",
            Self::RetryPause => "its pause after a failure has not ended",
            Self::Delay => "its time has not come",
            Self::Maintenance => "its node or its cluster is in maintenance",
            Self::NodeBusy => "its node is busy",
            Self::ClusterLimit => "as many tasks of its cluster run as may",
            Self::GlobalLimit => "as many tasks run as may",
            Self::NoWorkers | Self::WorkersBusy | Self::Next => "no worker is free",
        }
    }
}

/// Why a task waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitReason {
    /// For programs.
    pub code: WaitCode,
    /// For people: continues the sentence "the task waits …".
    pub text: String,
    /// When it ends, in ms since 1970, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    /// The task that is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

impl WaitReason {
    /// A reason without an end that is known.
    #[must_use]
    pub fn new(code: WaitCode, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), until: None, task: None }
    }
}

/// Whether a task of `job`, the latest of its cluster, may start at `now`.
///
/// # Errors
/// Why not: the first rule that forbids it.
pub fn may_start(cluster: &Cluster, job: &Job, task: &Task, now: i64) -> Result<(), WaitCode> {
    match job.status {
        JobStatus::Running => {}
        JobStatus::Paused if mutant::is("starts-while-paused") => {}
        JobStatus::Paused => return Err(WaitCode::JobPaused),
        _ => return Err(WaitCode::JobStopped),
    }
    if !job.ready.contains(&task.id.number) {
        return Err(WaitCode::Predecessor);
    }
    if task.not_before > now {
        return Err(if task.attempts.is_empty() { WaitCode::Delay } else { WaitCode::RetryPause });
    }
    if cluster.in_maintenance(&task.node).is_some() {
        return Err(WaitCode::Maintenance);
    }
    if runs_on_node(job, task).is_some() && !mutant::is("two-tasks-on-a-node") {
        return Err(WaitCode::NodeBusy);
    }
    if room(cluster, job) == 0 {
        return Err(WaitCode::ClusterLimit);
    }
    Ok(())
}

/// How many more tasks of the cluster may run at once.
#[must_use]
pub fn room(cluster: &Cluster, job: &Job) -> usize {
    match cluster.limits.max_running_tasks {
        0 => usize::MAX,
        limit => usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(job.running.len()),
    }
}

/// Why a task of the latest job waits, most important first. Empty when nothing is in its way but the want of a worker, and
/// for tasks that do not wait.
#[must_use]
pub fn why_waiting(cluster: &Cluster, task: u32, now: i64) -> Vec<WaitReason> {
    let Some(job) = cluster.latest_job() else { return Vec::new() };
    let Some(task) = job.tasks.get(&task).filter(|task| task.state == TaskState::Waiting) else {
        return Vec::new();
    };
    let mut reasons = Vec::new();
    reasons.extend(of_job(job));
    reasons.extend(predecessors(cluster, job, task, now));
    if !job.ready.contains(&task.id.number) {
        return reasons;
    }
    reasons.extend(not_yet(cluster, task, now));
    reasons.extend(of_maintenance(cluster, task));
    if let Some(other) = runs_on_node(job, task) {
        let since = other.open_attempt().map_or(now, |attempt| attempt.started);
        let text = format!(
            "for its node, which has been busy with {} for {}",
            title(cluster, other),
            span(now - since)
        );
        reasons.push(WaitReason { task: Some(other.id), ..WaitReason::new(WaitCode::NodeBusy, text) });
    }
    if job.is_open() && room(cluster, job) == 0 {
        let (limit, running) = (cluster.limits.max_running_tasks, job.running.len());
        let text = format!(
            "for one of {running} running tasks of its cluster to end: at most {limit} may run at once"
        );
        reasons.push(WaitReason::new(WaitCode::ClusterLimit, text));
    }
    reasons
}

/// Numbers of the tasks of the latest job that wait, while the job is under way.
#[must_use]
pub fn waiting(cluster: &Cluster) -> Vec<u32> {
    let job = cluster.latest_job().filter(|job| job.ended.is_none());
    let tasks = job.into_iter().flat_map(|job| job.tasks.values());
    tasks.filter(|task| task.state == TaskState::Waiting).map(|task| task.id.number).collect()
}

fn of_job(job: &Job) -> Option<WaitReason> {
    match job.status {
        JobStatus::Paused => {
            let text = "for its job, which is paused, to be resumed";
            Some(WaitReason::new(WaitCode::JobPaused, text))
        }
        JobStatus::Failed => {
            let why = job.message.as_deref().unwrap_or("no reason is known");
            let text = format!("in vain: its job has failed and starts nothing more ({why})");
            Some(WaitReason::new(WaitCode::JobStopped, text))
        }
        JobStatus::NotSubmitted | JobStatus::Running | JobStatus::Complete => None,
    }
}

/// Those that run first, then those that failed, then the rest; each with how it stands.
fn predecessors(cluster: &Cluster, job: &Job, task: &Task, now: i64) -> Vec<WaitReason> {
    let open = task.after.iter().filter_map(|number| job.tasks.get(number));
    let mut open: Vec<&Task> = open.filter(|task| task.state != TaskState::Done).collect();
    open.sort_by_key(|task| match task.state {
        TaskState::Running => 0,
        TaskState::Failed => 1,
        TaskState::Waiting | TaskState::Done => 2,
    });
    let more = open.len().saturating_sub(TOLD);
    let reason = |before: &&Task| {
        let text = format!("for {}, which {}", title(cluster, before), standing(before, now));
        WaitReason { task: Some(before.id), ..WaitReason::new(WaitCode::Predecessor, text) }
    };
    let mut reasons: Vec<WaitReason> = open.iter().take(TOLD).map(reason).collect();
    if more > 0 {
        reasons.push(WaitReason::new(WaitCode::Predecessor, format!("for {more} more tasks before it")));
    }
    reasons
}

/// How a task that is not done stands; continues the sentence "START db on node-2, which …".
fn standing(task: &Task, now: i64) -> String {
    match (task.state, task.open_attempt()) {
        (TaskState::Running, Some(attempt)) => {
            let again = match attempt.number {
                1 => String::new(),
                number => format!(" in attempt {number}"),
            };
            format!("has run for {}{again}", span(now - attempt.started))
        }
        (TaskState::Failed, _) => "has failed".to_owned(),
        _ if task.waiting_for == 0 => "may start but has not begun".to_owned(),
        _ => "waits itself".to_owned(),
    }
}

fn not_yet(cluster: &Cluster, task: &Task, now: i64) -> Option<WaitReason> {
    if task.not_before <= now {
        return None;
    }
    let left = span(task.not_before - now);
    let failed = task.attempts.last().and_then(|last| Some((last.number, last.outcome.as_ref()?)));
    let (code, text) = match failed {
        None => (WaitCode::Delay, format!("for its time, which comes in {left}")),
        Some((number, outcome)) => {
            let kind = outcome.kind.unwrap_or_default();
            let most = cluster.limits.attempts_of(kind);
            let text =
                format!("for the pause after attempt {number} of {most}, which failed ({kind}): {left} more");
            (WaitCode::RetryPause, text)
        }
    };
    Some(WaitReason { until: Some(task.not_before), ..WaitReason::new(code, text) })
}

fn of_maintenance(cluster: &Cluster, task: &Task) -> Option<WaitReason> {
    let kept = cluster.in_maintenance(&task.node)?;
    let what = if cluster.care.nodes.contains_key(&task.node) { "its node" } else { "its cluster" };
    let why = if kept.reason.is_empty() { String::new() } else { format!(" ({})", kept.reason) };
    let text = format!("for the end of the maintenance of {what}, which {} began{why}", kept.by);
    Some(WaitReason::new(WaitCode::Maintenance, text))
}

fn runs_on_node<'a>(job: &'a Job, task: &Task) -> Option<&'a Task> {
    job.tasks_of(&task.node).find(|other| other.state == TaskState::Running)
}

/// A task as people call it: `START db on node-2`.
#[must_use]
pub fn title(cluster: &Cluster, task: &Task) -> String {
    let node = cluster.nodes.get(&task.node);
    let host = node.and_then(|node| node.properties.hostname.as_deref()).unwrap_or(task.node.as_str());
    match &task.service {
        Some(service) => format!("{} {service} on {host}", task.name),
        None => format!("{} on {host}", task.name),
    }
}

/// A length of time in words: `12 s`, `3 min`, `2 h`.
#[must_use]
pub fn span(ms: i64) -> String {
    match ms.max(0) / 1000 {
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ ..7_200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}
