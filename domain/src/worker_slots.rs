//! The workers a provisioner brings for one tenant: numbered slots, each a number until it has a task.

use std::collections::BTreeSet;

/// Slots of one tenant, from 1. What is busy stays so when there are to be fewer; it goes when it is done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkerSlots {
    wanted: u32,
    busy: BTreeSet<u32>,
}

impl WorkerSlots {
    /// There are to be so many.
    pub fn resize(&mut self, wanted: u32) {
        self.wanted = wanted;
    }

    /// The lowest free ones, at most so many. None as long as more are busy than there are to be.
    #[must_use]
    pub fn free(&self, limit: usize) -> Vec<u32> {
        let left = usize::try_from(self.wanted).unwrap_or(usize::MAX).saturating_sub(self.busy.len());
        (1..=self.wanted).filter(|number| !self.busy.contains(number)).take(left.min(limit)).collect()
    }

    /// A slot has a task; whether it had none.
    pub fn occupy(&mut self, number: u32) -> bool {
        self.busy.insert(number)
    }

    /// A slot is done.
    pub fn release(&mut self, number: u32) {
        self.busy.remove(&number);
    }

    /// Workers there are: those that are to be, and those that are only finishing.
    #[must_use]
    pub fn live(&self) -> u32 {
        self.wanted.max(u32::try_from(self.busy.len()).unwrap_or(u32::MAX))
    }

    /// Whether no slot has a task.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.busy.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Resize(u32),
        Work(usize),
        Finish(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            (0..6_u32).prop_map(Step::Resize),
            (1..4_usize).prop_map(Step::Work),
            (0..6_usize).prop_map(Step::Finish),
        ];
        prop::collection::vec(step, 0..60)
    }

    proptest! {
        /// Whatever comes: no slot is given twice, never more work is taken than there are to be workers, and once all is
        /// done exactly those are free.
        #[test]
        fn free_slots_are_those_nobody_works_on(steps in steps()) {
            let (mut slots, mut busy, mut wanted) = (WorkerSlots::default(), BTreeSet::new(), 0);
            for step in steps {
                match step {
                    Step::Resize(number) => {
                        wanted = number;
                        slots.resize(number);
                    }
                    Step::Work(limit) => {
                        for number in slots.free(limit) {
                            prop_assert!(slots.occupy(number) && busy.insert(number));
                        }
                        // Those that were busy before there were to be fewer may still be too many.
                        prop_assert!(slots.free(1).is_empty() || busy.len() < wanted as usize);
                    }
                    Step::Finish(place) => {
                        if let Some(number) = busy.iter().nth(place).copied() {
                            busy.remove(&number);
                            slots.release(number);
                        }
                    }
                }
                prop_assert_eq!(slots.live() as usize, busy.len().max(wanted as usize));
            }
            for number in busy {
                slots.release(number);
            }
            prop_assert!(slots.is_idle());
            prop_assert_eq!(slots.free(usize::MAX), (1..=wanted).collect::<Vec<_>>());
        }
    }
}
