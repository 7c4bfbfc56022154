//! How patient the actors are: every pause and limit in time that is not a matter of one cluster.

use std::time::Duration;

/// Pauses and limits in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// How long a plugin may take to stop after its attempt was cancelled. Then the attempt is given up; the machine stays
    /// blocked until the plugin does stop.
    pub grace: Duration,
    /// How long a cluster with nothing to do stays live.
    pub rest_after: Duration,
    /// First pause before a failed cluster is started again; doubles with each failure in a row.
    pub first_pause: Duration,
    /// Longest such pause.
    pub longest_pause: Duration,
    /// An attempt that takes less is never said to straggle.
    pub straggler_floor: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            grace: Duration::from_secs(30),
            rest_after: Duration::from_secs(60),
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(30),
            straggler_floor: Duration::from_secs(30),
        }
    }
}

impl Pace {
    /// The pause after so many failures in a row, from 1.
    #[must_use]
    pub fn pause_after(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(16);
        self.first_pause.saturating_mul(1 << doublings).min(self.longest_pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_doubles_up_to_its_limit() {
        let pace = Pace::default();
        let pauses: Vec<_> = [1, 2, 3, 9, 10, u32::MAX].map(|n| pace.pause_after(n).as_millis()).into();
        assert_eq!(pauses, [100, 200, 400, 25_600, 30_000, 30_000]);
    }
}
