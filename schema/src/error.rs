//! What can go wrong with the store, and what to do about it.

use std::fmt::Display;

use cooperage_domain::invalid::Invalid;
use diesel::result::{DatabaseErrorKind, Error};

use crate::secrets_error::SecretsError;

/// A fault of the store. Cheap to clone: all callers whose work shared a transaction are told the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The URL leads nowhere we know.
    #[error("database.url: {url:?} {fault}; use a file path, sqlite://PATH or postgres://USER@HOST/DATABASE")]
    BadUrl {
        /// As given, without its password.
        url: String,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// No connection could be made.
    #[error(
        "the database {url} cannot be reached: {cause}; check database.url, that the server runs (or the folder exists \
         and may be written), and the access rights"
    )]
    Unreachable {
        /// Where it should be.
        url: String,
        /// The engine's words.
        cause: String,
    },
    /// The connection broke while it was used. What was under way may or may not be stored.
    #[error(
        "the connection to the database broke: {cause}; it is opened again by itself, so try again, and look at the \
         database's own log when this persists"
    )]
    ConnectionLost {
        /// The engine's words.
        cause: String,
    },
    /// Another process holds the file.
    #[error(
        "the database is locked by another process ({cause}); stop the other program that writes to this file, \
         or give this one its own data_dir"
    )]
    Locked {
        /// The engine's words.
        cause: String,
    },
    /// No room is left.
    #[error("the database's disk is full ({cause}); free some space: writing goes on by itself then")]
    DiskFull {
        /// The engine's words.
        cause: String,
    },
    /// A newer release has been here.
    #[error(
        "the database has migration {found}, this program knows none after {newest}; run the release that made it, \
         or restore a backup from before the upgrade"
    )]
    NewerSchema {
        /// The migration that is not known.
        found: String,
        /// The newest one that is.
        newest: String,
    },
    /// A migration did not go through; nothing of it is stored.
    #[error(
        "the database could not be brought up to date: {cause}; nothing was changed, so the old release still works"
    )]
    Migration {
        /// The engine's words.
        cause: String,
    },
    /// More work waits than the writer takes on.
    #[error("the database is behind: {waiting} writes wait already; try again in a moment")]
    Overloaded {
        /// The limit that is reached.
        waiting: usize,
    },
    /// Somebody else wrote the same at the same moment.
    #[error("somebody else changed the same at the same moment ({cause}); try again")]
    Contended {
        /// The engine's words.
        cause: String,
    },
    /// All readers are busy, or new ones cannot be made.
    #[error(
        "no connection for reading became free: {cause}; try again, or raise database.readers when it is only busy"
    )]
    NoReader {
        /// The pool's words.
        cause: String,
    },
    /// The store was closed before the work was done; nothing of it is stored.
    #[error("the store is closed, so nothing was written; try again when the server is up")]
    Closed,
    /// The work itself gave up with a panic; nothing of it is stored.
    #[error("writing failed inside the program: {cause}; nothing was stored, please report this")]
    Panicked {
        /// The panic's message.
        cause: String,
    },
    /// What is stored cannot be understood.
    #[error("a {what} in the database cannot be understood: {cause}; was it changed by hand?")]
    Unreadable {
        /// The sort of thing.
        what: &'static str,
        /// Why.
        cause: String,
    },
    /// There already is one.
    #[error("{what} {name:?} already exists; choose another name, or change the one that is there")]
    AlreadyExists {
        /// The sort of thing.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// There is none.
    #[error("there is no {what} {name:?}; list what is there and check the name")]
    NotFound {
        /// The sort of thing.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// It cannot be removed while it is used.
    #[error("{what} {name:?} is {status} and cannot be deleted; {remedy}")]
    InUse {
        /// The sort of thing.
        what: &'static str,
        /// Its name.
        name: String,
        /// Why not.
        status: String,
        /// What to do.
        remedy: &'static str,
    },
    /// It was carried out, and is history now.
    #[error(
        "{what} {name} was carried out by {by}; it cannot be changed or carried out again: make a new one"
    )]
    Done {
        /// The sort of thing.
        what: &'static str,
        /// Its name.
        name: String,
        /// By whom.
        by: String,
    },
    /// Secrets cannot be kept or read.
    #[error(transparent)]
    Secrets(#[from] SecretsError),
    /// It is not in the state that the change was made for.
    #[error("{what} {name:?} {}", changed(now.as_deref()))]
    Changed {
        /// The sort of thing.
        what: &'static str,
        /// Its name.
        name: String,
        /// Its state now; `None` when there is none.
        now: Option<String>,
    },
    /// A rule of the domain does not hold.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// A row does not hold what we wrote.
    #[error(
        "{what} in the database cannot be read: {cause}; restore it from a backup, or report this with the release's number"
    )]
    Corrupt {
        /// Which row or column.
        what: String,
        /// Why not.
        cause: String,
    },
    /// The engine refused a statement for a reason of its own.
    #[error("the database refused: {cause}; nothing was stored, please report this")]
    Refused {
        /// The engine's words.
        cause: String,
    },
}

fn changed(now: Option<&str>) -> &'static str {
    match now {
        Some(_) => "was changed by somebody else meanwhile, or is there already",
        None => "is not there",
    }
}

impl StoreError {
    /// Whether the same call may succeed later without anything being changed.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::ConnectionLost { .. }
                | Self::Locked { .. }
                | Self::DiskFull { .. }
                | Self::Overloaded { .. }
                | Self::Contended { .. }
                | Self::NoReader { .. }
        )
    }

    /// Whether the fault lies with the connection or the machine, so that whatever shares the transaction fails too.
    pub(crate) const fn spoils_transaction(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::ConnectionLost { .. }
                | Self::Locked { .. }
                | Self::DiskFull { .. }
        )
    }

    pub(crate) fn corrupt(what: impl Into<String>, cause: impl Display) -> Self {
        let (what, cause) = (what.into(), cause.to_string());
        Self::Corrupt { what, cause }
    }
}

impl From<Error> for StoreError {
    fn from(fault: Error) -> Self {
        let cause = fault.to_string();
        match &fault {
            Error::DatabaseError(DatabaseErrorKind::ClosedConnection, _)
            | Error::BrokenTransactionManager
            | Error::RollbackErrorOnCommit { .. } => Self::ConnectionLost { cause },
            Error::DatabaseError(
                DatabaseErrorKind::UniqueViolation | DatabaseErrorKind::SerializationFailure,
                _,
            ) => Self::Contended { cause },
            Error::DatabaseError(..) => from_message(cause),
            Error::DeserializationError(_) => Self::corrupt("a row", cause),
            _ => Self::Refused { cause },
        }
    }
}

/// Both engines give most faults no kind but only a text; these are the texts that matter, in small letters.
fn from_message(cause: String) -> StoreError {
    let text = cause.to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    if says(&["database is locked", "database table is locked"]) {
        StoreError::Locked { cause }
    } else if says(&["disk is full", "no space left", "could not extend file"]) {
        StoreError::DiskFull { cause }
    } else if says(&["deadlock detected", "could not serialize"]) {
        StoreError::Contended { cause }
    } else if says(&[
        "server closed the connection",
        "terminating connection",
        "no connection to the server",
        "connection to server",
        "could not receive data",
        "could not send data",
        "connection not open",
        "the database system is",
        "cannot execute insert in a read-only transaction",
        "cannot execute update in a read-only transaction",
        "disk i/o error",
        "unable to open database file",
        "ssl syscall error",
        "ssl connection has been closed",
    ]) {
        StoreError::ConnectionLost { cause }
    } else {
        StoreError::Refused { cause }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(kind: DatabaseErrorKind, text: &str) -> StoreError {
        Error::DatabaseError(kind, Box::new(text.to_owned())).into()
    }

    #[test]
    fn faults_of_the_surroundings_may_be_tried_again_and_ours_not() {
        for text in [
            "database is locked",
            "database or disk is full",
            "could not extend file \"base/1\": No space left on device",
            "server closed the connection unexpectedly",
            "terminating connection due to administrator command",
            "deadlock detected",
        ] {
            assert!(database(DatabaseErrorKind::Unknown, text).is_retryable(), "{text}");
        }
        assert!(database(DatabaseErrorKind::UniqueViolation, "duplicate key").is_retryable());
        for text in ["no such table: x", "CHECK constraint failed"] {
            assert!(!database(DatabaseErrorKind::Unknown, text).is_retryable(), "{text}");
        }
    }

    #[test]
    fn a_duplicate_is_nobody_elses_fault() {
        assert!(!database(DatabaseErrorKind::UniqueViolation, "duplicate key").spoils_transaction());
        assert!(database(DatabaseErrorKind::ClosedConnection, "gone").spoils_transaction());
    }
}
