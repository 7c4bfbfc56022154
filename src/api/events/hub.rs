//! The newest events, kept for all who follow them.
//!
//! ```text
//!   Journal ──recorded──► pump ──reads once──► ring of batches ──► everybody who waits
//! ```
//!
//! While somebody listens, one task reads what became durable from the journal, writes it down once, and keeps it for a while.
//! Those who listen take from there what they have not seen, in their own time; who is too far behind, because of a slow line or a
//! long absence, reads from the journal by itself. So nobody's slowness holds memory or anybody else, and while nobody
//! listens nothing is done at all.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actix_web::web;
use cooperage_schema::FeedFilter;
use slog::warn;
use tokio::sync::{Notify, watch};

use super::frame::Batch;
use crate::api::problem::Problem;
use crate::api::state::AppState;

/// Most events of one batch.
const TOGETHER: u32 = 250;
/// What somebody takes over at once, in bytes, and the batch that goes beyond: so much is held for who is slow.
const TAKEN: usize = 64 * 1024;
/// What is kept may take so much memory, in bytes: under full load the events of some seconds.
const MAX_KEPT: usize = 16 * 1024 * 1024;
/// Pause behind a batch: what comes meanwhile is one batch, so that those who listen are woken at most so often.
const PAUSE: Duration = Duration::from_millis(25);
/// How often it is looked for what others wrote into the same database.
const LOOK: Duration = Duration::from_secs(1);
/// Pause after the journal could not be read.
const FAULT_PAUSE: Duration = Duration::from_secs(1);

/// The newest events, kept for all who follow them.
#[derive(Debug)]
pub struct Hub {
    kept: Mutex<Kept>,
    /// Place of the newest event that is kept.
    newest: watch::Sender<u64>,
    /// How many listen.
    listeners: AtomicUsize,
    /// Told by those who begin to listen.
    joined: Notify,
    /// Told by the journal whenever something is durable.
    recorded: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Kept {
    batches: VecDeque<Arc<Batch>>,
    size: usize,
    /// Whether what comes next is put here.
    is_fresh: bool,
}

/// What is known of the events behind a place.
#[derive(Debug)]
pub enum Known {
    /// They are here.
    Batches(Vec<Arc<Batch>>),
    /// There are none yet.
    Nothing,
    /// They are not here any more: the journal knows.
    Elsewhere,
}

/// Somebody who listens, for as long as this lives.
#[derive(Debug)]
pub struct Listener {
    hub: Arc<Hub>,
    newest: watch::Receiver<u64>,
}

impl Hub {
    /// Without listeners. `recorded` is told by the journal whenever something is durable.
    #[must_use]
    pub fn new(recorded: Arc<Notify>) -> Self {
        let (newest, joined) = (watch::channel(0).0, Notify::new());
        Self { kept: Mutex::default(), newest, listeners: AtomicUsize::new(0), joined, recorded }
    }

    /// One more who listens; `None` when there are as many as may.
    pub fn listen(self: &Arc<Self>, most: usize) -> Option<Listener> {
        let join = |count: usize| (count < most).then_some(count + 1);
        self.listeners.fetch_update(Ordering::Relaxed, Ordering::Relaxed, join).ok()?;
        self.joined.notify_one();
        Some(Listener { hub: Arc::clone(self), newest: self.newest.subscribe() })
    }

    /// How many listen.
    pub fn count(&self) -> usize {
        self.listeners.load(Ordering::Relaxed)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nobody panics while holding it.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_wanted(&self) -> bool {
        self.listeners.load(Ordering::Relaxed) > 0
    }

    fn keep(&self, batch: Batch) {
        let last = batch.last;
        let mut kept = self.kept();
        kept.size += batch.size;
        kept.batches.push_back(Arc::new(batch));
        while kept.size > MAX_KEPT
            && let Some(oldest) = kept.batches.pop_front()
        {
            kept.size -= oldest.size;
        }
        drop(kept);
        self.newest.send_replace(last);
    }

    /// What is kept of the events behind a place.
    fn known(&self, after: u64) -> Known {
        let kept = self.kept();
        let newest = *self.newest.borrow();
        if !kept.is_fresh {
            return Known::Elsewhere;
        }
        if after >= newest {
            return Known::Nothing;
        }
        let first = kept.batches.partition_point(|batch| batch.last <= after);
        match kept.batches.get(first) {
            Some(batch) if batch.after <= after => {
                let mut size = 0;
                let is_room = |batch: &&Arc<Batch>| {
                    let is_room = size < TAKEN;
                    size += batch.size;
                    is_room
                };
                Known::Batches(kept.batches.range(first..).take_while(is_room).cloned().collect())
            }
            _ => Known::Elsewhere,
        }
    }

    /// From here on everything is kept.
    fn begin(&self, place: u64) {
        *self.kept() = Kept { is_fresh: true, ..Kept::default() };
        self.newest.send_replace(place);
    }

    fn end(&self) {
        *self.kept() = Kept::default();
    }
}

impl Listener {
    /// What is kept of the events behind a place.
    pub fn known(&mut self, after: u64) -> Known {
        self.newest.mark_unchanged();
        self.hub.known(after)
    }

    /// Waits until there may be more.
    pub async fn more(&mut self) {
        // The hub lives as long as this does.
        let _ = self.newest.changed().await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.hub.listeners.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reads events for those who listen, until the server ends.
pub async fn pump(state: web::Data<AppState>) {
    let hub = Arc::clone(&state.events);
    loop {
        hub.joined.notified().await;
        if hub.is_wanted()
            && let Err(problem) = serve(&state, &hub).await
        {
            warn!(state.logger, "events cannot be followed now"; "fault" => problem.cause());
            tokio::time::sleep(FAULT_PAUSE).await;
            // Those who listen are still there.
            hub.joined.notify_one();
        }
        hub.end();
    }
}

/// Reads events for as long as somebody listens.
async fn serve(state: &web::Data<AppState>, hub: &Arc<Hub>) -> Result<(), Problem> {
    let mut place = state.blocking(|state| Ok(state.store.newest_place()?)).await?;
    hub.begin(place);
    while hub.is_wanted() {
        let batch = state
            .blocking(move |state| {
                let events = state.store.feed(place, u64::MAX, &FeedFilter::default(), TOGETHER)?;
                Ok((!events.is_empty()).then(|| (Batch::new(place, &events), events.len())))
            })
            .await?;
        match batch {
            Some((batch, count)) => {
                place = batch.last;
                hub.keep(batch);
                if count == TOGETHER as usize {
                    continue;
                }
                tokio::time::sleep(PAUSE).await;
            }
            None => {
                // Nobody told within the time: others may have written.
                let _ = tokio::time::timeout(LOOK, hub.recorded.notified()).await;
            }
        }
    }
    Ok(())
}
