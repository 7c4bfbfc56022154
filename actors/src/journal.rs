//! The way to the journal: events in, "it is durable" out.
//!
//! ```text
//!   Cluster ──Record(events, state after them)──► Journal ──► the store's writer: many appends, one transaction
//! ```
//!
//! What failed because the database is away is tried again here, so that a short absence delays and loses nothing.

use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, Context, Handler, Message, Recipient, ResponseFuture};
use cooperage_domain::cluster::{Cluster, EVENT_VERSION, Event};
use cooperage_schema::{Append, AppendError, Journal as Writer, StoredEvent};
use slog::{Logger, warn};
use tokio::sync::{Notify, oneshot};

use crate::callbacks::Look;
use crate::estimate::sample;
use crate::projection::project;

/// A snapshot is written after so many events, and when a job ends.
const EVENTS_PER_SNAPSHOT: u64 = 500;
/// How often an append is tried again while the database is away: some two minutes in all.
const MAX_TRIES: u32 = 64;
/// First pause between two tries; doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
/// Longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// The way to the journal.
pub struct Journal {
    writer: Writer,
    /// Told when something is durable that hooks may have to be told.
    callbacks: Option<Recipient<Look>>,
    /// Told when anything is durable.
    recorded: Arc<Notify>,
    logger: Logger,
}

impl Journal {
    /// In front of the store's writer.
    #[must_use]
    pub fn new(writer: Writer, logger: Logger) -> Self {
        Self { writer, callbacks: None, recorded: Arc::default(), logger }
    }

    /// Which tells these when there is something to tell.
    #[must_use]
    pub fn with_callbacks(self, callbacks: Recipient<Look>) -> Self {
        Self { callbacks: Some(callbacks), ..self }
    }

    /// Which tells this whenever events are durable.
    #[must_use]
    pub fn with_recorded(self, recorded: Arc<Notify>) -> Self {
        Self { recorded, ..self }
    }
}

impl Actor for Journal {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        // Bounded by the number of live clusters: each waits for its answer before it records more.
        ctx.set_mailbox_capacity(0);
    }
}

/// Answered when everything that was given to the journal before is durable, or refused.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Flush;

impl Handler<Flush> for Journal {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, _: Flush, _: &mut Self::Context) -> Self::Result {
        let (sender, receiver) = oneshot::channel::<()>();
        // Empty work, behind all other in the writer's queue.
        self.writer.write(|_| Ok(()), move |_| drop(sender));
        Box::pin(async { drop(receiver.await) })
    }
}

/// Make these events durable.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), RecordError>")]
pub struct Record {
    /// The cluster with the events applied.
    pub cluster: Arc<Cluster>,
    /// Fencing number of this server's ownership.
    pub epoch: u64,
    /// Number of the last event before these.
    pub expected_sequence: u64,
    /// When they were decided, in ms since 1970.
    pub at: i64,
    /// On whose behalf.
    pub who: String,
    /// What happened.
    pub events: Vec<Event>,
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

impl Handler<Record> for Journal {
    type Result = ResponseFuture<Result<(), RecordError>>;

    fn handle(&mut self, record: Record, _: &mut Self::Context) -> Self::Result {
        let (writer, logger) = (self.writer.clone(), self.logger.clone());
        let (callbacks, recorded) = (self.callbacks.clone(), Arc::clone(&self.recorded));
        Box::pin(async move {
            let append = append(&record)?;
            let callbacks = callbacks.filter(|_| !append.projection.occurrences.is_empty());
            // The actor changes the state in place next time, which it can only when nobody else holds it.
            let cluster = record.cluster.id;
            drop(record);
            let mut pause = FIRST_PAUSE;
            for _ in 1..MAX_TRIES {
                match append_once(&writer, append.clone()).await {
                    Err(RecordError::Refused(fault)) if fault.is_retryable() => {
                        warn!(logger, "the journal waits for the database"; "fault" => fault.to_string(),
                            "cluster" => cluster.to_string());
                        tokio::time::sleep(pause).await;
                        pause = (pause * 2).min(LONGEST_PAUSE);
                    }
                    other => return told(other, callbacks.as_ref(), &recorded),
                }
            }
            told(append_once(&writer, append).await, callbacks.as_ref(), &recorded)
        })
    }
}

/// Tells those who make calls that there may be some, once what they are about is durable, and those who follow events.
fn told(
    outcome: Result<(), RecordError>,
    callbacks: Option<&Recipient<Look>>,
    recorded: &Notify,
) -> Result<(), RecordError> {
    if outcome.is_ok() {
        recorded.notify_one();
    }
    if let (Ok(()), Some(callbacks)) = (&outcome, callbacks) {
        callbacks.do_send(Look);
    }
    outcome
}

async fn append_once(writer: &Writer, append: Append) -> Result<(), RecordError> {
    let (sender, receiver) = oneshot::channel();
    writer.append(append, move |result| {
        // Nobody waits any more when the actor is gone.
        let _ = sender.send(result);
    });
    receiver.await.map_err(|_| RecordError::Gone)?.map(drop).map_err(RecordError::from)
}

fn append(record: &Record) -> Result<Append, RecordError> {
    let write = |event: &Event| {
        serde_json::to_string(event).map_err(|fault| RecordError::Unwritable(fault.to_string()))
    };
    let stored = |event: &Event| Ok(StoredEvent { version: EVENT_VERSION, json: write(event)? });
    let events = record.events.iter().map(stored).collect::<Result<Vec<_>, RecordError>>()?;
    let cluster = &record.cluster;
    let mut projection = project(cluster, &record.events);
    projection.durations = record.events.iter().filter_map(|event| sample(cluster, event)).collect();
    let crossed = cluster.sequence / EVENTS_PER_SNAPSHOT > record.expected_sequence / EVENTS_PER_SNAPSHOT;
    let ended = record.events.iter().any(|event| matches!(event, Event::JobEnded { .. }));
    let snapshot = if crossed || ended {
        let state =
            serde_json::to_string(&**cluster).map_err(|fault| RecordError::Unwritable(fault.to_string()))?;
        Some(state)
    } else {
        None
    };
    Ok(Append {
        cluster: cluster.id,
        epoch: record.epoch,
        expected_sequence: record.expected_sequence,
        at_ms: record.at,
        actor: "cluster".to_owned(),
        who: record.who.clone(),
        events,
        projection,
        snapshot,
    })
}
