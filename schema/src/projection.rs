//! The rows of the read tables: what lists and pages show without replaying a journal.

use std::sync::LazyLock;

use cooperage_domain::id::{ClusterId, JobId, NodeId, TaskId};
use cooperage_domain::task::TaskName;

use crate::ancestry::AncestryRow;
use crate::bulk::Holds::{Int, Text};
use crate::bulk::{Insert, Present};
use crate::durations::DurationSample;
use crate::foreseen::ForeseenRow;
use crate::occurrences::Occurrence;
use crate::sql::Value;
use crate::tables::{clusters, jobs, nodes, tasks};

/// What changed with the events of one append. Every row is whole and replaces the one with its id.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Projection {
    /// The cluster itself.
    pub cluster: Option<ClusterRow>,
    /// Nodes that changed.
    pub nodes: Vec<NodeRow>,
    /// Jobs that changed.
    pub jobs: Vec<JobRow>,
    /// Tasks that changed.
    pub tasks: Vec<TaskRow>,
    /// Durations that became known.
    pub durations: Vec<DurationSample>,
    /// What is foreseen of tasks that were planned.
    pub foreseen: Vec<ForeseenRow>,
    /// What hooks may have to be told.
    pub occurrences: Vec<Occurrence>,
    /// Whom the cluster is built upon.
    pub ancestry: Option<AncestryRow>,
    /// Nodes that the cluster has no more.
    pub gone: Vec<NodeId>,
}

/// One cluster, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterRow {
    /// Its id.
    pub id: ClusterId,
    /// Id of its tenant.
    pub tenant: String,
    /// Who asked for it.
    pub owner: String,
    /// Its name.
    pub name: String,
    /// Its status; [`TERMINATED`] is final.
    pub status: String,
    /// Name of its template.
    pub template: String,
    /// Name of its provider.
    pub provider: String,
    /// When it was asked for, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it expires, in milliseconds since 1970; 0 is never.
    pub expires_ms: i64,
    /// How many nodes it has; while a job is under way that may be undone, at least as many as it would have then.
    pub nodes: u32,
    /// Number of its latest job, if it has one.
    pub latest_job: Option<JobId>,
    /// Tasks planned by the latest job.
    pub steps_total: u32,
    /// Tasks of it that are over.
    pub steps_done: u32,
    /// The last message for people.
    pub message: Option<String>,
    /// What lists show beyond these columns, as JSON.
    pub summary: String,
}

/// Status of a cluster that is gone.
pub const TERMINATED: &str = "terminated";

/// One node of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRow {
    /// Its id.
    pub id: NodeId,
    /// The cluster that uses it.
    pub cluster: ClusterId,
    /// Id of the cluster's tenant.
    pub tenant: String,
    /// Its number in the cluster.
    pub number: u32,
    /// Its host name, once it has one.
    pub hostname: Option<String>,
    /// Its status.
    pub status: String,
    /// All that is shown of it, as JSON.
    pub document: String,
}

/// One job of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    /// Its id.
    pub id: JobId,
    /// What it does.
    pub action: String,
    /// Its status.
    pub status: String,
    /// When it began, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// When it was over.
    pub ended_ms: Option<i64>,
    /// Why it failed, or another word for people.
    pub message: Option<String>,
}

/// One task of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRow {
    /// Its id.
    pub id: TaskId,
    /// The node it is done to.
    pub node: NodeId,
    /// The service it is about; empty for tasks about the machine.
    pub service: String,
    /// What is done.
    pub name: TaskName,
    /// Its status.
    pub status: String,
    /// How often it was begun.
    pub attempts: u32,
    /// When the first attempt began, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// When the last attempt was over.
    pub ended_ms: Option<i64>,
    /// What the last attempt reported; 0 is success.
    pub code: Option<i64>,
}

pub(crate) static CLUSTERS: LazyLock<Insert<clusters::table>> = LazyLock::new(|| {
    Insert::new(
        "clusters",
        &[
            ("id", Int),
            ("tenant", Text),
            ("owner", Text),
            ("name", Text),
            ("status", Text),
            ("template", Text),
            ("provider", Text),
            ("created_ms", Int),
            ("expires_ms", Int),
            ("nodes", Int),
            ("latest_job", Int),
            ("steps_total", Int),
            ("steps_done", Int),
            ("message", Text),
            ("summary", Text),
        ],
        Present::Replace { key: &["id"] },
    )
});

pub(crate) static NODES: LazyLock<Insert<nodes::table>> = LazyLock::new(|| {
    Insert::new(
        "nodes",
        &[
            ("id", Text),
            ("cluster", Int),
            ("tenant", Text),
            ("number", Int),
            ("hostname", Text),
            ("status", Text),
            ("document", Text),
        ],
        Present::Replace { key: &["id"] },
    )
});

pub(crate) static JOBS: LazyLock<Insert<jobs::table>> = LazyLock::new(|| {
    Insert::new(
        "jobs",
        &[
            ("cluster", Int),
            ("number", Int),
            ("action", Text),
            ("status", Text),
            ("started_ms", Int),
            ("ended_ms", Int),
            ("message", Text),
        ],
        Present::Replace { key: &["cluster", "number"] },
    )
});

pub(crate) static TASKS: LazyLock<Insert<tasks::table>> = LazyLock::new(|| {
    Insert::new(
        "tasks",
        &[
            ("cluster", Int),
            ("number", Int),
            ("job", Int),
            ("node", Text),
            ("service", Text),
            ("name", Text),
            ("status", Text),
            ("attempts", Int),
            ("started_ms", Int),
            ("ended_ms", Int),
            ("code", Int),
        ],
        Present::Replace { key: &["cluster", "number"] },
    )
});

impl ClusterRow {
    pub(crate) fn values(&self) -> [Value<'_>; 15] {
        [
            Value::unsigned(self.id.0),
            Value::text(&self.tenant),
            Value::text(&self.owner),
            Value::text(&self.name),
            Value::text(&self.status),
            Value::text(&self.template),
            Value::text(&self.provider),
            Value::int(self.created_ms),
            Value::int(self.expires_ms),
            Value::int(self.nodes.into()),
            Value::Int(self.latest_job.map(|job| job.number.into())),
            Value::int(self.steps_total.into()),
            Value::int(self.steps_done.into()),
            Value::optional_text(self.message.as_deref()),
            Value::text(&self.summary),
        ]
    }
}

impl NodeRow {
    pub(crate) fn values(&self) -> [Value<'_>; 7] {
        [
            Value::text(self.id.as_str()),
            Value::unsigned(self.cluster.0),
            Value::text(&self.tenant),
            Value::int(self.number.into()),
            Value::optional_text(self.hostname.as_deref()),
            Value::text(&self.status),
            Value::text(&self.document),
        ]
    }
}

impl JobRow {
    pub(crate) fn values(&self) -> [Value<'_>; 7] {
        [
            Value::unsigned(self.id.cluster.0),
            Value::int(self.id.number.into()),
            Value::text(&self.action),
            Value::text(&self.status),
            Value::Int(self.started_ms),
            Value::Int(self.ended_ms),
            Value::optional_text(self.message.as_deref()),
        ]
    }
}

impl TaskRow {
    pub(crate) fn values(&self) -> [Value<'_>; 11] {
        [
            Value::unsigned(self.id.job.cluster.0),
            Value::int(self.id.number.into()),
            Value::int(self.id.job.number.into()),
            Value::text(self.node.as_str()),
            Value::text(&self.service),
            Value::text(self.name.as_str()),
            Value::text(&self.status),
            Value::int(self.attempts.into()),
            Value::Int(self.started_ms),
            Value::Int(self.ended_ms),
            Value::Int(self.code),
        ]
    }
}

impl Projection {
    /// The first row that is not of `cluster`, in words.
    pub(crate) fn foreign_row(&self, cluster: ClusterId) -> Option<String> {
        let foreign_cluster =
            self.cluster.iter().filter(|row| row.id != cluster).map(|row| row.id.to_string());
        let foreign_node =
            self.nodes.iter().filter(|row| row.cluster != cluster).map(|row| row.id.to_string());
        let foreign_job =
            self.jobs.iter().filter(|row| row.id.cluster != cluster).map(|row| row.id.to_string());
        let foreign_task =
            self.tasks.iter().filter(|row| row.id.job.cluster != cluster).map(|row| row.id.to_string());
        let ancestry = self.ancestry.iter().filter(|row| row.cluster != cluster);
        let foreseen = self.foreseen.iter().map(ForeseenRow::cluster).filter(|of| *of != cluster);
        let occurrences = self.occurrences.iter().filter(|row| row.cluster != cluster);
        let foreign_occurrence = occurrences.map(|row| row.cluster.to_string());
        let foreign = foreign_cluster.chain(foreign_node).chain(foreign_job).chain(foreign_task);
        let foreign = foreign.chain(foreseen.map(|of| of.to_string()));
        foreign.chain(foreign_occurrence).chain(ancestry.map(|row| row.cluster.to_string())).next()
    }
}
