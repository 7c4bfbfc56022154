//! Tasks as the outside sees them: their names, what a worker is given, and what it reports.
//!
//! The JSON of [`TaskOrder`] and [`TaskReport`] is Coopr's worker protocol.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::entity::{Provider, ServiceAction};
use crate::error_kind::ErrorKind;
use crate::id::{ClusterId, JobId, NodeId, TaskId};
use crate::neighbours::Neighbours;

/// One thing done to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum TaskName {
    /// Ask the provider for a machine.
    Create,
    /// Wait until the machine is there and reachable.
    Confirm,
    /// Prepare the machine for its automators.
    Bootstrap,
    /// Put a service's files on the node.
    Install,
    /// Write a service's configuration.
    Configure,
    /// Prepare a service's data.
    Initialize,
    /// Make a service run.
    Start,
    /// Make a service rest.
    Stop,
    /// Take a service's files off the node.
    Remove,
    /// Give the machine back.
    Delete,
    /// Find out whether a service is well.
    Probe,
    /// Run an errand of a service: something it offers beside its life, such as a backup.
    Errand,
}

impl TaskName {
    /// Whether it is about the machine and not about one of its services.
    #[must_use]
    pub const fn is_machine_task(self) -> bool {
        matches!(self, Self::Create | Self::Confirm | Self::Bootstrap | Self::Delete)
    }

    /// The service action that carries it out; `None` for machine tasks.
    #[must_use]
    pub const fn service_action(self) -> Option<ServiceAction> {
        match self {
            Self::Install => Some(ServiceAction::Install),
            Self::Configure => Some(ServiceAction::Configure),
            Self::Initialize => Some(ServiceAction::Initialize),
            Self::Start => Some(ServiceAction::Start),
            Self::Stop => Some(ServiceAction::Stop),
            Self::Remove => Some(ServiceAction::Remove),
            Self::Probe => Some(ServiceAction::Probe),
            Self::Errand => Some(ServiceAction::Errand),
            Self::Create | Self::Confirm | Self::Bootstrap | Self::Delete => None,
        }
    }

    /// As in Coopr's JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Confirm => "CONFIRM",
            Self::Bootstrap => "BOOTSTRAP",
            Self::Install => "INSTALL",
            Self::Configure => "CONFIGURE",
            Self::Initialize => "INITIALIZE",
            Self::Start => "START",
            Self::Stop => "STOP",
            Self::Remove => "REMOVE",
            Self::Delete => "DELETE",
            Self::Probe => "PROBE",
            Self::Errand => "ERRAND",
        }
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is known of a node. Addresses by kind: `access_v4` is reachable from outside, `bind_v4` is for services to bind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NodeProperties {
    /// Host name with domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// By kind of address.
    #[serde(default)]
    pub ipaddresses: BTreeMap<String, String>,
    /// Number in the cluster, from 1000.
    #[serde(default)]
    pub nodenum: u32,
    /// Name of the hardware type.
    #[serde(default)]
    pub hardwaretype: String,
    /// Name of the image type.
    #[serde(default)]
    pub imagetype: String,
    /// The provider's word for the hardware type.
    #[serde(default)]
    pub flavor: String,
    /// The provider's word for the image type.
    #[serde(default)]
    pub image: String,
    /// Who to log in as.
    #[serde(default)]
    pub sshuser: String,
    /// Names of the services on it.
    #[serde(default)]
    pub services: BTreeSet<String>,
    /// Automator types its services use.
    #[serde(default)]
    pub automators: BTreeSet<String>,
}

/// What a worker is given: one task, with all it needs to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskOrder {
    /// The task.
    #[schema(value_type = String)]
    pub task_id: TaskId,
    /// Its job.
    #[schema(value_type = String)]
    pub job_id: JobId,
    /// Its cluster.
    #[schema(value_type = String)]
    pub cluster_id: ClusterId,
    /// What is to be done.
    #[schema(value_type = String)]
    pub task_name: TaskName,
    /// To which node.
    #[schema(value_type = String)]
    pub node_id: NodeId,
    /// Which attempt of the task this is, from 1. Task and attempt together name one execution: given again, it is the
    /// same execution, to be found and not repeated.
    #[serde(default = "first")]
    pub attempt: u32,
    /// All that is known.
    pub config: TaskConfig,
}

impl TaskOrder {
    /// As JSON for a worker. What it says of all nodes comes last, as it was written for the orders before.
    ///
    /// # Errors
    /// When a value cannot be written as JSON.
    pub fn into_json(mut self) -> serde_json::Result<String> {
        let nodes = std::mem::take(&mut self.config.nodes);
        let mut json = serde_json::to_string(&self)?;
        // Of the configuration and of the order itself; the configuration always says something.
        let end = json.split_off(json.len().saturating_sub(2));
        json.push_str(",\"nodes\":");
        json.push_str(&nodes.json());
        json.push_str(&end);
        Ok(json)
    }
}

const fn first() -> u32 {
    1
}

/// What a worker knows about cluster, service and node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskConfig {
    /// Cluster configuration: macros expanded for service tasks, raw for machine tasks.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub cluster: Map<String, Value>,
    /// The service and its action; only for service tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceOrder>,
    /// This node.
    #[serde(flatten)]
    pub node: NodeProperties,
    /// The provider with all its values, secret ones included.
    #[serde(default)]
    pub provider: Provider,
    /// All nodes of the cluster, this one included.
    #[serde(default, skip_serializing_if = "Neighbours::is_empty")]
    #[schema(value_type = BTreeMap<String, NodeProperties>)]
    pub nodes: Neighbours,
    /// What earlier tasks of this node reported under `result`, laid flat beside the rest.
    #[serde(flatten)]
    #[schema(ignore)]
    pub results: Map<String, Value>,
}

/// The service a task is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ServiceOrder {
    /// Its name.
    pub name: String,
    /// Automator and fields.
    pub action: crate::entity::ActionSpec,
    /// The values that the service declares to take, by the names it gives them.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub inputs: Map<String, Value>,
}

/// What a worker reports of one task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskReport {
    /// 0 is success. 200 to 299: failed before anything was made.
    #[serde(deserialize_with = "crate::lenient::number")]
    pub status: i64,
    /// Merged key by key into what later tasks of this node are given.
    #[serde(
        default,
        deserialize_with = "crate::lenient::null_as_default",
        skip_serializing_if = "Map::is_empty"
    )]
    #[schema(value_type = Object)]
    pub result: Map<String, Value>,
    /// Replaces the host name, on success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// Replaces the addresses, on success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipaddresses: Option<BTreeMap<String, String>>,
    /// What kind of failure it was, if the plugin knows: it decides whether and when the task is tried again.
    #[serde(default, rename = "errorKind", skip_serializing_if = "Option::is_none")]
    pub error_kind: Option<ErrorKind>,
    /// What was printed; kept for failures.
    #[serde(
        default,
        deserialize_with = "crate::lenient::null_as_default",
        skip_serializing_if = "String::is_empty"
    )]
    pub stdout: String,
    /// What was printed as errors; kept for failures.
    #[serde(
        default,
        deserialize_with = "crate::lenient::null_as_default",
        skip_serializing_if = "String::is_empty"
    )]
    pub stderr: String,
}

impl TaskReport {
    /// Success without more to say.
    #[must_use]
    pub fn success() -> Self {
        Self::default()
    }

    /// Failure with a code that is not 0 and a text for people.
    #[must_use]
    pub fn failure(status: i64, stderr: impl Into<String>) -> Self {
        Self { status, stderr: stderr.into(), ..Self::default() }
    }

    /// The same, of this kind.
    #[must_use]
    pub fn of_kind(mut self, kind: ErrorKind) -> Self {
        self.error_kind = Some(kind);
        self
    }

    /// Whether the task was done.
    #[must_use]
    pub const fn succeeded(&self) -> bool {
        self.status == 0
    }
}
