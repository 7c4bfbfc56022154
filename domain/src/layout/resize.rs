//! Living clusters get more nodes, or fewer: the nodes that stay are left as they are.

mod drain;
mod grow;
mod grow_reasons;
mod headroom;
mod shrink;
mod shrink_reasons;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::node_group::NodeLayout;
use crate::id::NodeId;

pub use grow::grow;
pub use shrink::shrink;

/// How a cluster is to grow: to so many nodes, by so many nodes that carry a service, or both at once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Growth {
    /// Number of nodes afterwards, the present ones included; 0: as few as `services` need.
    #[serde(default)]
    pub machines: u32,
    /// By name: how many more nodes carry the service, no more and no less. Those that are not named are placed as in a
    /// new cluster.
    #[serde(default)]
    pub services: BTreeMap<String, u32>,
    /// The hardware type of the new nodes; without one, as in a new cluster.
    #[serde(default)]
    pub hardwaretype: Option<String>,
    /// The image type of the new nodes, likewise.
    #[serde(default)]
    pub imagetype: Option<String>,
}

/// How a cluster is to shrink.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shrinkage {
    /// To so many nodes.
    To(u32),
    /// By name of a service: so many fewer nodes carry it, no more and no less. As few nodes go as that needs.
    Services(BTreeMap<String, u32>),
    /// Exactly these nodes go.
    Nodes(BTreeSet<NodeId>),
}

/// A node of a cluster that shrinks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShrinkNode {
    /// Which one.
    pub id: NodeId,
    /// Its number in the cluster; the youngest has the highest.
    pub number: u32,
    /// What it carries and is made of.
    pub node: NodeLayout,
    /// Whether it is known to work. Of nodes that may go, those that do not work go first.
    pub healthy: bool,
    /// Whether it must stay.
    pub pinned: bool,
}

/// A node that goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaving {
    /// Which one.
    pub node: NodeId,
    /// Its number in the cluster.
    pub number: u32,
    /// Why this one, for people.
    pub reason: String,
}
