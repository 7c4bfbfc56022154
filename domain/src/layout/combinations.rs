//! Ways to spread equal things over slots, in the order in which layouts are tried.

/// All ways to put `items` things into slots of bounded size, in descending lexicographic order: `30, 21, 12, 03`.
#[derive(Debug, Clone)]
pub struct Combinations {
    min: Vec<u32>,
    max: Vec<u32>,
    next: Option<Vec<u32>>,
}

impl Combinations {
    /// Each slot holds at most its number in `max`.
    #[must_use]
    pub fn new(items: u32, max: &[u32]) -> Self {
        Self::between(items, &vec![0; max.len()], max)
    }

    /// Each slot holds at least its number in `min` and at most that in `max`.
    pub(super) fn between(items: u32, min: &[u32], max: &[u32]) -> Self {
        let mut combinations = Self { min: min.to_vec(), max: max.to_vec(), next: Some(min.to_vec()) };
        let possible = min.iter().zip(max).all(|(low, high)| low <= high);
        let rest = items.checked_sub(min.iter().fold(0, |sum: u32, low| sum.saturating_add(*low)));
        let filled = rest.is_some_and(|rest| combinations.fill_from(0, rest));
        if !possible || !filled {
            combinations.next = None;
        }
        combinations
    }

    /// Begins at `start` instead of the first way; `start` must itself be within `max`.
    #[must_use]
    pub fn starting_at(start: &[u32], max: &[u32]) -> Self {
        let within = start.len() == max.len() && start.iter().zip(max).all(|(count, high)| count <= high);
        Self { min: vec![0; max.len()], max: max.to_vec(), next: within.then(|| start.to_vec()) }
    }

    /// Puts `rest` more things into the slots from `slot` on, as early as possible. Whether they all found room.
    fn fill_from(&mut self, slot: usize, mut rest: u32) -> bool {
        let Some(counts) = &mut self.next else { return false };
        for (count, max) in counts.iter_mut().zip(&self.max).skip(slot) {
            let more = rest.min(max.saturating_sub(*count));
            *count += more;
            rest -= more;
        }
        rest == 0
    }

    /// Moves on: one thing leaves the last slot that has one to spare and room behind it; all behind it start anew.
    fn advance(&mut self) {
        let Some(counts) = &mut self.next else { return };
        let (mut spare, mut room) = (0, 0);
        for slot in (0..counts.len()).rev() {
            if counts[slot] > self.min[slot] && room > 0 {
                counts[slot] -= 1;
                counts[slot + 1..].copy_from_slice(&self.min[slot + 1..]);
                self.fill_from(slot + 1, spare + 1);
                return;
            }
            spare += counts[slot] - self.min[slot];
            room += u64::from(self.max[slot] - counts[slot]);
        }
        self.next = None;
    }
}

impl Iterator for Combinations {
    type Item = Vec<u32>;

    fn next(&mut self) -> Option<Vec<u32>> {
        let current = self.next.clone()?;
        self.advance();
        Some(current)
    }
}
