//! Services that share nodes as little as possible.
//!
//! From a layout that holds everything, copies nobody needs are taken away, from the fullest nodes first; then services move
//! from the fullest nodes to the emptiest that may take them, as long as that levels them; then nodes that were left without a
//! service of their own get more of those that may be on more. No layout is known to be better in every case: how many
//! services one node carries at most is told.

use std::collections::{BTreeMap, BTreeSet};

use super::super::budget::{Budget, Exhausted};
use super::super::bundle_set::BundleSet;
use super::super::node_group::{Layout, NodeGroup};
use super::super::preference::Preference;
use super::super::problem::Problem;
use super::super::search::first_layout;

/// A layout whose nodes carry about equally few services.
pub(super) fn spread(problem: &Problem, machines: u32, budget: &mut Budget) -> Result<Layout, Exhausted> {
    let first = first_layout(problem, machines, budget)?;
    let mut nodes = Nodes::of(problem, &first);
    nodes.thin_out();
    nodes.level(budget);
    nodes.fill();
    Ok(nodes.layout())
}

/// What each node carries.
struct Nodes<'p> {
    problem: &'p Problem,
    carried: Vec<BundleSet>,
    /// How many services with rules each node carries, with its number: the emptiest first.
    loads: BTreeSet<(usize, usize)>,
    /// On how many nodes each bundle is.
    copies: Vec<u32>,
}

impl<'p> Nodes<'p> {
    fn of(problem: &'p Problem, layout: &Layout) -> Self {
        let inside = |group: &NodeGroup| {
            let is_in = |bundle: &usize| {
                let services = &problem.bundles[*bundle].services;
                services.iter().all(|service| group.node.services.contains(service))
            };
            (0..problem.bundles.len()).filter(is_in).collect::<BundleSet>()
        };
        let each =
            layout.groups.iter().flat_map(|group| std::iter::repeat_n(inside(group), group.count as usize));
        let carried: Vec<BundleSet> = each.collect();
        let mut copies = vec![0; problem.bundles.len()];
        for bundle in carried.iter().flat_map(|set| set.iter()) {
            copies[bundle] += 1;
        }
        let load = |(node, set): (usize, &BundleSet)| (problem.load(*set), node);
        let loads = carried.iter().enumerate().map(load).collect();
        Self { problem, carried, loads, copies }
    }

    fn set(&mut self, node: usize, bundles: BundleSet) {
        self.loads.remove(&(self.problem.load(self.carried[node]), node));
        self.carried[node] = bundles;
        self.loads.insert((self.problem.load(bundles), node));
    }

    /// Takes away what is on more nodes than it must be on.
    fn thin_out(&mut self) {
        let fullest: Vec<usize> = self.loads.iter().rev().map(|&(_, node)| node).collect();
        for bundle in 0..self.copies.len() {
            let spare = self.copies[bundle].saturating_sub(self.problem.bundles[bundle].min);
            let on: Vec<usize> =
                fullest.iter().copied().filter(|&node| self.carried[node].contains(bundle)).collect();
            for node in on.into_iter().take(spare as usize) {
                self.set(node, self.carried[node].without(bundle));
                self.copies[bundle] -= 1;
            }
        }
    }

    /// Moves services from full nodes to empty ones. Each move makes the loads more equal, so there is a last one; what is level
    /// enough when the budget is used up is left so.
    fn level(&mut self, budget: &mut Budget) {
        while let Ok(Some((from, to, bundle))) = self.next_move(budget) {
            self.set(from, self.carried[from].without(bundle));
            self.set(to, self.carried[to].with(bundle));
        }
    }

    fn next_move(&self, budget: &mut Budget) -> Result<Option<(usize, usize, usize)>, Exhausted> {
        for &(full, from) in self.loads.iter().rev() {
            for &(load, to) in &self.loads {
                if load + 1 >= full {
                    break;
                }
                budget.step()?;
                let levels = |&bundle: &usize| {
                    load + self.problem.size(bundle) < full
                        && !self.carried[to].contains(bundle)
                        && self.problem.can_join(self.carried[to], bundle)
                };
                if let Some(bundle) = self.carried[from].iter().find(levels) {
                    return Ok(Some((from, to, bundle)));
                }
            }
        }
        Ok(None)
    }

    /// Gives nodes without a service of their own the one that is on the fewest nodes of those that may be on more.
    fn fill(&mut self) {
        for node in 0..self.carried.len() {
            if !self.carried[node].is_empty() {
                continue;
            }
            let open = (0..self.copies.len()).filter(|&b| self.copies[b] < self.problem.bundles[b].max);
            let Some(bundle) = open.min_by_key(|&b| self.copies[b]) else { return };
            self.set(node, BundleSet::EMPTY.with(bundle));
            self.copies[bundle] += 1;
        }
    }

    fn layout(&self) -> Layout {
        let mut kinds: BTreeMap<BundleSet, u32> = BTreeMap::new();
        for set in &self.carried {
            *kinds.entry(*set).or_default() += 1;
        }
        let group = |(set, count): (BundleSet, u32)| {
            let suits = |types: &[(String, BundleSet)]| types.iter().position(|(_, on)| set.is_subset(*on));
            let (hardware, image) = (suits(&self.problem.hardware), suits(&self.problem.images));
            // Bundles only come together where a type suits them all.
            NodeGroup { node: self.problem.node(set, hardware.unwrap_or(0), image.unwrap_or(0)), count }
        };
        let mut groups: Vec<NodeGroup> = kinds.into_iter().map(group).collect();
        groups.sort_by(|one, other| Preference::default().compare(&one.node, &other.node));
        Layout { groups }
    }
}
