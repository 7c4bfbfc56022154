//! Where a service is in a living cluster, and why.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Cluster;
use super::difference::host;
use crate::entity::Service;
use crate::layout::explain::why_here;
use crate::layout::{NodeGroup, NodeLayout, requires_beside};

/// Nodes of one kind, and why they carry a service or do not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Placed {
    /// Name of the service.
    pub service: String,
    /// Whether the nodes carry it.
    pub is_here: bool,
    /// Host names of the nodes, or their ids.
    pub nodes: Vec<String>,
    /// Why, a sentence for each reason.
    pub why: Vec<String>,
}

/// Why each kind of node carries a service or does not.
#[must_use]
pub fn placement(cluster: &Cluster, service: &str) -> Vec<Placed> {
    let mut kinds: BTreeMap<NodeLayout, Vec<String>> = BTreeMap::new();
    for node in cluster.nodes_by_number() {
        kinds.entry(NodeLayout::of(&node.properties)).or_default().push(host(node));
    }
    let count = |nodes: &Vec<String>| u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    let group = |(node, on): (&NodeLayout, &Vec<String>)| NodeGroup { node: node.clone(), count: count(on) };
    let groups: Vec<NodeGroup> = kinds.iter().map(group).collect();
    let beside: Vec<&Service> =
        cluster.definitions.values().filter(|other| requires_beside(other, service)).collect();
    groups
        .iter()
        .enumerate()
        .map(|(number, group)| Placed {
            service: service.to_owned(),
            is_here: group.node.services.contains(service),
            nodes: kinds.remove(&group.node).unwrap_or_default(),
            why: why_beside(&beside, &group.node, service)
                .unwrap_or_else(|| why_here(&cluster.template, &groups, number, service)),
        })
        .collect()
}

/// A service that others require on their own machine goes where these go.
fn why_beside(beside: &[&Service], node: &NodeLayout, service: &str) -> Option<Vec<String>> {
    if beside.is_empty() {
        return None;
    }
    let said = |names: &[&str]| names.join(", ");
    let all: Vec<&str> = beside.iter().map(|other| other.name()).collect();
    let here: Vec<&str> = all.iter().copied().filter(|name| node.services.contains(*name)).collect();
    match (node.services.contains(service), here.is_empty()) {
        (true, false) => Some(vec![format!("required on the same machine by {}", said(&here))]),
        (false, true) => {
            Some(vec![format!("it goes where those go that require it on the same machine: {}", said(&all))])
        }
        _ => None,
    }
}
