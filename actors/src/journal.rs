//! The way to the journal: events in, "it is durable" out.
//!
//! ```text
//!   Cluster ──append(events, the rows they change)──► Journal ──► the store's writer: many appends, one transaction
//! ```
//!
//! It is no actor: a cluster hands its events to the writer itself, and the writer's thread tells it when they are durable.

use std::sync::Arc;
use std::time::Duration;

use actix::Recipient;
use cooperage_domain::cluster::{Cluster, EVENT_VERSION, Event};
use cooperage_schema::{Append, AppendError, Journal as Writer, StoredEvent};
use tokio::sync::{Notify, oneshot};

use crate::callbacks::Look;
use crate::estimate::{Estimates, sample};
use crate::projection::project;

/// A snapshot is written after so many events, more in a cluster that has more to write.
const EVENTS_PER_SNAPSHOT: u64 = 500;
/// At rest one is written when so many events, or a part of what there is to write, have come since the last one.
const PART_AT_REST: u64 = 4;
/// How often an append is tried again while the database is away: some two minutes in all.
pub(crate) const MAX_TRIES: u32 = 64;
/// First pause between two tries; doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
/// Longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// The pause after so many failures in a row, from 1.
pub(crate) fn pause_after(failures: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(LONGEST_PAUSE)
}

/// Is told of everything that became durable, to count it; it must not take long.
pub type Counting = Arc<dyn Fn(&Append) + Send + Sync>;

/// The way to the journal. Cheap to clone.
#[derive(Clone)]
pub struct Journal {
    writer: Writer,
    /// Counts what is durable.
    counting: Option<Counting>,
    /// Told when something is durable that hooks may have to be told.
    callbacks: Option<Recipient<Look>>,
    /// Told when anything is durable.
    recorded: Arc<Notify>,
}

impl Journal {
    /// In front of the store's writer.
    #[must_use]
    pub fn new(writer: Writer) -> Self {
        Self { writer, counting: None, callbacks: None, recorded: Arc::default() }
    }

    /// Which tells these when there is something to tell.
    #[must_use]
    pub fn with_callbacks(self, callbacks: Recipient<Look>) -> Self {
        Self { callbacks: Some(callbacks), ..self }
    }

    /// Which has this count what is durable.
    #[must_use]
    pub fn with_counting(self, counting: Counting) -> Self {
        Self { counting: Some(counting), ..self }
    }

    /// Which tells this whenever events are durable.
    #[must_use]
    pub fn with_recorded(self, recorded: Arc<Notify>) -> Self {
        Self { recorded, ..self }
    }

    /// Waits until everything that was given to the journal before is durable, or refused.
    pub async fn flush(&self) {
        let (sender, receiver) = oneshot::channel::<()>();
        // Empty work, behind all other in the writer's queue.
        self.writer.write(|_| Ok(()), move |_| drop(sender));
        drop(receiver.await);
    }

    /// Gives an append to the writer, whose thread says what has become of it.
    pub(crate) fn append(
        &self,
        append: Arc<Append>,
        reply: impl FnOnce(Result<(), AppendError>) + Send + 'static,
    ) {
        self.writer.append(append, move |result| reply(result.map(drop)));
    }

    /// Tells those who follow events, and those who make calls that there may be some, once what they are about is durable.
    pub(crate) fn tell(&self, durable: &Append) {
        self.recorded.notify_one();
        if let Some(counting) = &self.counting {
            counting(durable);
        }
        if let Some(callbacks) =
            self.callbacks.as_ref().filter(|_| !durable.projection.occurrences.is_empty())
        {
            callbacks.do_send(Look);
        }
    }
}

/// Why events are not durable.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RecordError {
    /// The store refused.
    #[error(transparent)]
    Refused(#[from] AppendError),
    /// An event cannot be written as JSON.
    #[error("an event cannot be written: {0}")]
    Unwritable(String),
    /// The journal is closed.
    #[error("the journal is closed; the server is stopping")]
    Gone,
}

impl RecordError {
    /// Whether another server owns the cluster now.
    #[must_use]
    pub const fn is_fenced(&self) -> bool {
        matches!(self, Self::Refused(AppendError::Fenced { .. }))
    }
}

/// When the last snapshot of a cluster was written, and thus when the next one is.
///
/// A snapshot takes time by the size of the cluster, its finished jobs included. So many events lie between two of them that
/// none of them has to pay more for it, however large the cluster is and however long its journal.
#[derive(Debug, Default)]
pub(crate) struct Snapshots {
    last: u64,
}

impl Snapshots {
    /// Of a cluster that was read at this event.
    pub(crate) const fn since(last: u64) -> Self {
        Self { last }
    }

    /// Whether one is due after `events`, the last that were applied.
    fn is_due(&mut self, cluster: &Cluster, events: &[Event]) -> bool {
        let since = cluster.sequence.saturating_sub(self.last);
        let at_rest = events.iter().any(|event| matches!(event, Event::JobEnded { .. }));
        let due = (at_rest && since >= size(cluster) / PART_AT_REST)
            || (since >= EVENTS_PER_SNAPSHOT && since >= size(cluster));
        if due {
            self.last = cluster.sequence;
        }
        due
    }
}

/// About how much a snapshot has to write, counted in what an event changes.
fn size(cluster: &Cluster) -> u64 {
    let tasks: usize = cluster.jobs.values().map(|job| job.tasks.len()).sum();
    (tasks + cluster.units.len()) as u64
}

/// Events of a cluster that are to be made durable.
pub(crate) struct Recorded<'a> {
    /// With the events applied.
    pub(crate) cluster: &'a Cluster,
    /// Fencing number of this server's ownership.
    pub(crate) epoch: u64,
    /// Number of the last event before these.
    pub(crate) expected_sequence: u64,
    /// When they were decided, in ms since 1970.
    pub(crate) at: i64,
    /// On whose behalf.
    pub(crate) who: String,
    /// What is known of how long tasks take.
    pub(crate) estimates: &'a Estimates,
}

impl Recorded<'_> {
    /// What is to be stored of `events`.
    pub(crate) fn append(self, events: &[Event], snapshots: &mut Snapshots) -> Result<Append, RecordError> {
        let unwritable = |fault: serde_json::Error| RecordError::Unwritable(fault.to_string());
        let stored = |event: &Event| {
            let json = serde_json::to_string(event).map_err(unwritable)?;
            Ok(StoredEvent { version: EVENT_VERSION, json })
        };
        let stored = events.iter().map(stored).collect::<Result<Vec<_>, RecordError>>()?;
        let cluster = self.cluster;
        let mut projection = project(cluster, events);
        projection.durations = events.iter().filter_map(|event| sample(cluster, event)).collect();
        projection.foreseen =
            events.iter().filter_map(|event| self.estimates.foreseen(cluster, event)).collect();
        let snapshot = match snapshots.is_due(cluster, events) {
            true => Some(serde_json::to_string(cluster).map_err(unwritable)?),
            false => None,
        };
        Ok(Append {
            cluster: cluster.id,
            epoch: self.epoch,
            expected_sequence: self.expected_sequence,
            at_ms: self.at,
            actor: "cluster".to_owned(),
            who: self.who,
            events: stored,
            projection,
            snapshot,
        })
    }
}
