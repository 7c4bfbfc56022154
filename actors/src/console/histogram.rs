//! How long things take, in steps of a factor of two.

/// Number of steps: the first is below 1 µs, the last has no end (above a quarter of an hour).
pub const BUCKETS: usize = 32;

/// How often something took how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: [u64; BUCKETS],
    total_us: u64,
    longest_us: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: [0; BUCKETS], total_us: 0, longest_us: 0 }
    }
}

/// Which step a time belongs to: 0 for less than 1 µs, otherwise one more than the binary logarithm.
const fn bucket(us: u64) -> usize {
    let bits = (u64::BITS - us.leading_zeros()) as usize;
    if bits < BUCKETS { bits } else { BUCKETS - 1 }
}

/// All times in a step are below this, in µs.
#[must_use]
pub const fn bound_us(bucket: usize) -> u64 {
    1 << bucket
}

impl Histogram {
    /// Counts a time, in ns.
    pub fn add(&mut self, ns: u64) {
        let us = ns / 1000;
        self.counts[bucket(us)] += 1;
        self.total_us = self.total_us.saturating_add(us);
        self.longest_us = self.longest_us.max(us);
    }

    /// How many times were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Mean, in µs; 0 of nothing.
    #[must_use]
    pub fn mean_us(&self) -> u64 {
        self.total_us / self.count().max(1)
    }

    /// The longest, in µs.
    #[must_use]
    pub const fn longest_us(&self) -> u64 {
        self.longest_us
    }

    /// A time that so many of a hundred do not exceed, in µs: the end of its step, or the longest.
    #[must_use]
    pub fn percentile_us(&self, of_hundred: u64) -> u64 {
        let wanted = (self.count() * of_hundred).div_ceil(100);
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted && seen > 0 {
                return bound_us(index).min(self.longest_us);
            }
        }
        0
    }

    /// The counts of all steps up to the last that has any.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        let used = self.counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        &self.counts[..used]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_in_the_step_that_ends_above_it() {
        for (us, expected) in [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (1023, 10), (1024, 11), (u64::MAX, 31)]
        {
            assert_eq!(bucket(us), expected, "{us}");
        }
        for us in [1_u64, 7, 100, 99_999] {
            let of = bucket(us);
            assert!(us < bound_us(of) && us >= bound_us(of - 1), "{us}");
        }
    }

    #[test]
    fn what_most_do_not_exceed_is_the_end_of_its_step() {
        let mut times = Histogram::default();
        assert_eq!((times.percentile_us(50), times.mean_us(), times.counts().len()), (0, 0, 0));
        for us in (0..99).map(|_| 3).chain([900]) {
            times.add(us * 1000);
        }
        assert_eq!((times.percentile_us(50), times.percentile_us(99), times.percentile_us(100)), (4, 4, 900));
        assert_eq!((times.count(), times.longest_us(), times.counts().len()), (100, 900, 11));
    }
}
