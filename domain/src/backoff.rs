//! Pauses between tries of something that may be away for long.

use std::time::Duration;

/// Pauses that double from `first` to `longest`, spread out so that many who lost the same thing do not come back at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The pause after the first failure, before it is spread.
    pub first: Duration,
    /// The longest one.
    pub longest: Duration,
}

impl Backoff {
    /// The pause after so many failures in a row, from 1: between half of what is due and all of it, as `random` says.
    #[must_use]
    pub fn pause(&self, failures: u32, random: u64) -> Duration {
        let doublings = failures.saturating_sub(1).min(16);
        let due = self.first.saturating_mul(1 << doublings).min(self.longest);
        let half = due / 2;
        let spread = u64::try_from(half.as_millis()).unwrap_or(u64::MAX).saturating_add(1);
        half + Duration::from_millis(random % spread)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BACKOFF: Backoff = Backoff { first: Duration::from_millis(200), longest: Duration::from_secs(30) };

    #[test]
    fn pauses_double_up_to_the_longest() {
        let shortest = [1, 2, 3, 8, 9, u32::MAX].map(|failures| BACKOFF.pause(failures, 0).as_millis());
        assert_eq!(shortest, [100, 200, 400, 12_800, 15_000, 15_000]);
    }

    proptest! {
        #[test]
        fn pauses_lie_between_half_and_all_of_what_is_due(failures in 1..40_u32, random: u64) {
            let (least, pause) = (BACKOFF.pause(failures, 0), BACKOFF.pause(failures, random));
            prop_assert!(least <= pause && pause <= least * 2 && pause <= BACKOFF.longest);
        }
    }
}
