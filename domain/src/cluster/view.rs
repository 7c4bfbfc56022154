//! A cluster as people look at it: progress, and what each node is doing.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::job::{Attempt, Job, JobStatus, Task, TaskState};
use super::state::{Cluster, Node};
use crate::id::NodeId;
use crate::node_action::{ActionStatus, DEFAULT_HISTORY, NodeAction};
use crate::plan::{ClusterAction, Graph, UnitId};

/// How far the latest job is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// What was asked for.
    pub action: ClusterAction,
    /// How it stands.
    #[serde(rename = "actionstatus")]
    pub status: JobStatus,
    /// Tasks of the job; grows when machines are made anew.
    #[serde(rename = "stepstotal")]
    pub total: usize,
    /// Tasks that are done.
    #[serde(rename = "stepscompleted")]
    pub done: usize,
}

/// What a node is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeStatus {
    /// It has no machine (yet, or any more).
    Absent,
    /// A task of it is running.
    Working,
    /// It waits for other tasks, a worker, or the end of a pause.
    Waiting,
    /// Everything on it is as wanted.
    Ready,
    /// A task of it failed for good.
    Failed,
    /// It has a machine, but its job stopped before everything on it was as wanted.
    Incomplete,
}

impl NodeStatus {
    /// As in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Working => "working",
            Self::Waiting => "waiting",
            Self::Ready => "ready",
            Self::Failed => "failed",
            Self::Incomplete => "incomplete",
        }
    }
}

impl Job {
    /// Its tasks as a graph, and for each task of the graph its number in the cluster.
    ///
    /// Machines that were made anew have added tasks, so that the graph is not the one that was planned.
    #[must_use]
    pub fn graph(&self) -> (Graph, Vec<u32>) {
        let numbers = self.numbers_in_order();
        let places: BTreeMap<u32, usize> =
            numbers.iter().enumerate().map(|(place, number)| (*number, place)).collect();
        let unit = |task: &Task| UnitId { node: task.node.clone(), service: task.service.clone() };
        let ordered = || numbers.iter().filter_map(|number| self.tasks.get(number));
        let tasks: Vec<_> = ordered().map(|task| (unit(task), task.name)).collect();
        let after = ordered().map(|task| task.after.iter().filter_map(|n| places.get(n).copied()).collect());
        // No event adds an edge that closes a circle.
        let graph = Graph::new(tasks, after.collect()).unwrap_or_default();
        (graph, numbers)
    }

    /// Numbers of its tasks, each behind those it waits for; otherwise by size.
    fn numbers_in_order(&self) -> Vec<u32> {
        let mut missing: BTreeMap<u32, usize> =
            self.tasks.iter().map(|(n, task)| (*n, task.after.len())).collect();
        let mut free: BTreeSet<u32> =
            missing.iter().filter(|(_, left)| **left == 0).map(|(n, _)| *n).collect();
        let mut ordered = Vec::with_capacity(self.tasks.len());
        while let Some(number) = free.pop_first() {
            ordered.push(number);
            for next in self.tasks.get(&number).into_iter().flat_map(|task| &task.before) {
                if let Some(left) = missing.get_mut(next) {
                    *left -= 1;
                    if *left == 0 {
                        free.insert(*next);
                    }
                }
            }
        }
        ordered
    }
}

impl Cluster {
    /// How far the latest job is.
    #[must_use]
    pub fn progress(&self) -> Option<Progress> {
        let job = self.latest_job()?;
        let (action, status, total, done) = (job.action, job.status, job.tasks.len(), job.done as usize);
        Some(Progress { action, status, total, done })
    }

    /// What a node is doing.
    #[must_use]
    pub fn node_status(&self, node: &Node) -> NodeStatus {
        let job = self.latest_job();
        let any = |state| job.is_some_and(|job| job.tasks_of(&node.id).any(|task| task.state == state));
        if any(TaskState::Running) {
            NodeStatus::Working
        } else if any(TaskState::Failed) {
            NodeStatus::Failed
        } else if any(TaskState::Waiting) && job.is_some_and(Job::is_open) {
            NodeStatus::Waiting
        } else if !node.may_have_machine() {
            NodeStatus::Absent
        } else if any(TaskState::Waiting) {
            NodeStatus::Incomplete
        } else {
            NodeStatus::Ready
        }
    }

    /// What was done to a node over all jobs: one entry per attempt, in order of their start, the newest
    /// [`DEFAULT_HISTORY`].
    #[must_use]
    pub fn node_actions(&self, node: &NodeId) -> Vec<NodeAction> {
        let tasks = self.jobs.values().flat_map(|job| job.tasks_of(node));
        let mut attempts: Vec<(&Task, &Attempt)> =
            tasks.flat_map(|task| task.attempts.iter().map(move |attempt| (task, attempt))).collect();
        attempts.sort_by_key(|(_, attempt)| attempt.sequence);
        let forgotten = attempts.len().saturating_sub(DEFAULT_HISTORY);
        attempts.into_iter().skip(forgotten).map(|(task, attempt)| node_action(task, attempt)).collect()
    }
}

fn node_action(task: &Task, attempt: &Attempt) -> NodeAction {
    let outcome = attempt.outcome.as_ref();
    let failed = outcome.filter(|o| o.code != 0);
    NodeAction {
        task_id: task.id,
        service: task.service.clone().unwrap_or_default(),
        action: task.name,
        submit_time: attempt.started,
        status_time: outcome.map_or(attempt.started, |o| o.at),
        status: match outcome {
            None => ActionStatus::InProgress,
            Some(o) if o.code == 0 => ActionStatus::Complete,
            Some(_) => ActionStatus::Failed,
        },
        stdout: failed.map(|o| o.stdout.clone()),
        stderr: failed.map(|o| o.stderr.clone()),
    }
}
