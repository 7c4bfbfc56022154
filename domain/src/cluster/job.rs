//! Jobs, their tasks and the attempts at them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::rollout::Rollout;
use crate::error_kind::ErrorKind;
use crate::id::{JobId, NodeId, TaskId};
use crate::plan::ClusterAction;
use crate::task::TaskName;

/// Codes by which a provider says that an attempt failed before anything was made.
const NOTHING_MADE: std::ops::RangeInclusive<i64> = 200..=299;

/// A bounded request to change a cluster, as a graph of tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// What was asked for.
    pub action: ClusterAction,
    /// Who asked.
    pub by: String,
    /// How it stands. Failed while tasks are still running means that nothing new starts.
    pub status: JobStatus,
    /// Why it stands so, for people.
    pub message: Option<String>,
    /// When it was asked for, in ms.
    pub started: i64,
    /// When its last task ended, in ms.
    pub ended: Option<i64>,
    /// By number; numbers are unique in the cluster.
    pub tasks: BTreeMap<u32, Task>,
    /// Numbers of the tasks of each node that has any.
    pub by_node: BTreeMap<NodeId, BTreeSet<u32>>,
    /// Tasks that nothing waits for any more and that are not running.
    pub ready: BTreeSet<u32>,
    /// Tasks with an open attempt.
    pub running: BTreeSet<u32>,
    /// How many tasks are done.
    pub done: u32,
    /// How it goes through the nodes; `None`: as fast as it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollout: Option<Rollout>,
    /// How often it has got more tasks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub extensions: u32,
    /// Whether somebody wanted what runs to be stopped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
}

/// Whether a value is what its absence stands for.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// How a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// Accepted, not begun.
    NotSubmitted,
    /// Its tasks are being run.
    Running,
    /// Nothing new starts until it is resumed.
    Paused,
    /// All its tasks are done.
    Complete,
    /// A task failed for good, or it was aborted.
    Failed,
}

impl JobStatus {
    /// As in Coopr's JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotSubmitted => "not_submitted",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Complete => "complete",
            Self::Failed => "failed",
        }
    }
}

/// One task of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// What is done.
    pub name: TaskName,
    /// To which node.
    pub node: NodeId,
    /// To which service; `None` for the machine itself.
    pub service: Option<String>,
    /// Tasks it waits for.
    pub after: BTreeSet<u32>,
    /// Tasks that wait for it.
    pub before: BTreeSet<u32>,
    /// How many of `after` are not done.
    pub waiting_for: u32,
    /// How it stands.
    pub state: TaskState,
    /// Not before this time, in ms: the pause after a failed attempt.
    pub not_before: i64,
    /// Since when nothing of its job is in its way, in ms; `None` while something is.
    #[serde(default)]
    pub ready_since: Option<i64>,
    /// Oldest first.
    pub attempts: Vec<Attempt>,
    /// How long it waits once nothing else holds it up, in ms.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delay: i64,
    /// Name of the errand that it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errand: Option<String>,
}

/// How a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Waits for other tasks, for its node, for a worker, or for the end of a pause.
    Waiting,
    /// An attempt is open.
    Running,
    /// Done.
    Done,
    /// Failed for good.
    Failed,
}

/// One execution of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// From 1.
    pub number: u32,
    /// Number of the event that began it, by which attempts of a cluster can be put in order.
    pub sequence: u64,
    /// Who executes it.
    pub worker: String,
    /// When it was handed out, in ms.
    pub started: i64,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// Hash of the values that the service is brought up with, where this step is the one that takes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
}

/// Names one execution of one task of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AttemptId {
    /// Number of the task.
    pub task: u32,
    /// Number of the attempt.
    pub attempt: u32,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// When, in ms.
    pub at: i64,
    /// 0 is success.
    pub code: i64,
    /// What kind of failure it was; none for successes, and for failures from before kinds were told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ErrorKind>,
    /// Last of what it printed; kept for failures.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// Last of what it printed as errors; kept for failures.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

impl Job {
    /// Whether it may still start tasks.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.status, JobStatus::NotSubmitted | JobStatus::Running | JobStatus::Paused)
    }

    /// Its tasks that are about a node, by number.
    pub fn tasks_of(&self, node: &NodeId) -> impl Iterator<Item = &Task> {
        self.by_node.get(node).into_iter().flatten().filter_map(|number| self.tasks.get(number))
    }
}

impl TaskState {
    /// As in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

impl Outcome {
    /// The last line that was printed, errors first.
    #[must_use]
    pub fn last_words(&self) -> Option<&str> {
        [&self.stderr, &self.stdout]
            .into_iter()
            .find_map(|text| text.lines().map(str::trim).rfind(|line| !line.is_empty()))
    }

    /// Whether the provider says that it failed before anything was made: codes 200 to 299.
    #[must_use]
    pub fn says_nothing_was_made(&self) -> bool {
        NOTHING_MADE.contains(&self.code)
    }
}

impl Task {
    /// The attempt under way.
    #[must_use]
    pub fn open_attempt(&self) -> Option<&Attempt> {
        self.attempts.last().filter(|attempt| attempt.outcome.is_none())
    }

    /// The name of the attempt under way.
    #[must_use]
    pub fn open_id(&self) -> Option<AttemptId> {
        self.open_attempt().map(|open| AttemptId { task: self.id.number, attempt: open.number })
    }

    /// The number the next attempt gets.
    #[must_use]
    pub fn next_attempt(&self) -> u32 {
        self.attempts.last().map_or(1, |last| last.number + 1)
    }
}
