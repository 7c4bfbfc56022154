//! The nodes of a cluster on which one more service can go.

use std::collections::BTreeSet;

use super::combinations::Combinations;
use super::node_group::{NodeGroup, NodeLayout};
use super::preference::Preference;
use super::rules::Rules;
use crate::entity::Constraints;

/// What one service finds on the groups of a cluster; numbers per group are in order of preference.
pub(super) struct Spread {
    /// Indices of the groups as given, the preferred kind first.
    order: Vec<usize>,
    /// How many nodes must take it, because without it they would break a rule.
    forced: Vec<u32>,
    /// How many nodes can take it.
    eligible: Vec<u32>,
    /// Whether some node can neither take it nor do without it.
    impossible: bool,
    /// Nodes on which it breaks no rule that later services could not mend.
    tolerant: u32,
    min: u32,
    max: u32,
}

impl Spread {
    /// `present` are the services on the cluster without `service`; rules about others do not apply yet. `bunch` is what
    /// comes to a node with it, itself included.
    pub(super) fn new(
        constraints: &Constraints,
        groups: &[NodeGroup],
        present: &BTreeSet<String>,
        service: &str,
        bunch: &BTreeSet<String>,
    ) -> Self {
        let cluster = present.union(bunch).cloned().collect();
        let rules = Rules::new(constraints, &cluster);
        let preference = Preference::default();
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by(|&one, &other| preference.compare(&groups[one].node, &groups[other].node));
        let limits = constraints.services.get(service).map(|rule| rule.quantities).unwrap_or_default();
        let mut spread = Self {
            order: order.clone(),
            forced: Vec::new(),
            eligible: Vec::new(),
            impossible: false,
            tolerant: 0,
            min: limits.min.max(1),
            max: limits.max,
        };
        for group in order.into_iter().map(|index| &groups[index]) {
            let with = joined(&group.node, bunch);
            let (can, must) = (rules.allows(&with), !rules.allows(&group.node));
            spread.eligible.push(if can { group.count } else { 0 });
            spread.forced.push(if must { group.count } else { 0 });
            spread.impossible |= must && !can && group.count > 0;
            spread.tolerant += if rules.tolerates(&with) { group.count } else { 0 };
        }
        spread
    }

    /// The smallest number of nodes it needs.
    pub(super) fn least(&self) -> u32 {
        self.min
    }

    /// The number of nodes on which it breaks no rule that later services could not mend.
    pub(super) fn tolerant_nodes(&self) -> u32 {
        self.tolerant
    }

    /// The number of nodes that can take it now.
    pub(super) fn eligible_nodes(&self) -> u32 {
        self.eligible.iter().sum()
    }

    /// The number of nodes that must take it.
    pub(super) fn forced_nodes(&self) -> u32 {
        self.forced.iter().sum()
    }

    /// All ways Coopr would try, most nodes first: numbers per group as given.
    pub(super) fn candidates(&self) -> impl Iterator<Item = Vec<u32>> {
        self.ways(vec![0; self.order.len()])
    }

    /// Those of the candidates that keep all rules.
    pub(super) fn valid(&self) -> impl Iterator<Item = Vec<u32>> {
        let ways = (!self.impossible).then(|| self.ways(self.forced.clone()));
        ways.into_iter().flatten()
    }

    fn ways(&self, at_least: Vec<u32>) -> impl Iterator<Item = Vec<u32>> {
        let most = self.eligible_nodes().min(self.max);
        let spreads = (self.min..=most)
            .rev()
            .flat_map(move |number| Combinations::between(number, &at_least, &self.eligible));
        spreads.map(|counts| {
            let mut as_given = vec![0; counts.len()];
            for (&index, count) in self.order.iter().zip(counts) {
                as_given[index] = count;
            }
            as_given
        })
    }
}

/// The kind of node this one becomes with these services.
pub(super) fn joined(node: &NodeLayout, bunch: &BTreeSet<String>) -> NodeLayout {
    let mut node = node.clone();
    node.services.extend(bunch.iter().cloned());
    node
}
