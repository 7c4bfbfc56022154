//! What a cluster's actor wants made durable, and what it hears back.

use cooperage_domain::id::ClusterId;

use crate::error::StoreError;
use crate::projection::Projection;

/// Events of one cluster, with everything that must become durable together with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Append {
    /// Whose journal.
    pub cluster: ClusterId,
    /// The epoch under which the caller owns the cluster, as given by [`crate::Store::claim`]. The first append to a
    /// cluster nobody has claimed claims it for this server with this epoch.
    pub epoch: u64,
    /// Number of the last event the caller knows; 0 for a new cluster. The first event appended gets the next one.
    pub expected_sequence: u64,
    /// When it was decided, in milliseconds since 1970.
    pub at_ms: i64,
    /// Which part of the system decided it.
    pub actor: String,
    /// On whose behalf: a user, or a part of the system.
    pub who: String,
    /// What happened, in order. May be empty when only the projection or the snapshot is to be written.
    pub events: Vec<StoredEvent>,
    /// The rows of the read tables that changed with it.
    pub projection: Projection,
    /// The serialized state after the last of these events, when it is time for a snapshot.
    pub snapshot: Option<String>,
}

impl Append {
    /// Number of the last event once this is stored.
    pub(crate) const fn last_sequence(&self) -> u64 {
        self.expected_sequence + self.events.len() as u64
    }
}

/// One event as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Version of the event's form, by which old ones stay readable.
    pub version: u32,
    /// The event, serialized.
    pub json: String,
}

/// An append that is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Number of the cluster's last event.
    pub sequence: u64,
}

/// An append of which nothing is stored. (After [`StoreError::ConnectionLost`] it may be, if the connection broke during
/// the commit: appending the same again is right in both cases, since what is there already is acknowledged.)
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The journal is not where the caller thinks it is.
    #[error(
        "cluster {cluster}: the journal ends at event {head}, not at {expected}: someone else appended; load it again"
    )]
    Conflict {
        /// Whose journal.
        cluster: ClusterId,
        /// Where the caller thought it ended.
        expected: u64,
        /// Where it ends.
        head: u64,
    },
    /// Another server has taken the cluster over, or the epoch was never given out.
    #[error(
        "cluster {cluster} belongs to server {server} since epoch {current}, the append has epoch {epoch}; stop this actor"
    )]
    Fenced {
        /// Whose journal.
        cluster: ClusterId,
        /// The append's.
        epoch: u64,
        /// The one that counts.
        current: u64,
        /// Who has it.
        server: String,
    },
    /// A row of the projection is about another cluster.
    #[error(
        "cluster {cluster}: the append carries a row of {other}; rows go with the events of their own cluster"
    )]
    ForeignRow {
        /// Whose journal.
        cluster: ClusterId,
        /// The row's cluster, job, task or node.
        other: String,
    },
    /// The store could not.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AppendError {
    /// Whether the same append may succeed later without anything being changed.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::Store(fault) if fault.is_retryable())
    }
}
