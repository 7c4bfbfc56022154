//! Settings of the actor console.

use serde::{Deserialize, Serialize};

/// What the actor console may do.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ActorConsole {
    /// Whether it may have messages lost or delayed, and actors crash.
    pub faults: bool,
}
