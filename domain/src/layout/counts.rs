//! How many nodes of each kind, for kinds that are given.

use std::collections::{BTreeMap, BTreeSet};

use super::budget::{Budget, Exhausted, SEARCH_LIMIT};
use super::check::check_quantities;
use super::node_group::{NodeGroup, NodeLayout};
use super::reason::{NoLayout, Reason, ReasonKind, counted};
use crate::entity::{ClusterTemplate, Constraints};

/// Whether so many nodes of each kind keep every minimum and maximum; what is missing otherwise. Services of kinds
/// without nodes are on the cluster all the same, so each needs at least one node.
#[must_use]
pub fn check_counts(template: &ClusterTemplate, nodes: &[NodeLayout], counts: &[u32]) -> Vec<Reason> {
    let groups: Vec<NodeGroup> =
        nodes.iter().zip(counts).map(|(node, &count)| NodeGroup { node: node.clone(), count }).collect();
    let services: BTreeSet<String> = nodes.iter().flat_map(|node| node.services.iter().cloned()).collect();
    check_quantities(&template.constraints, &services, &groups)
}

/// Of all ways to spread `machines` machines over these kinds, the first in descending lexicographic order that keeps
/// every minimum and maximum. Each service must be on at least one node.
///
/// # Errors
/// There is none, or the search was given up.
pub fn find_counts(
    template: &ClusterTemplate,
    nodes: &[NodeLayout],
    machines: u32,
) -> Result<Vec<u32>, NoLayout> {
    let mut search = CountSearch::new(&template.constraints, nodes, machines);
    match search.fill(0, machines) {
        Ok(true) => Ok(search.counts),
        Ok(false) => Err(NoLayout::from(Reason::new(
            ReasonKind::NoPlace,
            format!(
                "no way to spread {} over these {} keeps every minimum and maximum",
                counted(machines, "machine"),
                counted(u32::try_from(nodes.len()).unwrap_or(u32::MAX), "kind")
            ),
            "change the quantities of the services, the number of machines, or the kinds",
        ))),
        Err(exhausted) => Err(NoLayout::from(Reason::from(exhausted))),
    }
}

/// Slot after slot, the largest count first; a branch ends as soon as some service can no longer reach its minimum or
/// the slots behind cannot take the rest.
struct CountSearch {
    /// Per kind: its services, as indices into the quantities.
    kinds: Vec<Vec<usize>>,
    /// Per service: how many more nodes it must be on.
    needs: Vec<u32>,
    /// Per service: how many more nodes it may be on.
    room: Vec<u32>,
    /// Per service: the last kind that carries it.
    last: Vec<usize>,
    counts: Vec<u32>,
    budget: Budget,
}

impl CountSearch {
    fn new(constraints: &Constraints, nodes: &[NodeLayout], machines: u32) -> Self {
        let names: BTreeSet<&String> = nodes.iter().flat_map(|node| &node.services).collect();
        let index: BTreeMap<&String, usize> = names.iter().copied().zip(0..).collect();
        let quantities: Vec<_> = names
            .iter()
            .map(|name| constraints.services.get(*name).map(|rule| rule.quantities).unwrap_or_default())
            .collect();
        let last = |name: &String| nodes.iter().rposition(|node| node.services.contains(name)).unwrap_or(0);
        Self {
            kinds: nodes.iter().map(|node| node.services.iter().map(|name| index[name]).collect()).collect(),
            needs: quantities.iter().map(|quantity| quantity.min.max(1)).collect(),
            room: quantities.iter().map(|quantity| quantity.max.min(machines)).collect(),
            last: names.iter().map(|name| last(name)).collect(),
            counts: vec![0; nodes.len()],
            budget: Budget::new(SEARCH_LIMIT),
        }
    }

    /// Spreads `left` machines over the kinds from `slot` on. Whether that was possible.
    fn fill(&mut self, slot: usize, left: u32) -> Result<bool, Exhausted> {
        self.budget.step()?;
        if slot == self.kinds.len() {
            return Ok(left == 0);
        }
        if !self.can_reach(slot, left) {
            return Ok(false);
        }
        for count in (0..=self.most(slot).min(left)).rev() {
            let before = (self.needs.clone(), self.room.clone());
            for &service in &self.kinds[slot] {
                self.needs[service] = self.needs[service].saturating_sub(count);
                self.room[service] -= count;
            }
            let kept =
                self.kinds[slot].iter().all(|&service| self.needs[service] == 0 || self.last[service] > slot);
            self.counts[slot] = count;
            if kept && self.fill(slot + 1, left - count)? {
                return Ok(true);
            }
            (self.needs, self.room) = before;
        }
        Ok(false)
    }

    fn most(&self, slot: usize) -> u32 {
        self.kinds[slot].iter().map(|&service| self.room[service]).min().unwrap_or(u32::MAX)
    }

    fn can_reach(&self, slot: usize, left: u32) -> bool {
        let reachable = (slot..self.kinds.len()).map(|later| u64::from(self.most(later))).sum::<u64>();
        reachable >= u64::from(left)
            && self.needs.iter().zip(&self.room).all(|(need, room)| *need <= left.min(*room))
    }
}
