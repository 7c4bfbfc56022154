//! From what is wanted and what is known of a cluster to the graph of tasks that closes the difference.

use std::collections::BTreeMap;

use super::refusal::Refusal;
use super::state::Cluster;
use crate::entity::Service;
use crate::id::NodeId;
use crate::plan::{self, AwaitUnplanned, Graph, Observed, PlanInput, PlanNode, Unit, UnitId, Units, Wanted};
use crate::task::NodeProperties;

/// The units of nodes that do not exist yet: every machine wanted, every service on it wanted running.
pub(super) fn wanted_units(nodes: &BTreeMap<NodeId, NodeProperties>) -> Units {
    let mut units = Units::new();
    for (id, properties) in nodes {
        units.insert(UnitId::machine(id.clone()), Unit::new(Wanted::Present));
        for service in &properties.services {
            units.insert(UnitId::service(id.clone(), service), Unit::new(Wanted::Running));
        }
    }
    units
}

/// The tasks that bring `units` on `nodes` to what is wanted of them.
pub(super) fn graph(
    nodes: &BTreeMap<NodeId, NodeProperties>,
    units: &Units,
    definitions: &BTreeMap<String, Service>,
) -> Result<Graph, Refusal> {
    let mut numbered: Vec<_> = nodes.iter().collect();
    numbered.sort_by_key(|(_, properties)| properties.nodenum);
    let nodes: Vec<PlanNode> = numbered
        .into_iter()
        .map(|(id, properties)| PlanNode { id: id.clone(), services: properties.services.clone() })
        .collect();
    let no_plan = |fault: plan::PlanError| Refusal::NoPlan(fault.to_string());
    let steps = plan::converge(units, definitions).map_err(no_plan)?;
    let input =
        PlanInput { nodes: &nodes, services: definitions, steps: &steps, unplanned: AwaitUnplanned::Skip };
    plan::graph::build(&input).map_err(no_plan)
}

/// What is left to do for what is wanted.
pub(super) fn graph_to_wanted(cluster: &Cluster) -> Result<Graph, Refusal> {
    graph(&properties(cluster), &cluster.units, &cluster.definitions)
}

/// What is to be done to be rid of every machine that may exist.
pub(super) fn graph_to_nothing(cluster: &Cluster) -> Result<Graph, Refusal> {
    let mut units = cluster.units.clone();
    for (id, unit) in &mut units {
        unit.wanted = Wanted::Absent;
        let asked_for = cluster.nodes.get(&id.node).is_some_and(|node| node.asked_for);
        // A machine that was asked for may exist, whatever its provider said.
        if id.is_machine() && asked_for {
            unit.observed = unit.observed.max(Observed::Created);
        }
    }
    graph(&properties(cluster), &units, &cluster.definitions)
}

fn properties(cluster: &Cluster) -> BTreeMap<NodeId, NodeProperties> {
    cluster.nodes.iter().map(|(id, node)| (id.clone(), node.properties.clone())).collect()
}
