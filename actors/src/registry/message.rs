//! What the registry is asked and told.

use std::sync::Arc;

use actix::{Addr, Message};
use cooperage_domain::cluster::{self, Command, Event};
use cooperage_domain::id::ClusterId;

use super::load::FindError;
use crate::cluster::{Cluster, OperateError};
use crate::worker_pool::WorkerPool;

/// Where is this cluster, if it is live?
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "Option<Addr<Cluster>>")]
pub struct Look {
    /// Which.
    pub id: ClusterId,
}

/// Where is this cluster? It is started if it is not live. It may go to rest at any time; [`Tell`] copes with that.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "Result<Addr<Cluster>, FindError>")]
pub struct Find {
    /// Which.
    pub id: ClusterId,
}

/// Tell a cluster something, wherever it is. Answered when it is durable.
#[derive(Debug, Clone, Message)]
#[rtype(result = "Result<Arc<cluster::Cluster>, TellError>")]
pub struct Tell {
    /// Which.
    pub id: ClusterId,
    /// What.
    pub command: Command,
    /// Who tells it, for the journal.
    pub who: String,
}

/// The same, when the cluster is in one of some states: numbers of its last event.
#[derive(Debug, Clone, Message)]
#[rtype(result = "Result<Arc<cluster::Cluster>, TellError>")]
pub struct TellAt {
    /// What to tell it.
    pub tell: Tell,
    /// Numbers of its last event.
    pub sequences: Vec<u64>,
}

/// Why a cluster did not do what it was told.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TellError {
    /// It is not there.
    #[error(transparent)]
    Find(#[from] FindError),
    /// It did not do it.
    #[error(transparent)]
    Operate(#[from] OperateError),
}

/// The worker pool of a tenant, by internal id.
#[derive(Debug, Clone, Message)]
#[rtype(result = "Addr<WorkerPool>")]
pub struct FindPool {
    /// Whose.
    pub tenant: String,
}

/// The worker pools there are, by internal tenant id.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "Vec<(String, Addr<WorkerPool>)>")]
pub struct ListPools;

/// Bring a cluster into being.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), OperateError>")]
pub struct Create {
    /// Which.
    pub id: ClusterId,
    /// Whose it is: internal id of the tenant.
    pub tenant: String,
    /// Its first events.
    pub events: Vec<Event>,
    /// Who asked.
    pub who: String,
}

/// A cluster's actor is gone.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Stopped {
    /// Which.
    pub id: ClusterId,
    /// Which of the actors it had.
    pub generation: u64,
    /// Why.
    pub ending: Ending,
}

/// Why a cluster's actor is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It had nothing to do.
    Rest,
    /// It failed, and is to be live again.
    Failed,
    /// Another server has taken the cluster over.
    Fenced,
}
