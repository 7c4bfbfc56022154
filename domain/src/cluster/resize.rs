//! Making more machines, or giving some back. What stays is left as it is, but for those services that are told.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::decide::wrong_state;
use super::event::Event;
use super::numbering::Naming;
use super::planning;
use super::refusal::Refusal;
use super::state::Cluster;
use super::wanted_change::WantedChange;
use crate::entity::{HardwareType, ImageType, Service};
use crate::id::NodeId;
use crate::layout::{self, Growth, NodeGroup, NodeLayout, ShrinkNode, Shrinkage};
use crate::plan::{ClusterAction, Observed, UnitId, Wanted};

/// To what a cluster is resized.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resize {
    /// More machines.
    Grow {
        /// How many, carrying what.
        growth: Growth,
        /// The tenant's hardware types as they are now.
        hardware: Vec<HardwareType>,
        /// The tenant's image types as they are now.
        images: Vec<ImageType>,
    },
    /// Fewer machines.
    Shrink(Shrinkage),
}

pub(super) fn resize(cluster: &Cluster, resize: &Resize, by: &str, now: i64) -> Result<Vec<Event>, Refusal> {
    if !cluster.may_change() {
        return Err(wrong_state(cluster, "resized"));
    }
    let (change, action) = match resize {
        Resize::Grow { growth, hardware, images } => {
            (grow(cluster, growth, hardware, images)?, ClusterAction::ClusterGrow)
        }
        Resize::Shrink(shrinkage) => (shrink(cluster, shrinkage)?, ClusterAction::ClusterShrink),
    };
    if change.is_empty() {
        return Ok(Vec::new());
    }
    planning::change(cluster, change, action, None, by, now)
}

fn grow(
    cluster: &Cluster,
    growth: &Growth,
    hardware: &[HardwareType],
    images: &[ImageType],
) -> Result<WantedChange, Refusal> {
    let services: Vec<Service> = cluster.definitions.values().cloned().collect();
    let catalog = layout::Catalog {
        template: &cluster.template,
        provider: &cluster.provider.base.name,
        hardware,
        images,
        services: &services,
    };
    let added = layout::grow(&catalog, &staying(cluster), growth)?;
    let naming = Naming {
        cluster: cluster.id,
        name: &cluster.name,
        dns_suffix: dns_suffix(cluster),
        provider: &cluster.provider.base.name,
        definitions: &cluster.definitions,
        hardware,
        images,
    };
    let nodes = (cluster.next_node()..)
        .zip(&added)
        .map(|(number, kind)| (NodeId::derive(cluster.seed, number), naming.properties(kind, number)));
    Ok(WantedChange { nodes: nodes.collect(), ..WantedChange::default() })
}

fn shrink(cluster: &Cluster, shrinkage: &Shrinkage) -> Result<WantedChange, Refusal> {
    if let Shrinkage::Nodes(nodes) = shrinkage {
        cluster.nodes_named(nodes)?;
    }
    let nodes: Vec<ShrinkNode> = cluster
        .nodes_by_number()
        .into_iter()
        .filter(|node| !cluster.is_leaving(&node.id))
        .map(|node| ShrinkNode {
            id: node.id.clone(),
            number: node.properties.nodenum,
            node: NodeLayout::of(&node.properties),
            healthy: is_well(cluster, &node.id),
            pinned: false,
        })
        .collect();
    let mut change = WantedChange::default();
    for leaving in layout::shrink(&cluster.template, &nodes, shrinkage)? {
        drain(cluster, &leaving.node, &mut change);
        change.leaving.insert(leaving.node, leaving.reason);
    }
    Ok(change)
}

/// The services of a machine that goes end in order, if it is well enough for that.
pub(super) fn drain(cluster: &Cluster, node: &NodeId, change: &mut WantedChange) {
    if !is_well(cluster, node) {
        return;
    }
    let running = |(id, unit): &(&UnitId, &crate::plan::Unit)| {
        id.node == *node && !id.is_machine() && unit.observed == Observed::Started
    };
    let ending = cluster.units.iter().filter(running).map(|(id, _)| (id.clone(), Wanted::Stopped));
    change.wanted.extend(ending);
}

/// Whether a node has all that is wanted on it, as far as is known.
fn is_well(cluster: &Cluster, node: &NodeId) -> bool {
    let of_node = cluster.units.iter().filter(|(id, _)| id.node == *node);
    of_node.into_iter().all(|(id, unit)| {
        let machine = unit.observed >= Observed::Bootstrapped;
        unit.drift.is_none() && (machine || !id.is_machine())
    })
}

/// The nodes that stay, by kind.
fn staying(cluster: &Cluster) -> Vec<NodeGroup> {
    let mut groups: BTreeMap<NodeLayout, u32> = BTreeMap::new();
    for node in cluster.nodes.values().filter(|node| !cluster.is_leaving(&node.id)) {
        *groups.entry(NodeLayout::of(&node.properties)).or_default() += 1;
    }
    groups.into_iter().map(|(node, count)| NodeGroup { node, count }).collect()
}

/// The domain of the host names that its nodes were given.
fn dns_suffix(cluster: &Cluster) -> Option<&str> {
    let given = cluster.nodes.values().find_map(|node| node.given_hostname.as_deref())?;
    given.split_once('.').map(|(_, domain)| domain)
}
