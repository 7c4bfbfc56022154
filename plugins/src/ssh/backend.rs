//! Which library speaks SSH.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::error::SshError;
use super::russh_backend::RusshTransport;
use super::transport::Transport;

/// A library that speaks SSH; setting `ssh.backend`.
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
