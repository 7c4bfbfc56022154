//! Why a command did not do what was asked, and the exit code that says so.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cooperage_bench::BenchError;
use cooperage_domain::invalid::Invalid;
use cooperage_plugins::local::{LocalError, Refusal};

use super::client::ClientFault;
use super::exit_code;
use crate::config::SettingsError;
use crate::documents::DocumentFaults;

/// Why a command did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The server is not there, or refuses.
    #[error(transparent)]
    Client(#[from] ClientFault),
    /// What was written down is wrong.
    #[error(transparent)]
    Documents(#[from] DocumentFaults),
    /// An option's value is wrong.
    #[error("{}: {:?} {}", .0.field, .0.value, .0.fault)]
    Invalid(#[from] Invalid),
    /// The settings cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A benchmark cannot measure.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// Something on this host does not work.
    #[error(transparent)]
    Local(#[from] LocalError),
    /// A file cannot be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// What was tried, as a verb.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The server stopped because of this.
    #[error("{0}")]
    Server(String),
    /// Something is not as it must be.
    #[error("{detail}")]
    Refused {
        /// What.
        detail: String,
        /// What to do about it.
        remedy: String,
    },
    /// There is no such thing.
    #[error("{detail}")]
    Unknown {
        /// What is not there.
        detail: String,
        /// What is.
        remedy: String,
    },
    /// What was asked for was tried and failed, which has been told already.
    #[error("failed")]
    Told,
    /// It goes on, but was to be waited for no longer, which has been told already.
    #[error("not over in time")]
    TimedOut,
    /// There are differences, which have been told already.
    #[error("there are differences")]
    Differs,
    /// Ctrl-C, and what that means has been told already.
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    /// Something that is not as it must be, and what to do about it.
    pub fn refused(detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Refused { detail: detail.into(), remedy: remedy.into() }
    }

    /// A thing that is not there, and what is.
    pub fn unknown(detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Unknown { detail: detail.into(), remedy: remedy.into() }
    }

    /// A file that cannot be worked with; `doing` reads well after "cannot".
    pub fn file(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::File { doing, path: path.to_owned(), source }
    }

    /// What to do, where the fault does not say it.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Client(fault) => fault.remedy(),
            Self::Invalid(fault) => Some(fault.remedy.clone()),
            Self::Refused { remedy, .. } | Self::Unknown { remedy, .. } => Some(remedy.clone()),
            Self::File { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
                Some("run it as a user who may do that".to_owned())
            }
            _ => None,
        }
    }

    /// Whether it still has to be told.
    #[must_use]
    pub const fn is_untold(&self) -> bool {
        !matches!(self, Self::Told | Self::TimedOut | Self::Differs | Self::Interrupted)
    }

    /// What the process ends with.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code())
    }

    fn code(&self) -> u8 {
        match self {
            Self::Interrupted => exit_code::INTERRUPTED,
            Self::Invalid(_) | Self::Documents(_) | Self::Settings(_) => exit_code::USAGE,
            Self::Unknown { .. } => exit_code::UNKNOWN,
            Self::Told => exit_code::JOB_FAILED,
            Self::TimedOut => exit_code::TIMED_OUT,
            Self::Differs => exit_code::DIFFERS,
            Self::Client(fault) if fault.is_passing() => exit_code::UNAVAILABLE,
            Self::Client(fault) => match fault.status() {
                Some(401 | 403) => exit_code::FORBIDDEN,
                Some(404) => exit_code::UNKNOWN,
                _ => exit_code::FAILED,
            },
            Self::Bench(_) | Self::Local(_) | Self::File { .. } | Self::Server(_) | Self::Refused { .. } => {
                exit_code::FAILED
            }
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused { detail: format!("{}: {}", refusal.thing, refusal.fault), remedy: refusal.remedy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::problem::Problem;

    #[test]
    fn each_failure_has_its_exit_code() {
        let refused = |status| {
            let problem = Problem { status, ..Problem::default() };
            Failure::Client(ClientFault::Refused(Box::new(problem)))
        };
        let unreachable = ClientFault::Unreachable { server: String::new(), reason: String::new() };
        for (failure, code) in [
            (refused(400), 1),
            (refused(409), 1),
            (refused(422), 1),
            (refused(401), 4),
            (refused(403), 4),
            (refused(404), 3),
            (refused(503), 5),
            (unreachable.into(), 5),
            (Failure::unknown("", ""), 3),
            (Failure::refused("", ""), 1),
            (Invalid::new("--x", "", "", "").into(), 2),
            (Failure::Told, 6),
            (Failure::TimedOut, 7),
            (Failure::Differs, 8),
            (Failure::Interrupted, 130),
        ] {
            assert_eq!(failure.code(), code, "{failure:?}");
        }
    }
}
