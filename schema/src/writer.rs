//! The thread that owns the writing connection: group commit.
//!
//! Whatever queued up while the last commit ran becomes the next transaction. Nothing is delayed on purpose: alone, an append
//! costs one commit; under load thousands share one.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use crate::batch::{Batch, Job};
use crate::engine::{Engine, Role};
use crate::error::StoreError;
use crate::fence::Remembered;
use crate::journal::Counts;
use crate::url::DatabaseUrl;

/// Most jobs in one transaction: enough to make the cost of a commit vanish, few enough to answer within some 100 ms.
const MAX_BATCH_JOBS: usize = 4_096;
/// Most text in one transaction, in bytes (the job that goes beyond it is still taken in).
const MAX_BATCH_SIZE: usize = 16 << 20;
/// Wait after the first failed attempt to connect; it doubles with each further one.
const FIRST_BACK_OFF: Duration = Duration::from_millis(50);
/// Longest wait between attempts to connect.
const LAST_BACK_OFF: Duration = Duration::from_secs(2);

/// What arrives in the writer's queue.
pub(crate) enum Message {
    /// To be stored.
    Job(Job),
    /// Store what came before, and end.
    Close,
}

/// The writing connection and what is needed to get it back.
pub(crate) struct Writer {
    url: DatabaseUrl,
    server: String,
    engine: Option<Engine>,
    back_off: Duration,
    counts: Arc<Counts>,
    /// Of the present connection.
    known: Remembered,
}

impl Writer {
    pub(crate) fn new(url: DatabaseUrl, server: String, engine: Engine, counts: Arc<Counts>) -> Self {
        Self {
            url,
            server,
            engine: Some(engine),
            back_off: FIRST_BACK_OFF,
            counts,
            known: Remembered::default(),
        }
    }

    /// Works until it is told to close, or until nobody is left who could give it work.
    pub(crate) fn run(mut self, queue: &Receiver<Message>) {
        while let Ok(Message::Job(first)) = queue.recv() {
            let mut batch = Batch::default();
            batch.add(first);
            let mut closing = false;
            while !closing && batch.len() < MAX_BATCH_JOBS && batch.size() < MAX_BATCH_SIZE {
                match queue.try_recv() {
                    Ok(Message::Job(job)) => batch.add(job),
                    Ok(Message::Close) => closing = true,
                    Err(_) => break,
                }
            }
            self.store(batch);
            if closing {
                break;
            }
        }
    }

    pub(crate) fn store(&mut self, mut batch: Batch) {
        let mut engine = match self.begun() {
            Ok(engine) => engine,
            Err(fault) => {
                let has_waited = matches!(fault, StoreError::Locked { .. });
                self.counts.failed_batches.fetch_add(1, Relaxed);
                batch.refuse(fault);
                if !has_waited {
                    thread::sleep(self.back_off);
                    self.back_off = (self.back_off * 2).min(LAST_BACK_OFF);
                }
                return;
            }
        };
        match batch.store(&mut engine, &self.server, &mut self.known) {
            Ok(outcomes) => {
                self.engine = Some(engine);
                self.counts.stored(batch.len() as u64);
                batch.answer(outcomes);
            }
            Err(fault) => {
                // The connection goes with the transaction: dropping it rolls back whatever state it is in.
                drop(engine);
                self.counts.failed_batches.fetch_add(1, Relaxed);
                batch.refuse(fault);
            }
        }
    }

    /// From now on the database may grow, or may not: then the next write fails as it does on a disk that is full.
    #[cfg(feature = "simulation")]
    pub(crate) fn let_grow(&mut self, may: bool) {
        use diesel::connection::SimpleConnection;
        // SQLite takes the present size when it is told less.
        let pages = if may { i32::MAX } else { 1 };
        let engine = self.engine.take().or_else(|| Engine::open(&self.url, Role::Writer).ok());
        self.engine = engine.and_then(|mut engine| match &mut engine {
            Engine::Sqlite(connection) => {
                connection.batch_execute(&format!("PRAGMA max_page_count={pages}")).ok().map(|()| engine)
            }
            #[cfg(feature = "postgres")]
            Engine::Postgres(_) => Some(engine),
        });
    }

    /// A connection with a transaction begun. One that died while idle is replaced unnoticed.
    fn begun(&mut self) -> Result<Engine, StoreError> {
        if let Some(mut engine) = self.engine.take()
            && engine.begin().is_ok()
        {
            return Ok(engine);
        }
        self.known.forget();
        let mut engine = Engine::open(&self.url, Role::Writer)?;
        engine.begin()?;
        self.back_off = FIRST_BACK_OFF;
        Ok(engine)
    }
}
