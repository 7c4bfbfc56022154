//! Adding services to the nodes of a usable cluster.

use std::collections::{BTreeMap, BTreeSet};

use super::decide::wrong_state;
use super::event::Event;
use super::planning::{self, NextNumbers};
use super::refusal::Refusal;
use super::services::wake;
use super::state::{Cluster, ClusterStatus};
use crate::entity::Service;
use crate::id::NodeId;
use crate::layout::{NodeGroup, NodeLayout, add_services, validate_add_services};
use crate::plan::ClusterAction;

/// `known`: all services of the tenant as they are now. Those the cluster has stay as they were when they were placed.
pub(super) fn add(
    cluster: &Cluster,
    services: &BTreeSet<String>,
    known: &[Service],
    by: String,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    if cluster.status != ClusterStatus::Active {
        return Err(wrong_state(cluster, "given more services"));
    }
    let more = known.iter().filter(|service| !cluster.definitions.contains_key(service.name()));
    let together: Vec<Service> = cluster.definitions.values().chain(more).cloned().collect();
    let ancestors = cluster.kin.origins.names();
    validate_add_services(&cluster.template, &together, &cluster.services, services, &ancestors)?;
    let placed = place(cluster, &together, services)?;
    let joining: BTreeSet<String> = placed.values().flatten().cloned().collect();
    let definitions = together
        .into_iter()
        .filter(|service| joining.contains(service.name()))
        .map(|service| (service.name().to_owned(), service))
        .collect();
    let mut events = vec![Event::ServicesAdded { at: now, placed, definitions, by: by.clone() }];
    events.extend(wake(&planning::after(cluster, &events), &joining, &by, now)?);
    let graph = planning::graph_of_addition(&planning::after(cluster, &events))?;
    events.extend(planning::job(NextNumbers::of(cluster), ClusterAction::AddServices, by, &graph, now));
    Ok(events)
}

/// Which nodes get which of the services: of equal nodes, those with the lowest numbers.
fn place(
    cluster: &Cluster,
    known: &[Service],
    services: &BTreeSet<String>,
) -> Result<BTreeMap<NodeId, BTreeSet<String>>, Refusal> {
    let mut kinds = kinds(cluster);
    let addition = add_services(&cluster.template, known, &grouped(&kinds), services)?;
    let mut placed = BTreeMap::new();
    for placement in addition.placements {
        let Some((_, nodes)) = kinds.get_mut(placement.group) else { continue };
        let taken = nodes.len().min(placement.count as usize);
        placed.extend(nodes.drain(..taken).map(|node| (node, placement.services.clone())));
    }
    Ok(placed)
}

/// The nodes of a cluster by kind, as the solver sees them.
pub(super) fn groups(cluster: &Cluster) -> Vec<NodeGroup> {
    grouped(&kinds(cluster))
}

type Kinds = Vec<(NodeLayout, Vec<NodeId>)>;

fn grouped(kinds: &Kinds) -> Vec<NodeGroup> {
    let count = |nodes: &Vec<NodeId>| u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    kinds.iter().map(|(node, nodes)| NodeGroup { node: node.clone(), count: count(nodes) }).collect()
}

/// Nodes that are alike, in the order of their numbers.
fn kinds(cluster: &Cluster) -> Kinds {
    let mut kinds = Kinds::new();
    for node in cluster.nodes_by_number() {
        let kind = NodeLayout::of(&node.properties);
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, nodes)) => nodes.push(node.id.clone()),
            None => kinds.push((kind, vec![node.id.clone()])),
        }
    }
    kinds
}
