//! On how few machines do all bundles fit, each as often as it is needed?

use std::cmp::Reverse;

use super::budget::{Budget, Exhausted};
use super::bundle_set::BundleSet;
use super::problem::Problem;

/// Whether `machines` machines can carry each bundle at least `needs` times.
///
/// Components do not influence each other, so each gets all machines to itself.
pub(super) fn fits(
    problem: &Problem,
    needs: &[u32],
    machines: u32,
    budget: &mut Budget,
) -> Result<bool, Exhausted> {
    let needed: BundleSet = (0..needs.len()).filter(|&bundle| needs[bundle] > 0).collect();
    if weight(needs, heaviest_rivals(problem, needs, needed)) > u64::from(machines) {
        return Ok(false);
    }
    for component in &problem.components {
        if !Packing::new(problem, needs, needed & *component, machines).place(0, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The smallest number of machines that carries each bundle at least `needs` times.
pub(super) fn fewest_machines(
    problem: &Problem,
    needs: &[u32],
    budget: &mut Budget,
) -> Result<u32, Exhausted> {
    let clique = weight(needs, heaviest_rivals(problem, needs, problem.all()));
    let mut machines = u32::try_from(clique).unwrap_or(u32::MAX);
    while !fits(problem, needs, machines, budget)? {
        machines = machines.saturating_add(1);
    }
    Ok(machines)
}

/// Bundles of `among` of which no two can share a node and which need many machines together: a lower bound, found
/// without search.
pub(super) fn heaviest_rivals(problem: &Problem, needs: &[u32], among: BundleSet) -> BundleSet {
    let mut heaviest = BundleSet::EMPTY;
    let mut tried = BundleSet::EMPTY;
    for start in among.iter() {
        if tried.contains(start) {
            continue;
        }
        let mut clique = BundleSet::EMPTY.with(start);
        let mut open = among & problem.rivals[start];
        while let Some(next) = open.lowest() {
            clique = clique.with(next);
            open = open & problem.rivals[next];
        }
        tried = tried | clique;
        if weight(needs, clique) > weight(needs, heaviest) {
            heaviest = clique;
        }
    }
    heaviest
}

/// How many machines these bundles need if none of them share.
pub(super) fn weight(needs: &[u32], bundles: BundleSet) -> u64 {
    bundles.iter().map(|bundle| u64::from(needs[bundle])).sum()
}

/// Machines being filled, bundle after bundle; sharing is tried before new machines are taken.
struct Packing<'p> {
    problem: &'p Problem,
    /// What is to be placed, and how often: the most needed first, then the one with most rivals.
    items: Vec<(usize, u32)>,
    /// Machines in use, those with the same bundles together.
    used: Vec<(BundleSet, u32)>,
    /// Machines without a bundle.
    free: u32,
}

impl<'p> Packing<'p> {
    fn new(problem: &'p Problem, needs: &[u32], bundles: BundleSet, machines: u32) -> Self {
        let mut items: Vec<(usize, u32)> = bundles.iter().map(|bundle| (bundle, needs[bundle])).collect();
        items.sort_by_key(|&(bundle, need)| (Reverse(need), Reverse(problem.rivals[bundle].len())));
        Self { problem, items, used: Vec::new(), free: machines }
    }

    /// Places the items from `item` on; leaves everything as it was if that is not possible.
    fn place(&mut self, item: usize, budget: &mut Budget) -> Result<bool, Exhausted> {
        match self.items.get(item) {
            Some(&(_, need)) => self.spread(item, need, 0, budget),
            None => Ok(true),
        }
    }

    /// Places `left` more of `item` on the used machines from `from` on and on free ones, then the items after it.
    fn spread(
        &mut self,
        item: usize,
        left: u32,
        from: usize,
        budget: &mut Budget,
    ) -> Result<bool, Exhausted> {
        budget.step()?;
        if left == 0 {
            return self.place(item + 1, budget);
        }
        let bundle = self.items[item].0;
        let takes = |&(set, count): &(BundleSet, u32)| {
            count > 0 && !set.contains(bundle) && self.problem.can_share(set.with(bundle))
        };
        let Some(at) = (from..self.used.len()).find(|&at| takes(&self.used[at])) else {
            return self.take_free(item, left, budget);
        };
        let (set, count) = self.used[at];
        for shared in (0..=count.min(left)).rev() {
            self.used[at].1 = count - shared;
            self.used.push((set.with(bundle), shared));
            if self.spread(item, left - shared, at + 1, budget)? {
                return Ok(true);
            }
            self.used.pop();
        }
        self.used[at].1 = count;
        Ok(false)
    }

    fn take_free(&mut self, item: usize, left: u32, budget: &mut Budget) -> Result<bool, Exhausted> {
        if left > self.free {
            return Ok(false);
        }
        self.free -= left;
        self.used.push((BundleSet::EMPTY.with(self.items[item].0), left));
        let placed = self.place(item + 1, budget)?;
        self.used.pop();
        self.free += left;
        Ok(placed)
    }
}
