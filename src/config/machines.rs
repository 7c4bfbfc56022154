//! Settings of machines: how they are reached, those on this host, and terminals on them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How machines are reached.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Ssh {
    /// `russh` or `wezterm`; empty: the default of this build.
    pub backend: String,
}

/// Machines on this host.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// Where base images are kept; empty: `images` in the data directory.
    pub images_dir: String,
    /// Name of the bridge.
    pub bridge: String,
    /// Addresses of the machines, as a CIDR block; empty: the first block of our own list that is free.
    pub network: String,
}

/// Terminals on nodes, through the server.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Terminal {
    /// Most at once; 0: none at all.
    pub max_open: usize,
    /// One in which nothing was typed for so long is closed, in seconds.
    pub idle_seconds: u32,
    /// One that is open for so long is closed, in seconds.
    pub max_seconds: u32,
}

impl Terminal {
    /// How long nothing may be typed. What would close at once is the least that makes sense.
    #[must_use]
    pub fn idle(&self) -> Duration {
        Duration::from_secs(u64::from(self.idle_seconds.max(1)))
    }

    /// How long one may be open.
    #[must_use]
    pub fn longest(&self) -> Duration {
        Duration::from_secs(u64::from(self.max_seconds.max(1)))
    }
}
