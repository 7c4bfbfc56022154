//! A cluster as it is: what was asked for, the nodes it has, and the jobs that changed it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::ancestry::Kin;
use super::care::Care;
use super::follow_up::FollowUp;
use super::job::{AttemptId, Job, Task};
use super::limits::Limits;
use super::refusal::Refusal;
use super::revision::Revision;
use crate::entity::{ClusterTemplate, Provider, Service};
use crate::id::{ClusterId, JobId, NodeId};
use crate::invalid::Invalid;
use crate::layout::FIRST_NODE_NUMBER;
use crate::plan::{ClusterAction, Observed, Unit, UnitId, Units, Wanted, defines};
use crate::task::{NodeProperties, TaskName};

/// Who a cluster belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// The user.
    pub user_id: String,
    /// Internal id of the user's tenant.
    pub tenant_id: String,
}

/// What a cluster as a whole can be asked to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClusterStatus {
    /// A job is under way.
    Pending,
    /// Usable.
    Active,
    /// A create or delete ended half-way; a create can be retried, and the cluster deleted.
    Incomplete,
    /// A change to a usable cluster ended half-way; it can be retried, configured or deleted.
    Inconsistent,
    /// It has no machines and never will.
    Terminated,
}

impl ClusterStatus {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::Active, Self::Incomplete, Self::Inconsistent, Self::Terminated];

    /// As in Coopr's JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Incomplete => "incomplete",
            Self::Inconsistent => "inconsistent",
            Self::Terminated => "terminated",
        }
    }
}

impl fmt::Display for ClusterStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A cluster: the fold of its events. Changed by [`apply`](super::apply()) only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// Its id.
    pub id: ClusterId,
    /// Its name; need not be unique.
    pub name: String,
    /// Free text.
    pub description: String,
    /// Whose it is.
    pub account: Account,
    /// When it was asked for, in ms since 1970.
    pub created: i64,
    /// When it is deleted by itself, in ms since 1970; 0 is never.
    pub expires: i64,
    /// The end of its lease that was last warned of, in ms since 1970; 0 before the first warning.
    #[serde(default)]
    pub warned_of: i64,
    /// The provider as it was then, with the values given by the request that are no secrets.
    pub provider: Provider,
    /// The template as it was then.
    pub template: ClusterTemplate,
    /// Names of the services asked for.
    pub services: BTreeSet<String>,
    /// The services as they were when they were placed, by name.
    pub definitions: BTreeMap<String, Service>,
    /// Configuration with macros as written.
    pub config: Map<String, Value>,
    /// From which node ids are derived.
    pub seed: Uuid,
    /// Limits its jobs run under.
    pub limits: Limits,
    /// What it can be asked to do next.
    pub status: ClusterStatus,
    /// By id.
    pub nodes: BTreeMap<NodeId, Node>,
    /// What is wanted and what is known of every machine, and of every service on it.
    pub units: Units,
    /// By number, from 1. Shared by all copies of this state until one of them changes a job, which only happens to the
    /// latest: so a copy costs no time by how many jobs there were.
    #[serde(with = "super::shared_jobs")]
    pub jobs: BTreeMap<u32, Arc<Job>>,
    /// Number of the newest task of all jobs; 0 before the first.
    pub last_task: u32,
    /// What is known of its health, and what is left alone for maintenance.
    #[serde(default, skip_serializing_if = "Care::is_empty")]
    pub care: Care,
    /// Number of events applied.
    pub sequence: u64,
    /// The highest node number that was ever given; numbers are not given twice.
    #[serde(default)]
    pub last_node: u32,
    /// What was wanted before the last change of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Box<Revision>>,
    /// What is to be done as soon as the job has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<FollowUp>,
    /// Whom it is built upon, and who is built upon it.
    #[serde(default, skip_serializing_if = "Kin::is_empty")]
    pub kin: Kin,
}

/// A node: a cluster's use of one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Its id.
    pub id: NodeId,
    /// What is known of it.
    pub properties: NodeProperties,
    /// Configuration for it alone, over that of the cluster; with macros as written.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
    /// What its tasks reported, laid beside the rest of what later tasks are given. Belongs to the present machine.
    pub results: Map<String, Value>,
    /// The attempt at CREATE since which there may be a machine, even if the provider said that it failed; `None` when
    /// there is certainly none: nobody asked, nothing was made, or it has been given back.
    pub asked: Option<AttemptId>,
    /// The host name it was given when it was laid out. A machine may report another one, which goes with it.
    pub given_hostname: Option<String>,
}

impl Node {
    /// A node that has no machine yet.
    #[must_use]
    pub fn new(id: NodeId, properties: NodeProperties) -> Self {
        let given_hostname = properties.hostname.clone();
        Self { id, properties, config: Map::new(), results: Map::new(), asked: None, given_hostname }
    }

    /// Whether a machine must be given back before the node can be forgotten.
    #[must_use]
    pub const fn may_have_machine(&self) -> bool {
        self.asked.is_some()
    }

    /// What was learned of a machine goes with it.
    pub(super) fn forget_machine(&mut self) {
        self.asked = None;
        self.results.clear();
        self.properties.ipaddresses.clear();
        self.properties.hostname.clone_from(&self.given_hostname);
    }
}

impl Cluster {
    /// The job asked for last. There is always one, since every cluster begins with a job.
    #[must_use]
    pub fn latest_job(&self) -> Option<&Job> {
        self.jobs.values().next_back().map(Arc::as_ref)
    }

    /// A job by its number.
    #[must_use]
    pub fn job(&self, number: u32) -> Option<&Job> {
        self.jobs.get(&number).map(Arc::as_ref)
    }

    /// The id of a job of this cluster.
    #[must_use]
    pub const fn job_id(&self, number: u32) -> JobId {
        JobId { cluster: self.id, number }
    }

    /// The number the next job gets.
    #[must_use]
    pub fn next_job(&self) -> u32 {
        self.jobs.keys().next_back().map_or(1, |last| last + 1)
    }

    /// How long an attempt at a task may take, in ms: what its service says, else what is set for such tasks.
    #[must_use]
    pub fn time_of(&self, task: &Task) -> i64 {
        let service = task.service.as_ref().and_then(|name| self.definitions.get(name));
        let action = service.zip(task.name.service_action());
        let own = action.and_then(|(service, action)| service.provisioner.actions.get(&action)?.timeout);
        own.map_or_else(|| self.limits.time_of(task.name), |seconds| i64::from(seconds) * 1000)
    }

    /// When a task that may start has waited for a worker for too long, in ms. Only what is ready waits for one.
    #[must_use]
    pub fn queue_deadline(&self, job: &Job, task: &Task) -> Option<i64> {
        let since = task.ready_since.filter(|_| job.ready.contains(&task.id.number))?;
        Some(since.max(task.not_before).saturating_add(self.limits.wait_of(task.name)?))
    }

    /// Whether a service of the cluster has such a step.
    pub(super) fn defines(&self, service: &str, step: TaskName) -> bool {
        self.definitions.get(service).is_some_and(|definition| defines(definition, step))
    }

    /// Whether a service is meant to run.
    pub(super) fn wants_running(&self, service: &str) -> bool {
        let named = |id: &UnitId| id.service.as_deref() == Some(service);
        self.units.iter().any(|(id, unit)| named(id) && unit.wanted == Wanted::Running)
    }

    /// The number the next new node gets.
    #[must_use]
    pub fn next_node(&self) -> u32 {
        let highest = self.nodes.values().map(|node| node.properties.nodenum).max();
        // Clusters stored by earlier versions know no last number.
        highest.unwrap_or(FIRST_NODE_NUMBER - 1).max(self.last_node) + 1
    }

    /// Whether a node is on its way out of a cluster that stays.
    #[must_use]
    pub fn is_leaving(&self, node: &NodeId) -> bool {
        let wanted = |unit: &Unit| unit.wanted != Wanted::Absent;
        let of = |id: &NodeId| self.units.get(&UnitId::machine(id.clone()));
        of(node).is_some_and(|unit| !wanted(unit))
            && self.nodes.keys().any(|other| of(other).is_some_and(wanted))
    }

    /// All nodes that are.
    pub(super) fn leaving(&self) -> BTreeSet<&NodeId> {
        let machines =
            self.units.iter().filter(|(id, _)| id.is_machine() && self.nodes.contains_key(&id.node));
        let (gone, stay): (Vec<_>, Vec<_>) = machines.partition(|(_, unit)| unit.wanted == Wanted::Absent);
        if stay.is_empty() { BTreeSet::new() } else { gone.into_iter().map(|(id, _)| &id.node).collect() }
    }

    /// Whether what is wanted of it can be changed: it is at rest, with its nodes known and usable as a rule.
    #[must_use]
    pub const fn may_change(&self) -> bool {
        matches!(self.status, ClusterStatus::Active | ClusterStatus::Inconsistent)
    }

    /// Whether the job asked for last was its delete.
    pub(super) fn was_deleted(&self) -> bool {
        self.latest_job().is_some_and(|job| job.action == ClusterAction::ClusterDelete)
    }

    /// These nodes, of which there must be at least one.
    pub(super) fn nodes_named(&self, nodes: &BTreeSet<NodeId>) -> Result<BTreeSet<NodeId>, Refusal> {
        if nodes.is_empty() {
            let remedy = "name nodes of the cluster by id";
            return Err(Invalid::new("nodes", "", "names no node", remedy).into());
        }
        match nodes.iter().find(|id| !self.nodes.contains_key(*id)) {
            Some(unknown) => {
                let fault = format!("is no node of cluster {}", self.id);
                Err(Invalid::new("nodes", unknown.as_str(), fault, "name nodes of the cluster by id").into())
            }
            None => Ok(nodes.clone()),
        }
    }

    /// Whether a service is about to be brought up for the first time on its machine.
    pub(super) fn is_new(&self, unit: &UnitId) -> bool {
        !unit.is_machine() && self.units.get(unit).is_some_and(|it| it.observed == Observed::Absent)
    }

    /// Whether a node carries one of these services, or did until it was asked to lose it.
    pub(super) fn carries_any(&self, node: &NodeId, services: &BTreeSet<&str>) -> bool {
        let of_node = |id: &&UnitId| id.node == *node;
        self.units
            .keys()
            .filter(of_node)
            .any(|id| id.service.as_deref().is_some_and(|it| services.contains(it)))
    }

    /// Nodes in the order of their numbers.
    #[must_use]
    pub fn nodes_by_number(&self) -> Vec<&Node> {
        let mut nodes: Vec<_> = self.nodes.values().collect();
        nodes.sort_by_key(|node| node.properties.nodenum);
        nodes
    }
}
