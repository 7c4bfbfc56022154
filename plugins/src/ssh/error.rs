//! What can go wrong between us and a machine, and what to do about it.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use cooperage_domain::error_kind::ErrorKind as TaskFailure;

use crate::context::TaskFault;

/// Why something could not be done over SSH. `address` is always `host:port`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SshError {
    /// No way to the machine.
    #[error("{address} cannot be reached ({reason}): check that the machine runs and that its network is up")]
    Unreachable {
        /// Where.
        address: String,
        /// The system's words.
        reason: String,
    },
    /// The machine is there, its SSH server is not.
    #[error(
        "{address} refuses connections: check that the machine's SSH server runs and listens on this port"
    )]
    Refused {
        /// Where.
        address: String,
    },
    /// What answered does not speak SSH with us.
    #[error(
        "{address} did not complete the SSH handshake ({reason}): check that an SSH server listens there and is not overloaded"
    )]
    Handshake {
        /// Where.
        address: String,
        /// What the library says.
        reason: String,
    },
    /// Somebody else may be answering in the machine's place.
    #[error(
        "the host key of {address} changed: expected {expected}, found {found}. Nothing was sent. If the machine was \
         reinstalled on purpose, confirm it again; otherwise find out who answers at this address"
    )]
    HostKeyChanged {
        /// Where.
        address: String,
        /// Fingerprint of the pinned key.
        expected: String,
        /// Fingerprint of what was offered.
        found: String,
    },
    /// There is no key to compare with, or none of the kind we pin.
    #[error(
        "the host key of {address} is not known ({reason}): give the machine an ed25519 host key and confirm it"
    )]
    HostKeyUnknown {
        /// Where.
        address: String,
        /// What is missing.
        reason: String,
    },
    /// The machine does not accept the login.
    #[error(
        "{address} does not let {user} log in with {identity}: check that its public half is in that user's \
         authorized_keys on the machine"
    )]
    AuthenticationRefused {
        /// Where.
        address: String,
        /// Login name.
        user: String,
        /// File of the private key.
        identity: PathBuf,
    },
    /// The private key cannot be used.
    #[error(
        "the SSH identity file {path} cannot be used ({reason}): give a private key without passphrase that this server may read"
    )]
    IdentityFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It took too long.
    #[error("{what} on {address} took longer than {} s and was given up: check the machine's load and network, or allow more time", limit.as_secs_f32())]
    TimedOut {
        /// Where.
        address: String,
        /// What took so long.
        what: String,
        /// How long it was given.
        limit: Duration,
    },
    /// The connection ended in the middle.
    #[error(
        "the connection to {address} was lost ({reason}): check that the machine still runs, then try again"
    )]
    ConnectionLost {
        /// Where.
        address: String,
        /// How it showed.
        reason: String,
    },
    /// It logs people in, but gives them no terminal.
    #[error(
        "{address} gives no terminal: allow it for the login user there (PermitTTY in sshd_config, and a login shell)"
    )]
    NoTerminal {
        /// Where.
        address: String,
    },
    /// Nobody wants the result any more.
    #[error("the command on {address} was cancelled")]
    Cancelled {
        /// Where.
        address: String,
    },
    /// A file on the machine could not be read or written.
    #[error(
        "{path} on {address} cannot be {verb} ({reason}): check its directory, its permissions and the space left"
    )]
    RemoteFile {
        /// Where.
        address: String,
        /// The file.
        path: String,
        /// `read` or `written`.
        verb: &'static str,
        /// The machine's words.
        reason: String,
    },
    /// The machine cannot hold durable executions.
    #[error(
        "{address} cannot run tasks ({reason}): the login user must be able to make {root} there, by itself or with \
         sudo without a password, and flock and setsid (util-linux) must be installed"
    )]
    CannotRun {
        /// Where.
        address: String,
        /// Directory of the executions on the machine.
        root: String,
        /// The machine's words.
        reason: String,
    },
    /// An execution began and left no result.
    #[error(
        "execution {key} on {address} ended without a result, as when the machine restarts or its processes are killed: \
         check the machine, then run the task again"
    )]
    Interrupted {
        /// Where.
        address: String,
        /// Which execution.
        key: String,
    },
    /// The name of an execution or of one of its files cannot be used.
    #[error(
        "{name:?} cannot name an execution or a file of one: use letters, digits, '.', '_' and '-', and no '.' in front"
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// The back end asked for is not in this program.
    #[error(
        "the SSH back end {backend:?} is not built in: use \"russh\", or build with the cargo feature \"wezterm\""
    )]
    BackendMissing {
        /// Its name.
        backend: String,
    },
}

impl SshError {
    /// Whether the same may succeed a little later, without anybody doing anything.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::Refused { .. }
                | Self::Handshake { .. }
                | Self::TimedOut { .. }
                | Self::ConnectionLost { .. }
        )
    }

    /// What kind of failure of a task it is; `None` for what follows from the task.
    #[must_use]
    pub const fn kind(&self) -> Option<TaskFailure> {
        match self {
            Self::Unreachable { .. }
            | Self::Refused { .. }
            | Self::Handshake { .. }
            | Self::TimedOut { .. }
            | Self::ConnectionLost { .. }
            | Self::Interrupted { .. } => Some(TaskFailure::Transient),
            Self::HostKeyChanged { .. }
            | Self::HostKeyUnknown { .. }
            | Self::AuthenticationRefused { .. }
            | Self::IdentityFile { .. }
            | Self::BadName { .. }
            | Self::NoTerminal { .. }
            | Self::BackendMissing { .. } => Some(TaskFailure::Permanent),
            Self::Cancelled { .. } | Self::RemoteFile { .. } | Self::CannotRun { .. } => None,
        }
    }

    /// From a connect that failed.
    pub(super) fn from_dial(address: &str, error: &std::io::Error) -> Self {
        let address = address.to_owned();
        match error.kind() {
            ErrorKind::ConnectionRefused => Self::Refused { address },
            _ => Self::Unreachable { address, reason: error.to_string() },
        }
    }

    /// A connection that ended in the middle.
    pub(super) fn lost(address: &str, reason: impl std::fmt::Display) -> Self {
        Self::ConnectionLost { address: address.to_owned(), reason: reason.to_string() }
    }
}

impl From<SshError> for TaskFault {
    fn from(error: SshError) -> Self {
        Self { kind: error.kind(), ..Self::new(error.to_string()) }
    }
}
