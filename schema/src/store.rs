//! The store: one connection that writes, some that read.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use diesel::r2d2::Pool;

use crate::checkpoint::Checkpoints;
use crate::engine::{Engine, Readers, Role};
use crate::error::StoreError;
use crate::idempotency::Completion;
#[cfg(feature = "simulation")]
use crate::inline::{Gate, InlineWriter};
use crate::journal::{Counts, Journal};
use crate::keyring::Keyring;
use crate::migrations::migrate;
use crate::url::DatabaseUrl;
use crate::writer::Writer;

/// How the store is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreOptions {
    /// Most connections that read at the same time.
    pub readers: u32,
    /// How long a read waits for one of them to become free.
    pub reader_timeout: Duration,
    /// Name of this server among those that share the database; clusters are owned under it.
    pub server: String,
    /// File with the master keys of secrets; it is made when nothing is sealed yet. Without it no secrets are kept or read.
    pub secrets_key: Option<PathBuf>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            readers: 4,
            reader_timeout: Duration::from_secs(10),
            server: "local".to_owned(),
            secrets_key: None,
        }
    }
}

/// Everything that is stored. Cheap to clone. Its calls block: actors make them from threads that may.
///
/// Call [`Store::close`] before the program ends: the writing thread is not waited for otherwise.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
    /// Done in the transaction of the next write, too.
    completion: Option<Arc<Completion>>,
}

struct Inner {
    journal: Journal,
    readers: Pool<Readers>,
    server: String,
    url: DatabaseUrl,
    keyring: Keyring,
    /// Held by whoever rotates the master key.
    rotation: Mutex<()>,
    threads: Mutex<Threads>,
}

/// What works beside those who call.
#[derive(Default)]
struct Threads {
    journal: Option<JoinHandle<()>>,
    checkpoints: Option<Checkpoints>,
}

impl Store {
    /// Opens the database, brings it up to date, and starts the thread that writes.
    ///
    /// # Errors
    /// When it cannot be reached, is held by another process, or was made by a newer release; or when the key file is not the
    /// one its secrets are sealed with.
    pub fn open(url: &DatabaseUrl, options: StoreOptions) -> Result<Self, StoreError> {
        Self::open_with(url, options, |writer, counts| {
            let checkpoints = match url {
                DatabaseUrl::Sqlite(_) => Some(Checkpoints::start(url.clone(), Arc::clone(&counts))?),
                DatabaseUrl::Postgres(_) => None,
            };
            let (journal, queue) = Journal::new(counts);
            let thread =
                thread::Builder::new().name("journal".to_owned()).spawn(move || writer.run(&queue)).map_err(
                    |fault| StoreError::Unreachable { url: url.to_string(), cause: fault.to_string() },
                )?;
            Ok((journal, Threads { journal: Some(thread), checkpoints }))
        })
    }

    /// Opens the database with a writer that works in the thread of whoever gives it work, behind a gate: for simulated time.
    ///
    /// # Errors
    /// As [`Store::open`].
    #[cfg(feature = "simulation")]
    pub fn open_inline(
        url: &DatabaseUrl,
        options: StoreOptions,
        gate: Arc<dyn Gate>,
    ) -> Result<Self, StoreError> {
        Self::open_with(url, options, |writer, counts| {
            let writer = Arc::new(InlineWriter::new(writer, gate));
            Ok((Journal::inline(writer, counts), Threads::default()))
        })
    }

    fn open_with(
        url: &DatabaseUrl,
        options: StoreOptions,
        start: impl FnOnce(Writer, Arc<Counts>) -> Result<(Journal, Threads), StoreError>,
    ) -> Result<Self, StoreError> {
        let mut engine = Engine::open(url, Role::Writer)?;
        migrate(&mut engine)?;
        let keyring = Keyring::load(options.secrets_key, &mut engine)?;
        let readers = Pool::builder()
            .max_size(options.readers.max(1))
            .min_idle(Some(1))
            .connection_timeout(options.reader_timeout)
            .build(Readers { url: url.clone() })
            .map_err(|fault| StoreError::NoReader { cause: fault.to_string() })?;
        let counts = Arc::new(Counts::default());
        let writer = Writer::new(url.clone(), options.server.clone(), engine, Arc::clone(&counts));
        let (journal, threads) = start(writer, counts)?;
        let (server, url, rotation) = (options.server, url.clone(), Mutex::default());
        let threads = Mutex::new(threads);
        let inner = Arc::new(Inner { journal, readers, server, url, keyring, rotation, threads });
        Ok(Self { inner, completion: None })
    }

    /// The handle through which actors write.
    #[must_use]
    pub fn journal(&self) -> Journal {
        self.inner.journal.clone()
    }

    /// Name of this server among those that share the database.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.inner.server
    }

    /// The keys of secrets.
    pub(crate) fn keyring(&self) -> Keyring {
        self.inner.keyring.clone()
    }

    /// Where the database is.
    pub(crate) fn url(&self) -> &DatabaseUrl {
        &self.inner.url
    }

    /// Waits for whoever rotates the master key, and keeps others from it.
    pub(crate) fn rotation_turn(&self) -> MutexGuard<'_, ()> {
        self.inner.rotation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes everything durable that was given to the writer, and ends it. Later writes get [`StoreError::Closed`]; reads go on.
    pub fn close(&self) {
        self.inner.journal.close();
        let threads = std::mem::take(&mut *self.inner.threads.lock().unwrap_or_else(PoisonError::into_inner));
        drop(threads.checkpoints);
        if let Some(thread) = threads.journal {
            // The writer catches the panics of what it runs; if it died of another, its callers were told.
            let _ = thread.join();
        }
    }

    /// Reads with one of the reading connections.
    ///
    /// # Errors
    /// What `work` says, or that no connection is to be had.
    pub fn read<T>(&self, work: impl FnOnce(&mut Engine) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut engine =
            self.inner.readers.get().map_err(|fault| StoreError::NoReader { cause: fault.to_string() })?;
        work(&mut engine)
    }

    /// Writes with the writing connection, and waits until it is durable; see [`Journal::write`].
    ///
    /// # Errors
    /// What `work` says, or that it could not be made durable.
    pub fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Engine) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let completion = self.completion.clone();
        self.inner.journal.write_blocking(move |engine| {
            let value = work(engine)?;
            if let Some(completion) = completion {
                completion.run(engine)?;
            }
            Ok(value)
        })
    }

    /// The same store, which also does this with its next write.
    pub(crate) fn with_completion(&self, completion: Arc<Completion>) -> Self {
        Self { inner: Arc::clone(&self.inner), completion: Some(completion) }
    }
}
