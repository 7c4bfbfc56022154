//! What a node is told.

use actix::Message;

use crate::cluster::Begun;

/// A task of this node may start. Offering it again changes its rank.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Offer {
    /// Number of the task.
    pub task: u32,
    /// Length of the path behind it, in ms.
    pub rank: i64,
    /// Whether it gives a machine back.
    pub urgent: bool,
}

/// Tasks that are waiting may not start any more; a running one goes on.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Withdraw;

/// The job of this attempt is stopped: stop it if it can be.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Halt {
    /// Number of the task.
    pub task: u32,
    /// Number of the attempt.
    pub attempt: u32,
}

/// An attempt was open when its actors went down: take it up again, and give it up at its deadline.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Follow(pub Box<Begun>);

/// The end of an attempt is durable.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Recorded {
    /// Number of the task.
    pub task: u32,
    /// Number of the attempt.
    pub attempt: u32,
}

/// Another server owns the cluster: stop what is running, since that one takes it up; report nothing.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Cease;

/// The cluster's actor has ended: end with it, and give the worker back. What is being executed goes on, for whoever takes
/// the cluster up.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Retire;
