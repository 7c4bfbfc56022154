//! What can go wrong on the host, in words an operator can act on.

use std::io;
use std::path::{Path, PathBuf};

use cooperage_domain::error_kind::ErrorKind;
use cooperage_domain::invalid::Invalid;

use super::host_command::CommandError;
use crate::context::TaskFault;

/// Something the host lacks, or that is in the way, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{thing}: {fault}; {remedy}")]
pub struct Refusal {
    /// What it is about: a program, a directory, a bridge.
    pub thing: String,
    /// What is wrong with it.
    pub fault: String,
    /// What to do.
    pub remedy: String,
}

impl Refusal {
    /// From its three parts.
    pub fn new(thing: impl Into<String>, fault: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { thing: thing.into(), fault: fault.into(), remedy: remedy.into() }
    }
}

/// Why something could not be done on this host.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// The host lacks something, or something is in the way.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A setting, a provider's field or a task's value is wrong.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// A program of the host failed.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// A file could not be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// What was tried, as a verb.
        doing: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A machine does not come up, go down or answer.
    #[error("machine {machine} {fault}; {remedy}")]
    Machine {
        /// Its id.
        machine: String,
        /// What it does or does not do; continues the sentence "machine ID ...".
        fault: String,
        /// What to do.
        remedy: String,
    },
    /// Nobody wants the result any more.
    #[error(
        "stopped while working on machine {0}: the task was cancelled; what was made is found again or deleted"
    )]
    Cancelled(String),
}

impl LocalError {
    /// A machine that does not do what it should.
    pub(super) fn machine(
        machine: impl Into<String>,
        fault: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Machine { machine: machine.into(), fault: fault.into(), remedy: remedy.into() }
    }
}

impl LocalError {
    /// What kind of failure of a task it is; `None` for what follows from the task.
    const fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Invalid(_) => Some(ErrorKind::Permanent),
            Self::Machine { .. } => Some(ErrorKind::Machine),
            Self::Refused(_) | Self::Command(_) | Self::File { .. } | Self::Cancelled(_) => None,
        }
    }
}

impl From<LocalError> for TaskFault {
    fn from(error: LocalError) -> Self {
        Self { kind: error.kind(), ..Self::new(error.to_string()) }
    }
}

/// Says in an I/O error what was tried, and on which file.
pub(super) trait At<T> {
    /// `doing` is a verb that reads well after "cannot".
    fn at(self, doing: &'static str, path: impl AsRef<Path>) -> Result<T, LocalError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, doing: &'static str, path: impl AsRef<Path>) -> Result<T, LocalError> {
        self.map_err(|source| LocalError::File { doing, path: path.as_ref().to_owned(), source })
    }
}
