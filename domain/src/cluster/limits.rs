//! Limits a cluster's jobs run under: fixed when it is created, so that a replay decides as the first run did.

use serde::{Deserialize, Serialize};

use crate::lease::LeaseWarning;

/// Limits a cluster's jobs run under. Times in milliseconds. A limit that a stored cluster does not know has its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Attempts of a task in all, the first one included.
    pub max_attempts: u32,
    /// How long one attempt may take from its start.
    pub task_timeout: i64,
    /// Pause before the second attempt; doubled for each further one.
    pub retry_delay: i64,
    /// Longest pause between two attempts.
    pub max_retry_delay: i64,
    /// How much of a failed attempt's output is kept per stream, in characters.
    pub max_log_length: usize,
    /// How long before its end a lease is warned of.
    pub lease_warning: LeaseWarning,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_attempts: 3,
            task_timeout: 1_800_000,
            retry_delay: 1_000,
            max_retry_delay: 30_000,
            max_log_length: 2_048,
            lease_warning: LeaseWarning::default(),
        }
    }
}

impl Limits {
    /// Pause before the attempt that follows `attempts` failed ones.
    #[must_use]
    pub fn retry_delay_after(&self, attempts: u32) -> i64 {
        let doublings = attempts.saturating_sub(1).min(30);
        self.retry_delay.saturating_mul(1 << doublings).min(self.max_retry_delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_doubles_up_to_its_limit() {
        let limits = Limits::default();
        let pauses: Vec<_> = (1..8).map(|n| limits.retry_delay_after(n)).collect();
        assert_eq!(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
        assert_eq!(limits.retry_delay_after(u32::MAX), 30_000);
    }
}
