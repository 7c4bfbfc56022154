//! The decider: what should happen, or why not.

use super::command::Command;
use super::event::{Event, PlannedStep};
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use super::{abort, attempt, delete, retry};
use crate::plan::{ClusterAction, Graph};

/// What should happen to `cluster` because of `command`, at `now` (ms since 1970). An empty list: nothing needs to.
///
/// # Errors
/// When the command cannot be carried out; nothing has changed.
pub fn decide(cluster: &Cluster, command: Command, now: i64) -> Result<Vec<Event>, Refusal> {
    match command {
        Command::Delete { by } => delete::delete(cluster, by, now),
        Command::Retry { by } => retry::retry(cluster, by, now),
        Command::Abort { by } => abort::abort(cluster, &by, now),
        Command::StartAttempt { task, worker } => attempt::start(cluster, task, worker, now),
        Command::FinishAttempt { task, attempt, report } => {
            attempt::finish(cluster, task, attempt, report, now)
        }
        Command::TimeOutAttempt { task, attempt } => attempt::time_out(cluster, task, attempt, now),
    }
}

/// A graph's tasks with numbers of the cluster, from `first` on.
pub(super) fn planned_steps(graph: &Graph, first: u32) -> Vec<PlannedStep> {
    let number = |index: usize| first.saturating_add(u32::try_from(index).unwrap_or(u32::MAX));
    graph
        .tasks()
        .iter()
        .map(|task| PlannedStep {
            number: number(task.index),
            name: task.name,
            node: task.node.clone(),
            service: task.service.clone(),
            after: task.after.iter().map(|before| number(*before)).collect(),
        })
        .collect()
}

/// The events of a new job; one without tasks is complete at once.
pub(super) fn new_job(
    cluster: &Cluster,
    action: ClusterAction,
    by: String,
    graph: &Graph,
    now: i64,
) -> Vec<Event> {
    let job = cluster.next_job();
    let tasks = planned_steps(graph, cluster.last_task + 1);
    let empty = tasks.is_empty();
    let mut events = vec![Event::JobPlanned { at: now, job, action, by, tasks }];
    if empty {
        let status = match action {
            ClusterAction::ClusterDelete => ClusterStatus::Terminated,
            _ => ClusterStatus::Active,
        };
        events.push(Event::JobEnded { at: now, job, status, message: None });
    }
    events
}

pub(super) fn wrong_state(cluster: &Cluster, asked: &'static str, remedy: &'static str) -> Refusal {
    Refusal::WrongState { cluster: cluster.id.to_string(), status: cluster.status, asked, remedy }
}
