//! What happened to a cluster. The journal holds nothing else.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ancestry::Published;
use super::care::CareChange;
use super::create::CreateOrder;
use super::follow_up::FollowUp;
use super::job::{Outcome, is_default};
use super::rollout::Rollout;
use super::state::ClusterStatus;
use super::wanted_change::WantedChange;
use crate::entity::{ClusterTemplate, Service};
use crate::id::{ClusterId, NodeId};
use crate::plan::{ClusterAction, Wanted};
use crate::task::{NodeProperties, TaskName, TaskReport};

/// Version of the shapes below, written beside each event. A reader refuses newer ones and understands all older ones.
/// Version 2 added what happens to living clusters: services, configuration, template, lease, pauses. Version 3 added
/// changes of anything that is wanted, probes, jobs that grow, what comes after a job, health and maintenance, kinds of failures,
/// and warnings before leases end. Version 4 added clusters on clusters.
pub const EVENT_VERSION: u32 = 4;

/// One thing that happened. Times are milliseconds since 1970; tasks and jobs are named by their numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A cluster was asked for: the first event of every cluster.
    ClusterRequested {
        /// When.
        at: i64,
        /// All that was asked for, with copies of what it named.
        order: Box<CreateOrder>,
    },
    /// The solver found its nodes; job 1 is complete.
    LayoutFound {
        /// When.
        at: i64,
        /// By id.
        nodes: BTreeMap<NodeId, NodeProperties>,
    },
    /// There is no layout; job 1 has failed and the cluster is terminated.
    LayoutRefused {
        /// When.
        at: i64,
        /// Why, for people.
        message: String,
    },
    /// A job was accepted, with its graph.
    JobPlanned {
        /// When.
        at: i64,
        /// Its number.
        job: u32,
        /// What was asked for.
        action: ClusterAction,
        /// Who asked.
        by: String,
        /// Its tasks.
        tasks: Vec<PlannedStep>,
        /// How it goes through the nodes; absent: as fast as it can.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rollout: Option<Rollout>,
    },
    /// A job got more tasks: what it did showed that more is to be done.
    JobExtended {
        /// When.
        at: i64,
        /// Its number.
        job: u32,
        /// The further tasks.
        tasks: Vec<PlannedStep>,
    },
    /// Something else is wanted than before.
    WantedChanged {
        /// When.
        at: i64,
        /// What.
        change: Box<WantedChange>,
        /// Who asked.
        by: String,
    },
    /// What is to be done as soon as the job has ended.
    FollowUpSet {
        /// When this was decided.
        at: i64,
        /// What comes then.
        then: FollowUp,
        /// Who asked.
        by: String,
    },
    /// A probe has ended that was only to find out.
    UnitProbed {
        /// Which task.
        task: u32,
        /// How the attempt ended; code 0: the service is well.
        outcome: Outcome,
    },
    /// Services are wanted in a state, on all nodes that carry them.
    ServicesWanted {
        /// When.
        at: i64,
        /// Their names.
        services: BTreeSet<String>,
        /// The state.
        wanted: Wanted,
        /// Steps they take once more, wherever they are.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        renew: BTreeSet<TaskName>,
        /// Who asked.
        by: String,
    },
    /// Services were put on nodes, whose machines are to be made ready for them.
    ServicesAdded {
        /// When.
        at: i64,
        /// By node, what it gets.
        placed: BTreeMap<NodeId, BTreeSet<String>>,
        /// The added services as they are now, by name.
        definitions: BTreeMap<String, Service>,
        /// Who asked.
        by: String,
    },
    /// The configuration was replaced, and is to be written on the nodes.
    ConfigReplaced {
        /// When.
        at: i64,
        /// The whole new one, with macros as written.
        config: Map<String, Value>,
        /// Whether running services are restarted to take it up.
        restart: bool,
        /// Who asked.
        by: String,
    },
    /// The template was replaced by a newer version.
    TemplateReplaced {
        /// When.
        at: i64,
        /// The newer version.
        template: Box<ClusterTemplate>,
        /// Who asked.
        by: String,
    },
    /// The lease ends at another time.
    LeaseChanged {
        /// When this was decided.
        at: i64,
        /// When it ends.
        expires: i64,
        /// Who asked.
        by: String,
    },
    /// Those whom it concerns are told that the lease ends soon.
    LeaseWarned {
        /// When.
        at: i64,
        /// When the lease ends.
        expires: i64,
    },
    /// Values for the provider were given, none of them secret.
    ProviderFieldsGiven {
        /// When.
        at: i64,
        /// They take the place of values of the same name.
        fields: Map<String, Value>,
        /// Who gave them.
        by: String,
    },
    /// A job starts nothing new until it is resumed.
    JobPaused {
        /// When.
        at: i64,
        /// Its number.
        job: u32,
        /// Who asked.
        by: String,
        /// Why, when nobody asked but a rollout did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A paused job goes on.
    JobResumed {
        /// When.
        at: i64,
        /// Its number.
        job: u32,
        /// Who asked.
        by: String,
    },
    /// How the cluster is cared for has changed, or what is known of its health.
    CareChanged {
        /// When.
        at: i64,
        /// What.
        change: CareChange,
        /// Who asked, or found it.
        by: String,
    },
    /// Another cluster is built upon this one.
    ChildAdopted {
        /// When.
        at: i64,
        /// The cluster.
        child: ClusterId,
        /// Its name.
        name: String,
        /// What it needs of this one: names of services, or of what services provide.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        needs: BTreeSet<String>,
    },
    /// A cluster is not built upon this one any more.
    ChildReleased {
        /// When.
        at: i64,
        /// The cluster.
        child: ClusterId,
    },
    /// A cluster that this one is built upon publishes something else.
    Inherited {
        /// When this was learned.
        at: i64,
        /// The cluster.
        from: ClusterId,
        /// What it publishes, and then what its own ancestors do.
        lineage: Vec<Published>,
    },
    /// A task was handed to a worker.
    AttemptStarted {
        /// When.
        at: i64,
        /// Which.
        task: u32,
        /// From 1.
        attempt: u32,
        /// Who executes it.
        worker: String,
        /// Hash of the values that the service is brought up with, where this step is the one that takes them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inputs: Option<String>,
    },
    /// An attempt succeeded.
    TaskSucceeded {
        /// When.
        at: i64,
        /// Which.
        task: u32,
        /// What it reported; what it printed is not kept.
        report: Box<TaskReport>,
    },
    /// An attempt failed.
    TaskFailed {
        /// Which.
        task: u32,
        /// How, with the last of what it printed.
        outcome: Outcome,
        /// What it reported for later tasks all the same.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        result: Map<String, Value>,
        /// What comes next.
        next: FailedNext,
    },
    /// A job will start nothing more: a task failed for good, or somebody aborted it.
    JobFailed {
        /// When.
        at: i64,
        /// Its number.
        job: u32,
        /// Why, for people.
        message: String,
        /// Who aborted it; nobody when a task failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// Whether what runs is to be stopped, and not waited for.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        stop: bool,
    },
    /// A job's last task ended.
    JobEnded {
        /// When.
        at: i64,
        /// Its number.
        job: u32,
        /// What the cluster is now.
        status: ClusterStatus,
        /// Why, for people; replaces the job's message when there is one.
        message: Option<String>,
    },
}

/// What comes after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "next", rename_all = "snake_case")]
pub enum FailedNext {
    /// The same again.
    Repeat {
        /// Not before this time, in ms.
        not_before: i64,
    },
    /// A machine that does not come up is given back and made anew, then confirmed again.
    Recreate {
        /// Not before this time, in ms.
        not_before: i64,
        /// Number of the new DELETE task.
        delete: u32,
        /// Number of the new CREATE task.
        create: u32,
    },
    /// Nothing: no attempts are left, or the job starts nothing more.
    GiveUp,
}

/// A task as planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedStep {
    /// Unique in the cluster.
    pub number: u32,
    /// What is done.
    pub name: TaskName,
    /// To which node.
    pub node: NodeId,
    /// To which service; `None` for the machine itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// Numbers of the tasks it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<u32>,
    /// How long it waits once nothing else holds it up, in ms: the pause of a rollout.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delay: i64,
    /// Name of the errand that it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errand: Option<String>,
}
