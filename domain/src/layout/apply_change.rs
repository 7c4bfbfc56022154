//! Putting services on some of a cluster's nodes.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::node_group::{NodeGroup, merged};
use super::reason::{Reason, ReasonKind, counted, listed};

/// Services that join nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Names of the services.
    pub services: BTreeSet<String>,
    /// So many nodes of each of these kinds.
    pub on: Vec<NodeGroup>,
}

/// The layout after a change. Kinds that become equal are put together.
///
/// # Errors
/// The change names a kind of node that is not there, or more nodes than there are of it.
pub fn apply_change(layout: &[NodeGroup], change: &Change) -> Result<Vec<NodeGroup>, Reason> {
    let mut rest = merged(layout.iter().cloned());
    let mut changed = Vec::new();
    for wanted in merged(change.on.iter().cloned()) {
        let there = rest.iter_mut().find(|group| group.node == wanted.node && group.count >= wanted.count);
        let Some(group) = there else { return Err(no_such_nodes(&rest, &wanted)) };
        group.count -= wanted.count;
        let mut joined = wanted;
        joined.node.services.extend(change.services.iter().cloned());
        changed.push(joined);
    }
    Ok(merged(changed.into_iter().chain(rest)))
}

fn no_such_nodes(layout: &[NodeGroup], wanted: &NodeGroup) -> Reason {
    let count = layout.iter().find(|group| group.node == wanted.node).map_or(0, |group| group.count);
    let node = &wanted.node;
    Reason::new(
        ReasonKind::NoSuchNodes,
        format!(
            "the change names {} with {} on {} and {}, but there are {count}",
            counted(wanted.count, "node"),
            listed(&node.services, "and"),
            node.hardwaretype,
            node.imagetype
        ),
        "name nodes as they are after the changes before this one",
    )
}
