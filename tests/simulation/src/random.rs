//! Numbers that look random and are the same for the same seed.

/// A stream of numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The stream of one matter of a seed. It does not depend on how much was drawn for other matters, so that leaving
    /// one of them out changes nothing of the rest.
    #[must_use]
    pub fn about(seed: u64, matter: &[u64]) -> Self {
        Self(matter.iter().fold(seed, |state, part| Self(state ^ part.rotate_left(23)).draw()))
    }

    /// The next number.
    pub const fn draw(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 and below `limit`, which is not 0.
    pub const fn below(&mut self, limit: u64) -> u64 {
        self.draw() % limit
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low.saturating_add_unsigned(self.below(low.abs_diff(high).saturating_add(1)))
    }

    /// True once in `so_many` draws.
    pub const fn one_in(&mut self, so_many: u64) -> bool {
        self.below(so_many) == 0
    }

    /// One of a list that is not empty.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        let index = self.below(list.len().max(1) as u64);
        &list[usize::try_from(index).unwrap_or_default()]
    }

    /// Some of a list, in its order.
    pub fn some<'a, T>(&mut self, list: &'a [T]) -> Vec<&'a T> {
        list.iter().filter(|_| self.one_in(2)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matter_has_the_same_stream_whatever_else_was_drawn() {
        let mut one = Random::about(7, &[1, 2]);
        let mut other = Random::about(7, &[1, 2]);
        assert_eq!(one.draw(), other.draw());
        assert_ne!(Random::about(7, &[1, 3]).draw(), Random::about(7, &[1, 2]).draw());
        assert_ne!(Random::about(8, &[1, 2]).draw(), Random::about(7, &[1, 2]).draw());
    }

    #[test]
    fn numbers_keep_within_their_limits() {
        let mut random = Random::new(1);
        let drawn: Vec<i64> = (0..200).map(|_| random.between(-2, 2)).collect();
        assert!((-2..=2).all(|number| drawn.contains(&number)) && drawn.iter().all(|n| (-2..=2).contains(n)));
    }
}
