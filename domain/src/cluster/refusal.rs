//! Why a command is not carried out.

use std::collections::BTreeMap;

use super::state::ClusterStatus;
use crate::id::ClusterId;
use crate::invalid::Invalid;
use crate::layout::NoLayout;
use crate::plan::{ClusterAction, PlanError};

/// Why a command is not carried out. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The input has a fault.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The cluster is not in a state for it.
    #[error("cluster {cluster} is {status}: it cannot be {asked}; {remedy}")]
    WrongState {
        /// Its id.
        cluster: String,
        /// What it is.
        status: ClusterStatus,
        /// What was asked, as a participle ("deleted").
        asked: &'static str,
        /// What to do about it.
        remedy: &'static str,
    },
    /// Other clusters are built upon it.
    #[error("cluster {cluster} carries other clusters: {}; delete those first", listed(children))]
    HasChildren {
        /// Its id.
        cluster: String,
        /// Names of those on top of it.
        children: BTreeMap<ClusterId, String>,
    },
    /// Other clusters require what would be gone.
    #[error(
        "{service} of cluster {cluster} is required by other clusters: {}; keep it, or change or delete those first",
        listed(children)
    )]
    NeededByChildren {
        /// Its id.
        cluster: String,
        /// The service, or what it provides.
        service: String,
        /// Names of those that require it.
        children: BTreeMap<ClusterId, String>,
    },
    /// The cluster has no such service.
    #[error("cluster {cluster} has no service {service:?}; name one of its services")]
    UnknownService {
        /// Its id.
        cluster: String,
        /// The name.
        service: String,
    },
    /// The job under way changes nothing that could be wanted back.
    #[error("{action} of cluster {cluster} cannot be undone; stop it without undoing it")]
    NoWayBack {
        /// Its id.
        cluster: String,
        /// What the job does.
        action: ClusterAction,
    },
    /// The nodes cannot carry what is asked.
    #[error(transparent)]
    NoLayout(#[from] NoLayout),
    /// What is asked cannot be planned.
    #[error(transparent)]
    NoPlan(#[from] PlanError),
    /// The report or request is about a task that is not at that point (any more); it changes nothing.
    #[error("task {task} has no open attempt {attempt}; the report is too late or not about this cluster")]
    StaleAttempt {
        /// Number of the task.
        task: u32,
        /// Number of the attempt.
        attempt: u32,
    },
    /// The task may not start now.
    #[error("task {task} cannot start now: {reason}")]
    NotReady {
        /// Number of the task.
        task: u32,
        /// Why, for people.
        reason: &'static str,
    },
}

/// Clusters by name and id.
fn listed(clusters: &BTreeMap<ClusterId, String>) -> String {
    let named: Vec<String> = clusters.iter().map(|(id, name)| format!("{name} ({id})")).collect();
    named.join(", ")
}
