//! What checkers are told: all that can be seen of a system from outside, and its journal.

use std::collections::BTreeMap;

use cooperage_domain::cluster::{Cluster, Event};
use cooperage_domain::id::{ClusterId, NodeId};

use crate::cloud::Execution;

/// Something that was seen.
#[derive(Debug)]
pub enum Seen<'a> {
    /// Events became durable, and this is what whoever decided them takes the cluster for.
    Recorded {
        /// With the events applied.
        after: &'a Cluster,
        /// What happened.
        events: &'a [Event],
        /// The same, as it is stored.
        texts: &'a [String],
    },
    /// Whoever asked for something was told that it is done.
    Acknowledged {
        /// Of which cluster.
        cluster: ClusterId,
        /// Number of its last event then.
        sequence: u64,
    },
    /// A worker's report was taken, or refused.
    Reported {
        /// Of which cluster.
        cluster: ClusterId,
        /// About which task.
        task: u32,
        /// About which attempt.
        attempt: u32,
        /// Whether it was taken.
        accepted: bool,
    },
    /// A cluster was read from what is durable.
    Recovered {
        /// As it was read.
        state: &'a Cluster,
    },
    /// A worker began an execution.
    Began {
        /// Which.
        execution: Execution,
        /// Where.
        node: &'a NodeId,
        /// Internal id of the tenant whose worker it is.
        tenant: &'a str,
        /// All it was given, as text.
        given: &'a str,
    },
    /// An execution has ended.
    Stopped {
        /// Which.
        execution: Execution,
        /// Where.
        node: &'a NodeId,
    },
    /// A server has a plugin of its own carry something out.
    Called {
        /// Which server.
        server: u32,
        /// Which execution.
        execution: Execution,
        /// Where.
        node: &'a NodeId,
    },
    /// The plugin has returned, or is gone with its server.
    Returned {
        /// Which server.
        server: u32,
        /// Where.
        node: &'a NodeId,
    },
    /// A provider has one machine more.
    Made {
        /// For which node.
        node: &'a NodeId,
        /// Of which cluster.
        cluster: ClusterId,
    },
    /// A provider has given a machine back.
    Gone {
        /// For which node.
        node: &'a NodeId,
    },
    /// Somebody tried to write to a cluster's journal.
    Written {
        /// Which.
        cluster: ClusterId,
        /// By which right.
        epoch: u64,
        /// Whether it was stored.
        accepted: bool,
    },
    /// Somebody took a cluster over.
    Claimed {
        /// Which.
        cluster: ClusterId,
        /// The right it gave.
        epoch: u64,
    },
    /// What tasks of a cluster printed, as it is stored.
    Printed {
        /// Which.
        cluster: ClusterId,
        /// The text.
        text: &'a str,
    },
    /// Nothing goes wrong any more, and has not for a while.
    Calm {
        /// All clusters, as they are.
        clusters: &'a BTreeMap<ClusterId, &'a Cluster>,
    },
    /// Everything that was to be done is done: all clusters were deleted.
    Over {
        /// All clusters, as they are.
        clusters: &'a BTreeMap<ClusterId, &'a Cluster>,
        /// Machines that are left.
        machines: &'a BTreeMap<NodeId, ClusterId>,
        /// All that is durable, by cluster, as stored.
        journal: &'a BTreeMap<ClusterId, Vec<String>>,
    },
}
