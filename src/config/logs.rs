//! Settings of what tasks print.

use cooperage_schema::OutputLimits;
use serde::{Deserialize, Serialize};

/// A day, in milliseconds.
const DAY: i64 = 24 * 3600 * 1000;

/// How much of what tasks print is kept. In all of them 0 is: no limit.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Logs {
    /// How long, in days.
    pub retention_days: u32,
    /// How much of one task, in MiB as it is stored.
    pub max_task_mb: u64,
    /// How much of all tasks together, in MiB as it is stored.
    pub max_total_mb: u64,
}

impl Logs {
    /// What is to go at this time, in milliseconds since 1970.
    #[must_use]
    pub fn limits(&self, now: i64) -> OutputLimits {
        let bytes = |mib: u64| (mib > 0).then(|| mib.saturating_mul(1024 * 1024));
        let days = i64::from(self.retention_days);
        OutputLimits {
            before_ms: (days > 0).then(|| now - days * DAY),
            task_bytes: bytes(self.max_task_mb),
            all_bytes: bytes(self.max_total_mb),
        }
    }
}
