//! SQLite's log, brought into the database beside the writer.
//!
//! A commit writes to the log only, and now and then the pages in it go into the database. Left to SQLite, the commit that
//! makes the log long does that, and everybody waits for it. Here a thread with a connection of its own does it, and holds
//! nobody up. Only a writer that finds all of the log in the database begins it anew: when it has got long, the writer is
//! told to bring in the little that came meanwhile.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use diesel::prelude::*;
use diesel::sql_types::BigInt;

use crate::engine::{Engine, Role};
use crate::error::StoreError;
use crate::journal::Counts;
use crate::sql::{Statement, Value};
use crate::url::DatabaseUrl;

/// How often it is looked whether there is something to do.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// After so many jobs the log is brought into the database.
const JOBS: u64 = 8_192;
/// What is in the log for so long is brought in, however little it is.
const LONGEST_IN_LOG: Duration = Duration::from_secs(5);
/// A log of so many pages is begun anew: 64 MiB.
const LONG_LOG: i64 = 16_384;

const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// Brings as much of the log into the database as can be without waiting for anybody; the length of the log, in pages.
fn checkpoint(engine: &mut Engine) -> QueryResult<i64> {
    #[allow(clippy::infallible_destructuring_match, reason = "a build without PostgreSQL has one engine")]
    let connection = match engine {
        Engine::Sqlite(connection) => connection,
        #[cfg(feature = "postgres")]
        Engine::Postgres(_) => return Ok(0),
    };
    let pragma = Statement::<Value<'_>, (BigInt, BigInt, BigInt)>::new(CHECKPOINT, &[]);
    let (_, log, _) = pragma.get_result::<(i64, i64, i64)>(connection)?;
    Ok(log)
}

/// Whether the writer is to bring the rest of the log in before it goes on.
#[derive(Debug, Default)]
pub(crate) struct LogIsLong(AtomicBool);

impl LogIsLong {
    /// Does it, if it was asked for. What cannot be done now is asked for again.
    pub(crate) fn attend(&self, engine: &mut Engine) {
        if self.0.swap(false, Relaxed) {
            let _ = checkpoint(engine);
        }
    }
}

/// The thread. It ends with this.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Of a database that a writer writes, which counts what it does.
    pub(crate) fn start(url: DatabaseUrl, counts: Arc<Counts>) -> Result<Self, StoreError> {
        let (stop, stopped) = channel();
        let place = url.to_string();
        let run = move || run(&url, &counts, &stopped);
        let thread = thread::Builder::new().name("checkpoints".to_owned()).spawn(run);
        let thread =
            thread.map_err(|fault| StoreError::Unreachable { url: place, cause: fault.to_string() })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // It has nothing that others wait for.
            let _ = thread.join();
        }
    }
}

fn run(url: &DatabaseUrl, counts: &Counts, stopped: &Receiver<()>) {
    let mut engine: Option<Engine> = None;
    let (mut brought_in, mut looks) = (0, 0);
    while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
        let jobs = counts.jobs.load(Relaxed);
        looks += 1;
        let many = jobs.saturating_sub(brought_in) >= JOBS;
        let old = jobs > brought_in && LOOK_EVERY * looks >= LONGEST_IN_LOG;
        if !many && !old {
            continue;
        }
        (brought_in, looks) = (jobs, 0);
        engine = engine.or_else(|| Engine::open(url, Role::Reader).ok());
        let Some(own) = &mut engine else { continue };
        match checkpoint(own) {
            Ok(log) if log >= LONG_LOG => {
                // What came meanwhile is less, so that the writer finds next to nothing.
                let _ = checkpoint(own);
                counts.log_is_long.0.store(true, Relaxed);
            }
            Ok(_) => {}
            // A connection that fails is replaced; the writer's own limit keeps the log from growing for ever.
            Err(_) => engine = None,
        }
    }
}
