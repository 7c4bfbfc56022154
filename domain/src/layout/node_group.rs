//! What a layout is made of: kinds of nodes, and how many nodes there are of each.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::task::NodeProperties;

/// Number of a cluster's first node; the others count on from it. Host names carry it.
pub const FIRST_NODE_NUMBER: u32 = 1000;

/// A kind of node: what runs on it and what it is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeLayout {
    /// Names of the services each node of this kind carries.
    pub services: BTreeSet<String>,
    /// Name of its hardware type.
    pub hardwaretype: String,
    /// Name of its image type.
    pub imagetype: String,
}

impl NodeLayout {
    /// The kind that a node is of.
    #[must_use]
    pub fn of(node: &NodeProperties) -> Self {
        Self {
            services: node.services.clone(),
            hardwaretype: node.hardwaretype.clone(),
            imagetype: node.imagetype.clone(),
        }
    }
}

/// Nodes of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeGroup {
    /// The kind.
    #[serde(flatten)]
    pub node: NodeLayout,
    /// How many nodes.
    pub count: u32,
}

/// The nodes of a cluster, by kind, the preferred kind first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Kinds with at least one node each.
    pub groups: Vec<NodeGroup>,
}

impl Layout {
    /// Number of nodes.
    #[must_use]
    pub fn machines(&self) -> u32 {
        self.groups.iter().map(|group| group.count).sum()
    }

    /// Names of all services on the nodes.
    #[must_use]
    pub fn services(&self) -> BTreeSet<String> {
        services_of(&self.groups)
    }

    /// Every node with its number, from [`FIRST_NODE_NUMBER`] upwards in order of preference.
    pub fn nodes(&self) -> impl Iterator<Item = (u32, &NodeLayout)> {
        let each = self.groups.iter().flat_map(|group| (0..group.count).map(move |_| &group.node));
        (FIRST_NODE_NUMBER..).zip(each)
    }
}

/// Names of all services on these nodes.
pub(super) fn services_of(groups: &[NodeGroup]) -> BTreeSet<String> {
    groups
        .iter()
        .filter(|group| group.count > 0)
        .flat_map(|group| group.node.services.iter().cloned())
        .collect()
}

/// How many of these nodes carry `service`.
pub(super) fn nodes_with(groups: &[NodeGroup], service: &str) -> u32 {
    groups.iter().filter(|group| group.node.services.contains(service)).map(|group| group.count).sum()
}

/// The same nodes, with kinds that became equal put together and empty ones dropped; the order is kept.
pub(super) fn merged(groups: impl IntoIterator<Item = NodeGroup>) -> Vec<NodeGroup> {
    let mut merged: Vec<NodeGroup> = Vec::new();
    for group in groups {
        if group.count == 0 {
            continue;
        }
        match merged.iter_mut().find(|other| other.node == group.node) {
            Some(other) => other.count += group.count,
            None => merged.push(group),
        }
    }
    merged
}
