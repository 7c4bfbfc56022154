//! One connection to either engine.

use std::time::Duration;

use diesel::connection::{AnsiTransactionManager, SimpleConnection, TransactionManager};
#[cfg(feature = "postgres")]
use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::r2d2::ManageConnection;
use diesel::sqlite::SqliteConnection;

use crate::error::StoreError;
use crate::url::DatabaseUrl;

/// How long SQLite waits for another process that writes, before [`StoreError::Locked`].
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection to one of the two engines. Diesel's queries run on it unchanged.
#[derive(diesel::MultiConnection)]
pub enum Engine {
    /// A server.
    #[cfg(feature = "postgres")]
    Postgres(PgConnection),
    /// A file.
    Sqlite(SqliteConnection),
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The one that writes.
    Writer,
    /// One of those that only read; the engine itself refuses more.
    Reader,
}

impl Engine {
    /// Opens a connection and prepares it for its role.
    pub(crate) fn open(url: &DatabaseUrl, role: Role) -> Result<Self, StoreError> {
        let unreachable =
            |cause: String| StoreError::Unreachable { url: url.to_string(), cause: cause.trim().to_owned() };
        match url {
            DatabaseUrl::Sqlite(path) => {
                let path =
                    path.to_str().ok_or_else(|| unreachable("the path is not valid UTF-8".to_owned()))?;
                let mut connection =
                    SqliteConnection::establish(path).map_err(|fault| unreachable(fault.to_string()))?;
                connection.batch_execute(&pragmas(role)).map_err(|fault| match StoreError::from(fault) {
                    locked @ StoreError::Locked { .. } => locked,
                    other => unreachable(other.to_string()),
                })?;
                Ok(Self::Sqlite(connection))
            }
            #[cfg(feature = "postgres")]
            DatabaseUrl::Postgres(text) => {
                let mut connection =
                    PgConnection::establish(text).map_err(|fault| unreachable(fault.to_string()))?;
                connection
                    .batch_execute(session_settings(role))
                    .map_err(|fault| unreachable(fault.to_string()))?;
                Ok(Self::Postgres(connection))
            }
            #[cfg(not(feature = "postgres"))]
            DatabaseUrl::Postgres(_) => {
                Err(unreachable("this program was built without PostgreSQL".to_owned()))
            }
        }
    }

    /// Starts the transaction of a batch. On SQLite it takes the lock for writing at once: one that starts by reading
    /// fails without waiting when another process wrote in between.
    pub(crate) fn begin(&mut self) -> QueryResult<()> {
        match self {
            Self::Sqlite(connection) => {
                AnsiTransactionManager::begin_transaction_sql(connection, "BEGIN IMMEDIATE")
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(connection) => AnsiTransactionManager::begin_transaction(connection),
        }
    }

    /// Does work that, when it fails, leaves nothing in the transaction around it.
    ///
    /// SQLite ends the whole transaction by itself when the disk is full; then what made the work fail is told, and not that
    /// there is nothing left to roll back.
    pub(crate) fn savepoint<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut cause = None;
        let outcome =
            self.transaction(|engine| work(engine).inspect_err(|fault| cause = Some(fault.clone())));
        outcome.map_err(|fault| cause.unwrap_or(fault))
    }

    /// Does work in a transaction of its own, on a connection without one.
    pub(crate) fn alone<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.begin()?;
        match self.savepoint(work) {
            Ok(value) => {
                self.commit()?;
                Ok(value)
            }
            Err(fault) => {
                // What made the work fail is told; a connection that cannot roll back is not used again.
                let _ = <Self as TransactionManager<Self>>::rollback_transaction(self);
                Err(fault)
            }
        }
    }

    /// Lets nobody else add or wrap data keys until the transaction ends. SQLite has one writer anyway.
    pub(crate) fn lock_data_keys(&mut self) -> QueryResult<()> {
        match self {
            Self::Sqlite(_) => Ok(()),
            #[cfg(feature = "postgres")]
            Self::Postgres(connection) => {
                connection.batch_execute("LOCK TABLE data_keys IN SHARE ROW EXCLUSIVE MODE")
            }
        }
    }

    /// Leaves nothing of the transaction, and starts another.
    pub(crate) fn begin_again(&mut self) -> QueryResult<()> {
        <Self as TransactionManager<Self>>::rollback_transaction(self)?;
        self.begin()
    }

    /// Makes the transaction durable.
    pub(crate) fn commit(&mut self) -> QueryResult<()> {
        <Self as TransactionManager<Self>>::commit_transaction(self)
    }
}

/// The wait comes first, since changing the journal mode already needs the lock.
fn pragmas(role: Role) -> String {
    let wait = BUSY_TIMEOUT.as_millis();
    let base = format!("PRAGMA busy_timeout={wait}; PRAGMA journal_mode=WAL; PRAGMA foreign_keys=ON;");
    match role {
        // FULL: a commit that was reported survives a power cut, which NORMAL does not promise in WAL mode.
        // The log is brought into the database beside the writer (`checkpoint.rs`), who does so himself only if nobody has by
        // 256 MiB.
        Role::Writer => {
            base + "PRAGMA synchronous=FULL; PRAGMA cache_size=-65536; PRAGMA wal_autocheckpoint=65536;"
        }
        Role::Reader => base + "PRAGMA query_only=ON;",
    }
}

/// A server or database may be set to less durable commits by default; the journal never is.
#[cfg(feature = "postgres")]
const fn session_settings(role: Role) -> &'static str {
    match role {
        Role::Writer => "SET application_name = 'cooperage writer'; SET synchronous_commit = 'on'",
        Role::Reader => "SET application_name = 'cooperage reader'; SET default_transaction_read_only = on",
    }
}

/// Makes and checks the connections of the pool of readers.
#[derive(Debug)]
pub(crate) struct Readers {
    pub(crate) url: DatabaseUrl,
}

impl ManageConnection for Readers {
    type Connection = Engine;
    type Error = StoreError;

    fn connect(&self) -> Result<Engine, StoreError> {
        Engine::open(&self.url, Role::Reader)
    }

    fn is_valid(&self, engine: &mut Engine) -> Result<(), StoreError> {
        match engine {
            Engine::Sqlite(_) => Ok(()),
            #[cfg(feature = "postgres")]
            Engine::Postgres(connection) => Ok(connection.batch_execute("SELECT 1")?),
        }
    }

    fn has_broken(&self, engine: &mut Engine) -> bool {
        <Engine as TransactionManager<Engine>>::is_broken_transaction_manager(engine)
    }
}
