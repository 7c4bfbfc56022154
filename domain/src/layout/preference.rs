//! Which kind of node is preferred to which.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;

use super::node_group::NodeLayout;

/// Names in order of preference. Names that are not listed come after those that are, all alike.
///
/// The solver states none, so alphabetical order decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preference {
    /// Hardware types, the best first.
    pub hardwaretypes: Vec<String>,
    /// Image types, the best first.
    pub imagetypes: Vec<String>,
}

impl Preference {
    /// Orders kinds of node: the one with more services first, then by position of hardware and of image in the lists,
    /// then by name of hardware and of image in byte order, then by the sorted service names pair by pair.
    #[must_use]
    pub fn compare(&self, one: &NodeLayout, other: &NodeLayout) -> Ordering {
        let key = |node: &NodeLayout| {
            (
                Reverse(node.services.len()),
                position(&self.hardwaretypes, &node.hardwaretype),
                position(&self.imagetypes, &node.imagetype),
            )
        };
        key(one)
            .cmp(&key(other))
            .then_with(|| one.hardwaretype.cmp(&other.hardwaretype))
            .then_with(|| one.imagetype.cmp(&other.imagetype))
            .then_with(|| one.services.cmp(&other.services))
    }
}

fn position(list: &[String], name: &str) -> usize {
    list.iter().position(|listed| listed == name).unwrap_or(list.len())
}

/// Kinds of node in order of preference, of those with the same services only the first.
#[must_use]
pub fn rank(nodes: impl IntoIterator<Item = NodeLayout>, preference: &Preference) -> Vec<NodeLayout> {
    let mut nodes: Vec<NodeLayout> = nodes.into_iter().collect();
    nodes.sort_by(|one, other| preference.compare(one, other));
    let mut seen: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    nodes.retain(|node| seen.insert(node.services.clone()));
    nodes
}
