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
        let needed = needed & *component;
        // Those of which no two share a node need what they need, which is the most natural case and needs no search.
        if needed.iter().all(|bundle| needed.without(bundle).is_subset(problem.rivals[bundle])) {
            if weight(needs, needed) > u64::from(machines) {
                return Ok(false);
            }
            continue;
        }
        let mut packing = Packing { problem, needs, used: Vec::new(), free: machines };
        if !packing.place(needed, budget)? {
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
    /// Per bundle: how many machines are to carry it.
    needs: &'p [u32],
    /// Machines in use, those with the same bundles together.
    used: Vec<(BundleSet, u32)>,
    /// Machines without a bundle.
    free: u32,
}

impl Packing<'_> {
    /// Places these bundles; leaves everything as it was if that is not possible.
    ///
    /// The bundle with the least choice goes first, so that dead ends show early.
    fn place(&mut self, bundles: BundleSet, budget: &mut Budget) -> Result<bool, Exhausted> {
        let slack = |bundle: usize| self.capacity(bundle).checked_sub(u64::from(self.needs[bundle]));
        let tightest = bundles
            .iter()
            .map(|bundle| (slack(bundle), bundle))
            .min_by_key(|&(slack, bundle)| (slack, Reverse(self.problem.rivals[bundle].len())));
        match tightest {
            None => Ok(true),
            Some((None, _)) => Ok(false),
            Some((Some(_), bundle)) => {
                let spread =
                    Spreading { bundle, left: self.needs[bundle], from: 0, rest: bundles.without(bundle) };
                self.spread(spread, budget)
            }
        }
    }

    /// On how many machines the bundle could go as things are.
    fn capacity(&self, bundle: usize) -> u64 {
        let joinable = self.used.iter().filter(|(set, _)| self.problem.can_join(*set, bundle));
        u64::from(self.free) + joinable.map(|(_, count)| u64::from(*count)).sum::<u64>()
    }

    /// Places what is left of a bundle on used machines and on free ones, then the bundles after it.
    fn spread(&mut self, spread: Spreading, budget: &mut Budget) -> Result<bool, Exhausted> {
        budget.step()?;
        let Spreading { bundle, left, from, rest } = spread;
        if left == 0 {
            return self.place(rest, budget);
        }
        let takes = |&(set, count): &(BundleSet, u32)| {
            count > 0 && !set.contains(bundle) && self.problem.can_join(set, bundle)
        };
        let Some(at) = (from..self.used.len()).find(|&at| takes(&self.used[at])) else {
            return self.take_free(spread, budget);
        };
        let (set, count) = self.used[at];
        for shared in (0..=count.min(left)).rev() {
            self.used[at].1 = count - shared;
            self.used.push((set.with(bundle), shared));
            if self.spread(Spreading { left: left - shared, from: at + 1, ..spread }, budget)? {
                return Ok(true);
            }
            self.used.pop();
        }
        self.used[at].1 = count;
        Ok(false)
    }

    fn take_free(&mut self, spread: Spreading, budget: &mut Budget) -> Result<bool, Exhausted> {
        if spread.left > self.free {
            return Ok(false);
        }
        self.free -= spread.left;
        self.used.push((BundleSet::EMPTY.with(spread.bundle), spread.left));
        let placed = self.place(spread.rest, budget)?;
        self.used.pop();
        self.free += spread.left;
        Ok(placed)
    }
}

/// A bundle of which some machines have been found.
#[derive(Clone, Copy)]
struct Spreading {
    bundle: usize,
    /// How many machines are still to carry it.
    left: u32,
    /// The first group of used machines that has not been asked.
    from: usize,
    /// The bundles to be placed after it.
    rest: BundleSet,
}
