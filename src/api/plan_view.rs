//! A job as JSON: as Coopr shows it, in stages; and as it is, a graph with times.
//!
//! It is asked for again and again while the job runs, and grows with its tasks: what is told is borrowed from the job and written
//! straight into the answer.

use std::sync::Arc;

use cooperage_domain::cluster::{Attempt, Cluster, Job, JobStatus, Task, TaskState, WaitReason};
use cooperage_domain::error_kind::ErrorKind;
use cooperage_domain::id::{ClusterId, JobId, NodeId, TaskId};
use cooperage_domain::plan::{PlannedTask, predict, stages};
use cooperage_domain::task::TaskName;
use serde::Serialize;

use super::waiting::Looker;

/// A job.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan<'a> {
    id: JobId,
    cluster_id: ClusterId,
    action: String,
    current_stage: usize,
    stages: Vec<Vec<StagedTask<'a>>>,
    status: JobStatus,
    message: Option<&'a str>,
    start_time: i64,
    end_time: Option<i64>,
    tasks: Vec<GraphTask<'a>>,
    critical_path: Vec<TaskId>,
    predicted_ms: u64,
}

/// A task in its stage.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct StagedTask<'a> {
    id: TaskId,
    task_name: TaskName,
    node_id: &'a NodeId,
    service: &'a str,
}

/// A task in the graph.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct GraphTask<'a> {
    id: TaskId,
    task_name: TaskName,
    node_id: &'a NodeId,
    service: &'a str,
    after: Vec<TaskId>,
    status: TaskState,
    estimate_ms: u64,
    attempts: Vec<ShownAttempt<'a>>,
    /// Of tasks of the latest job.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<Vec<WaitReason>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    straggling: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    typical_ms: Option<u64>,
}

/// An attempt.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownAttempt<'a> {
    number: u32,
    worker: &'a str,
    start_time: i64,
    end_time: Option<i64>,
    code: Option<i64>,
    error_kind: Option<ErrorKind>,
}

impl<'a> Plan<'a> {
    /// A job of a cluster, with what is known of the workers it may need.
    pub fn of(cluster: &'a Arc<Cluster>, job: &'a Job, looker: &Looker<'_>) -> Self {
        let (graph, numbers) = job.graph();
        let task = |place: usize| numbers.get(place).and_then(|number| job.tasks.get(number));
        let staged: Vec<Vec<&Task>> =
            stages(&graph).into_iter().map(|stage| stage.into_iter().filter_map(task).collect()).collect();
        let durations = looker.lengths(cluster, job, &numbers);
        let length = |task: &PlannedTask| durations.get(task.index).copied().unwrap_or_default();
        let prediction = predict(&graph, length, looker.workers);
        let critical = prediction.critical_path.into_iter().filter_map(task);
        let tasks = numbers.iter().zip(&durations).filter_map(|(number, estimate)| {
            let estimate_ms = u64::try_from(estimate.as_millis()).unwrap_or(u64::MAX);
            Some(GraphTask::of(cluster, job, job.tasks.get(number)?, estimate_ms, looker))
        });
        Self {
            id: job.id,
            cluster_id: cluster.id,
            action: job.action.as_upper(),
            current_stage: current_stage(&staged),
            stages: staged
                .iter()
                .map(|stage| stage.iter().map(|task| StagedTask::of(task)).collect())
                .collect(),
            status: job.status,
            message: job.message.as_deref(),
            start_time: job.started,
            end_time: job.ended,
            tasks: tasks.collect(),
            critical_path: critical.map(|task| task.id).collect(),
            predicted_ms: prediction.makespan.as_millis() as u64,
        }
    }
}

/// The first stage that has a task to do; the last one when all is done.
fn current_stage(stages: &[Vec<&Task>]) -> usize {
    let is_open = |task: &&Task| {
        let outcome = task.attempts.last().map(|attempt| attempt.outcome.as_ref());
        !matches!(outcome, Some(Some(outcome)) if outcome.code == 0)
    };
    let open = stages.iter().position(|stage| stage.iter().any(is_open));
    open.unwrap_or_else(|| stages.len().saturating_sub(1))
}

impl<'a> StagedTask<'a> {
    fn of(task: &'a Task) -> Self {
        Self { id: task.id, task_name: task.name, node_id: &task.node, service: service(task) }
    }
}

impl<'a> GraphTask<'a> {
    fn of(cluster: &Cluster, job: &Job, task: &'a Task, estimate_ms: u64, looker: &Looker<'_>) -> Self {
        let is_latest = cluster.latest_job().is_some_and(|latest| latest.id == job.id);
        let waits = is_latest && task.state == TaskState::Waiting && job.ended.is_none();
        let typical_ms = if is_latest { looker.straggles(cluster, task) } else { None };
        Self {
            id: task.id,
            task_name: task.name,
            node_id: &task.node,
            service: service(task),
            after: task.after.iter().filter_map(|number| Some(job.tasks.get(number)?.id)).collect(),
            status: task.state,
            estimate_ms,
            attempts: task.attempts.iter().map(ShownAttempt::of).collect(),
            waiting: waits.then(|| looker.reasons(cluster, task)),
            straggling: typical_ms.map(|_| true),
            typical_ms,
        }
    }
}

impl<'a> ShownAttempt<'a> {
    fn of(attempt: &'a Attempt) -> Self {
        let outcome = attempt.outcome.as_ref();
        Self {
            number: attempt.number,
            worker: &attempt.worker,
            start_time: attempt.started,
            end_time: outcome.map(|outcome| outcome.at),
            code: outcome.map(|outcome| outcome.code),
            error_kind: outcome.and_then(|outcome| outcome.kind),
        }
    }
}

fn service(task: &Task) -> &str {
    task.service.as_deref().unwrap_or_default()
}
