//! Which library speaks SSH.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::error::SshError;
use super::russh_backend::RusshTransport;
use super::transport::Transport;

/// A library that speaks SSH; setting `ssh.backend`.
///
/// Both carry commands through one open shell per connection and are about as fast: `russh` makes 1.04 times as many round
/// trips a second on one connection and 0.96 times as many on fifty, 0.87 times as many new connections, and 1.22 times as
/// many durable executions. It is the default for what it needs: 2.6 times less memory for a connection (69 KiB instead
/// of 184), no thread for each (3 instead of 53 with fifty connections), and no C library. It also notices a server that
/// hangs while its system still answers. `cooperage bench ssh` measures again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    /// The pure Rust library `russh`.
    #[default]
    Russh,
    /// `wezterm-ssh` over libssh2; only with the cargo feature `wezterm`.
    Wezterm,
}

impl Backend {
    /// All that can be named.
    pub const ALL: [Self; 2] = [Self::Russh, Self::Wezterm];

    /// As in the settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Russh => "russh",
            Self::Wezterm => "wezterm",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Backend {
    type Err = SshError;

    fn from_str(text: &str) -> Result<Self, SshError> {
        let known = Self::ALL.into_iter().find(|backend| backend.as_str() == text);
        known.ok_or_else(|| SshError::BackendMissing { backend: text.to_owned() })
    }
}

/// The transport of a back end.
///
/// # Errors
/// [`SshError::BackendMissing`] when this program was built without it.
pub fn transport(backend: Backend) -> Result<Arc<dyn Transport>, SshError> {
    match backend {
        Backend::Russh => Ok(Arc::new(RusshTransport)),
        #[cfg(feature = "wezterm")]
        Backend::Wezterm => Ok(Arc::new(super::wezterm_backend::WeztermTransport)),
        #[cfg(not(feature = "wezterm"))]
        Backend::Wezterm => Err(SshError::BackendMissing { backend: backend.to_string() }),
    }
}
