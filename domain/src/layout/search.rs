//! The search for a layout: Coopr's answer without Coopr's enumeration.
//!
//! Coopr lists every kind of node in order of preference and takes, of all ways to spread the machines over them, the
//! one whose counts are first in descending lexicographic order and keep every minimum and maximum. That is the same
//! as walking over the kinds once, in order of preference, and taking of each as many as leaves a remainder that can
//! still be completed. Two observations make the walk short:
//!
//! * Whether a remainder can be completed can be told without knowing the kinds. Leaving bundles off a node never
//!   breaks a rule, so any number of machines works that is neither below what all needs take when packed tightly
//!   ([`cover`](super::cover)) nor above the room of all bundles when each is alone on its node.
//! * Kinds are produced on the way, by size, types and names, and whole families of them are passed over when no
//!   member can be part of the answer. A kind once refused stays refused: needs and room only shrink.
//!
//! Coopr's check before its search (take greedily of each kind; too few machines taken means no solution) refuses
//! some solvable requests and is left out.

use super::budget::{Budget, Exhausted};
use super::bundle_set::BundleSet;
use super::cover;
use super::node_group::{Layout, NodeGroup};
use super::problem::Problem;

/// The first layout in order of preference. `machines` must be possible: see [`shortfall`](super::shortfall).
pub(super) fn first_layout(
    problem: &Problem,
    machines: u32,
    budget: &mut Budget,
) -> Result<Layout, Exhausted> {
    let mut search = Search {
        problem,
        budget,
        machines,
        needs: problem.bundles.iter().map(|bundle| bundle.min).collect(),
        room: problem.bundles.iter().map(|bundle| bundle.max.min(machines)).collect(),
        groups: Vec::new(),
    };
    search.walk()?;
    Ok(Layout { groups: search.groups })
}

struct Search<'p> {
    problem: &'p Problem,
    budget: &'p mut Budget,
    /// Machines without a kind yet.
    machines: u32,
    /// Per bundle: on how many more nodes it must be.
    needs: Vec<u32>,
    /// Per bundle: on how many more nodes it may be.
    room: Vec<u32>,
    groups: Vec<NodeGroup>,
}

/// Kinds of node that start alike: some bundles are in, some may still join.
#[derive(Clone, Copy)]
struct Family {
    inside: BundleSet,
    open: BundleSet,
    /// How many services still have to join.
    missing: usize,
    hardware: usize,
    image: usize,
}

impl Search<'_> {
    /// More services first, then by hardware type, image type and names; last the node with no bundle at all.
    fn walk(&mut self) -> Result<(), Exhausted> {
        for size in (1..=self.reach(self.problem.all())).rev() {
            for hardware in 0..self.problem.hardware.len() {
                for image in 0..self.problem.images.len() {
                    let open = self.problem.hardware[hardware].1 & self.problem.images[image].1;
                    let family = Family { inside: BundleSet::EMPTY, open, missing: size, hardware, image };
                    self.visit(family)?;
                }
            }
        }
        if self.machines > 0 && !self.problem.everywhere.is_empty() {
            self.take(BundleSet::EMPTY, 0, 0, self.machines);
        }
        Ok(())
    }

    /// Goes through the members of a family in alphabetical order of their services.
    fn visit(&mut self, mut family: Family) -> Result<(), Exhausted> {
        loop {
            self.budget.step()?;
            family.open = self.with_room(family.open);
            if self.machines == 0 || self.is_hopeless(&family) {
                return Ok(());
            }
            if family.missing == 0 {
                let copies = self.most_copies(family.inside)?;
                self.take(family.inside, family.hardware, family.image, copies);
                return Ok(());
            }
            let Some(bundle) = family.open.lowest() else { return Ok(()) };
            let size = self.problem.size(bundle);
            if size <= family.missing {
                self.visit(Family {
                    inside: family.inside.with(bundle),
                    open: self.problem.still_open(family.inside, family.open, bundle),
                    missing: family.missing - size,
                    ..family
                })?;
            }
            family.open = family.open.without(bundle);
        }
    }

    /// Whether no member of the family can be part of the answer.
    fn is_hopeless(&self, family: &Family) -> bool {
        let all = family.inside | family.open;
        let better = |types: &[(String, BundleSet)]| types.iter().any(|(_, on)| all.is_subset(*on));
        // Of the same services on several types only the first types count.
        if better(&self.problem.hardware[..family.hardware]) || better(&self.problem.images[..family.image]) {
            return true;
        }
        if self.with_room(family.inside) != family.inside || self.reach(family.open) < family.missing {
            return true;
        }
        if self.problem.everywhere.is_empty() && !self.leaves_room(family) {
            return true;
        }
        let left_out = self.problem.all() - all;
        let rivals = cover::heaviest_rivals(self.problem, &self.needs, left_out);
        cover::weight(&self.needs, rivals) > u64::from(self.machines - 1)
    }

    /// Whether the other machines can each still get a bundle when a member of the family takes its share.
    fn leaves_room(&self, family: &Family) -> bool {
        let largest = family.open.iter().map(|bundle| self.problem.size(bundle)).max().unwrap_or(1);
        let at_least = u64::from(family.inside.len()) + family.missing.div_ceil(largest) as u64;
        self.total_room() + 1 >= at_least + u64::from(self.machines)
    }

    /// An upper bound on the services a node can carry of these bundles: of bundles that exclude each other only the
    /// largest counts.
    fn reach(&self, bundles: BundleSet) -> usize {
        let mut rest = bundles;
        let mut reach = 0;
        while let Some(first) = rest.lowest() {
            let mut largest = 0;
            let mut rivals = rest;
            let mut next = Some(first);
            while let Some(bundle) = next {
                largest = largest.max(self.problem.size(bundle));
                rest = rest.without(bundle);
                rivals = rivals & self.problem.rivals[bundle];
                next = rivals.lowest();
            }
            reach += largest;
        }
        reach
    }

    /// The largest number of nodes of this kind that leaves a remainder that can be completed. If some number does,
    /// every smaller one does.
    fn most_copies(&mut self, kind: BundleSet) -> Result<u32, Exhausted> {
        let limit = kind.iter().map(|bundle| self.room[bundle]).fold(self.machines, u32::min);
        if self.can_complete(kind, limit)? {
            return Ok(limit);
        }
        let (mut possible, mut refused) = (0, limit);
        while refused - possible > 1 {
            let middle = possible + (refused - possible) / 2;
            if self.can_complete(kind, middle)? {
                possible = middle;
            } else {
                refused = middle;
            }
        }
        Ok(possible)
    }

    /// Whether the other machines can be given kinds after `copies` nodes of `kind`.
    fn can_complete(&mut self, kind: BundleSet, copies: u32) -> Result<bool, Exhausted> {
        let machines = self.machines - copies;
        let room = self.total_room() - u64::from(copies) * u64::from(kind.len());
        if self.problem.everywhere.is_empty() && room < u64::from(machines) {
            return Ok(false);
        }
        let mut needs = self.needs.clone();
        for bundle in kind.iter() {
            needs[bundle] = needs[bundle].saturating_sub(copies);
        }
        cover::fits(self.problem, &needs, machines, self.budget)
    }

    fn take(&mut self, kind: BundleSet, hardware: usize, image: usize, copies: u32) {
        if copies == 0 {
            return;
        }
        self.machines -= copies;
        for bundle in kind.iter() {
            self.needs[bundle] = self.needs[bundle].saturating_sub(copies);
            self.room[bundle] -= copies;
        }
        let node = self.problem.node(kind, hardware, image);
        self.groups.push(NodeGroup { node, count: copies });
    }

    fn with_room(&self, bundles: BundleSet) -> BundleSet {
        bundles.iter().filter(|&bundle| self.room[bundle] > 0).collect()
    }

    fn total_room(&self) -> u64 {
        self.room.iter().map(|&room| u64::from(room)).sum()
    }
}
