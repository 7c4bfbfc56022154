//! What a cluster can be told. A cluster that does not exist yet is told nothing: see [`create`](super::create()).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ancestry::Published;
use super::care::CareChange;
use super::resize::Resize;
use super::revision::Revision;
use super::rollout::Rollout;
use super::services::ServiceChange;
use crate::entity::{ClusterTemplate, Service};
use crate::id::{ClusterId, NodeId};
use crate::task::TaskReport;

/// What a cluster can be told. Stored as JSON where it is to be told later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tell", rename_all = "snake_case")]
pub enum Command {
    /// Give all machines back.
    Delete {
        /// Whether a job under way is stopped for it. Otherwise the cluster must be at rest.
        now: bool,
        /// Who asks.
        by: String,
    },
    /// Stop the job under way, whatever it does.
    Cancel {
        /// Whether what was wanted before is wanted again; a create that is undone is deleted.
        undo: bool,
        /// Who asks.
        by: String,
    },
    /// Make more machines, or give some back.
    Resize {
        /// To what.
        resize: Box<Resize>,
        /// Who asks.
        by: String,
    },
    /// Take services off the cluster.
    RemoveServices {
        /// Their names.
        services: BTreeSet<String>,
        /// Who asks.
        by: String,
    },
    /// Make machines anew, with all that is on them.
    Replace {
        /// Their nodes.
        nodes: BTreeSet<NodeId>,
        /// Whether they are lost: why they are made anew is told so, and their services are not expected to end.
        lost: bool,
        /// How it goes through the nodes.
        rollout: Option<Rollout>,
        /// Who asks.
        by: String,
    },
    /// Write another configuration where the values are taken that change.
    Reconfigure {
        /// The whole new configuration.
        config: Map<String, Value>,
        /// What changes in the configuration of single nodes, by node; `null` takes a value away.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        nodes: BTreeMap<NodeId, Map<String, Value>>,
        /// How it goes through the nodes.
        rollout: Option<Rollout>,
        /// Who asks.
        by: String,
    },
    /// Take over newer versions of the template and the services.
    Upgrade {
        /// The template, if it is to change.
        template: Option<Box<ClusterTemplate>>,
        /// The services that are to change, by name.
        definitions: BTreeMap<String, Service>,
        /// How it goes through the nodes.
        rollout: Option<Rollout>,
        /// Who asks.
        by: String,
    },
    /// Go back to what was wanted once.
    RollBack {
        /// What was wanted.
        to: Box<Revision>,
        /// How it goes through the nodes.
        rollout: Option<Rollout>,
        /// Who asks.
        by: String,
    },
    /// Look at every service.
    Converge {
        /// Whether those that are not as wanted are brought up.
        mend: bool,
        /// Who asks.
        by: String,
    },
    /// Run an errand of a service.
    RunErrand {
        /// The service.
        service: String,
        /// The errand's name.
        errand: String,
        /// On these nodes; as the errand says when there are none.
        nodes: BTreeSet<NodeId>,
        /// Who asks.
        by: String,
    },
    /// Go on from where a failed create, or a failed change to a usable cluster, stopped.
    Retry {
        /// Who asks.
        by: String,
    },
    /// Start nothing more of the running create.
    Abort {
        /// Who asks.
        by: String,
    },
    /// Start, stop or restart services.
    ChangeServices {
        /// To what.
        change: ServiceChange,
        /// Which one, with those it takes along; all when `None`.
        service: Option<String>,
        /// Who asks.
        by: String,
    },
    /// Replace the configuration and write it on the nodes.
    Configure {
        /// The whole new configuration.
        config: Map<String, Value>,
        /// Whether services are restarted to take it up.
        restart: bool,
        /// Who asks.
        by: String,
    },
    /// Put more services on the nodes.
    AddServices {
        /// Their names.
        services: BTreeSet<String>,
        /// All services of the tenant as they are now.
        known: Vec<Service>,
        /// Who asks.
        by: String,
    },
    /// Start nothing new until resumed.
    Pause {
        /// Who asks.
        by: String,
    },
    /// Go on with a paused job.
    Resume {
        /// Who asks.
        by: String,
    },
    /// End the lease at another time.
    Prolong {
        /// When, in ms since 1970.
        expires: i64,
        /// Who asks.
        by: String,
    },
    /// Say that the lease ends soon, if it does and nobody has said it of this end.
    WarnOfExpiry,
    /// Take over a newer version of the template.
    SyncTemplate {
        /// The newest version.
        template: Box<ClusterTemplate>,
        /// Who asks.
        by: String,
    },
    /// Keep new values for the provider, and do the rest with them.
    GiveFields {
        /// The values, none of them secret.
        fields: Map<String, Value>,
        /// The rest.
        command: Box<Command>,
        /// Who asks.
        by: String,
    },
    /// Note what was found out about health, begin or end maintenance, or care for it in another way.
    Care {
        /// What changes.
        changes: Vec<CareChange>,
        /// Who asks, or found it.
        by: String,
    },
    /// Note that a cluster is, or is to be, built upon this one, and what it needs of it.
    Adopt {
        /// The cluster.
        child: ClusterId,
        /// Its name.
        name: String,
        /// Names of services, or of what services provide.
        needs: BTreeSet<String>,
    },
    /// Note that a cluster is not built upon this one any more.
    Release {
        /// The cluster.
        child: ClusterId,
    },
    /// Take over what a cluster that this one is built upon publishes now.
    Inherit {
        /// The cluster.
        from: ClusterId,
        /// What it publishes, and then what its own ancestors do, the nearest first.
        lineage: Vec<Published>,
    },
    /// A node and a worker are free for this task.
    StartAttempt {
        /// Number of the task.
        task: u32,
        /// Who will execute it.
        worker: String,
    },
    /// A worker is done.
    FinishAttempt {
        /// Number of the task.
        task: u32,
        /// Number of the attempt; an older one is refused.
        attempt: u32,
        /// What it reports.
        report: TaskReport,
    },
    /// Nobody has taken a task for so long that it is given up. Refused when it is not at that point.
    TimeOutQueue {
        /// Number of the task.
        task: u32,
        /// What it waited for, for people: continues the sentence "it waited …".
        why: String,
    },
    /// An attempt's time is up. Refused when it ended meanwhile.
    TimeOutAttempt {
        /// Number of the task.
        task: u32,
        /// Number of the attempt.
        attempt: u32,
    },
}

impl Command {
    /// Whether it may bring a cluster nodes, so that quotas have to be looked at.
    #[must_use]
    pub fn may_add_nodes(&self) -> bool {
        match self {
            Self::Resize { resize, .. } => matches!(**resize, Resize::Grow { .. }),
            Self::RollBack { .. } => true,
            Self::GiveFields { command, .. } => command.may_add_nodes(),
            Self::Delete { .. }
            | Self::Cancel { .. }
            | Self::RemoveServices { .. }
            | Self::Replace { .. }
            | Self::Reconfigure { .. }
            | Self::Upgrade { .. }
            | Self::Converge { .. }
            | Self::RunErrand { .. }
            | Self::Retry { .. }
            | Self::Abort { .. }
            | Self::ChangeServices { .. }
            | Self::Configure { .. }
            | Self::AddServices { .. }
            | Self::Pause { .. }
            | Self::Resume { .. }
            | Self::Prolong { .. }
            | Self::WarnOfExpiry
            | Self::SyncTemplate { .. }
            | Self::Care { .. }
            | Self::Adopt { .. }
            | Self::Release { .. }
            | Self::Inherit { .. }
            | Self::StartAttempt { .. }
            | Self::FinishAttempt { .. }
            | Self::TimeOutQueue { .. }
            | Self::TimeOutAttempt { .. } => false,
        }
    }
}
