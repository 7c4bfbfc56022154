//! What a live cluster is told and asked.

use std::sync::Arc;

use actix::Message;
use cooperage_domain::cluster::{self, Command, Event, Refusal};
use cooperage_domain::id::NodeId;
use cooperage_domain::task::{TaskOrder, TaskReport};

use crate::callbacks::GateError;
use crate::journal::RecordError;

/// Why a cluster did not do what it was told.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OperateError {
    /// It refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The decision could not be made durable, so nothing has happened.
    #[error("the decision could not be recorded: {0}")]
    NotRecorded(#[from] RecordError),
    /// Something has happened to it since the state that the command was made for.
    #[error("the cluster was changed meanwhile: it is in state {now}, and the change was made for another")]
    Moved {
        /// Number of the last event it knows.
        now: u64,
    },
    /// A start hook does not let the job begin, or could not be looked for.
    #[error(transparent)]
    NotLetIn(#[from] GateError),
    /// The actor went away.
    #[error("the cluster is being restarted; try again")]
    Gone,
}

/// Bring a cluster into being: its first events.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), OperateError>")]
pub struct Found {
    /// As decided by [`cluster::create()`].
    pub events: Vec<Event>,
    /// Who asked.
    pub who: String,
}

/// Tell a cluster something. Answered when it is durable.
#[derive(Debug, Message)]
#[rtype(result = "Result<Arc<cluster::Cluster>, OperateError>")]
pub struct Operate {
    /// What.
    pub command: Command,
    /// Who tells it, for the journal.
    pub who: String,
}

/// The same, when the cluster is in one of some states.
#[derive(Debug, Message)]
#[rtype(result = "Result<Arc<cluster::Cluster>, OperateError>")]
pub struct OperateAt {
    /// What to tell it.
    pub operate: Operate,
    /// Numbers of its last event.
    pub sequences: Vec<u64>,
}

/// A node has a worker for this task: record the attempt, and say what is to be done.
#[derive(Debug, Clone, Message)]
#[rtype(result = "Result<Begun, OperateError>")]
pub struct Begin {
    /// Number of the task.
    pub task: u32,
    /// Who will carry it out.
    pub worker: String,
}

/// An attempt that the journal knows.
#[derive(Debug, Clone, PartialEq)]
pub struct Begun {
    /// What is to be done.
    pub order: TaskOrder,
    /// When it is given up, in ms since 1970.
    pub deadline: i64,
    /// Who carries it out.
    pub worker: String,
}

/// An attempt has ended.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), OperateError>")]
pub struct Report {
    /// Number of the task.
    pub task: u32,
    /// Number of the attempt.
    pub attempt: u32,
    /// What the worker reported; `None` when its time was up.
    pub report: Option<TaskReport>,
}

/// A node's actor has ended by itself, which only a fault can make it do.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct NodeFailed {
    /// Which.
    pub node: NodeId,
}

/// How is the cluster?
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "Option<Arc<cluster::Cluster>>")]
pub struct GetState;
