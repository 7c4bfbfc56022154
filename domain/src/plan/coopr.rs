//! Coopr's cluster actions as steps per unit.

use std::collections::{BTreeMap, BTreeSet};

use crate::entity::Service;
use crate::id::NodeId;
use crate::plan::action::ClusterAction;
use crate::plan::definition::{defines, definition};
use crate::plan::error::PlanError;
use crate::plan::graph::{self, AwaitUnplanned, Graph, PlanInput, PlanNode, Steps};
use crate::plan::needs::{Needs, Phase, Towards};
use crate::plan::unit::UnitId;
use crate::task::TaskName;

/// What an action is limited to; by default to nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Only these services (and what [`planned_services`] adds); `None` for all.
    pub services: Option<BTreeSet<String>>,
    /// Only these nodes; `None` for all.
    pub nodes: Option<BTreeSet<NodeId>>,
}

/// The plan of an action, as Coopr would make it: awaited START and STOP tasks are issued even where a service already
/// is as it should be.
///
/// # Errors
/// When the scope names what is not there, a service is not defined, or services depend on each other in a circle.
pub fn plan(
    action: ClusterAction,
    scope: &Scope,
    nodes: &[PlanNode],
    services: &BTreeMap<String, Service>,
) -> Result<Graph, PlanError> {
    let steps = steps(action, scope, nodes, services)?;
    graph::build(&PlanInput { nodes, services, steps: &steps, unplanned: AwaitUnplanned::Issue })
}

/// The steps of an action per unit: for each planned service on a planned node those it defines, and for each such node
/// those of its machine. A node without any planned service has none.
///
/// # Errors
/// When the scope names a node or service that is not there, or a planned service is not defined.
pub fn steps(
    action: ClusterAction,
    scope: &Scope,
    nodes: &[PlanNode],
    services: &BTreeMap<String, Service>,
) -> Result<Steps, PlanError> {
    check_nodes(scope, nodes)?;
    let planned = planned_services(action, scope, nodes, services)?;
    let (of_machine, of_service): (Vec<TaskName>, Vec<TaskName>) =
        action.steps().iter().partition(|step| step.is_machine_task());
    let mut steps = Steps::new();
    for node in nodes.iter().filter(|node| scope.nodes.as_ref().is_none_or(|only| only.contains(&node.id))) {
        for name in node.services.intersection(&planned) {
            steps.insert(UnitId::machine(node.id.clone()), of_machine.clone());
            if !of_service.is_empty() {
                let service = definition(services, name, &node.id)?;
                let own = of_service.iter().copied().filter(|&step| defines(service, step)).collect();
                steps.insert(UnitId::service(node.id.clone(), name), own);
            }
        }
    }
    steps.retain(|_, steps| !steps.is_empty());
    Ok(steps)
}

/// The services an action takes: starting takes along what the named ones depend on to run, stopping and restarting what
/// depends on them, both to any depth; every other action takes exactly the named ones. Without names: all.
///
/// # Errors
/// When a named service is on no node, or one on a node is not defined.
pub fn planned_services(
    action: ClusterAction,
    scope: &Scope,
    nodes: &[PlanNode],
    services: &BTreeMap<String, Service>,
) -> Result<BTreeSet<String>, PlanError> {
    let carried: BTreeMap<&String, &NodeId> =
        nodes.iter().flat_map(|node| node.services.iter().map(move |name| (name, &node.id))).collect();
    let Some(named) = &scope.services else {
        return Ok(carried.into_keys().cloned().collect());
    };
    if let Some(absent) = named.iter().find(|name| !carried.contains_key(name)) {
        return Err(PlanError::NotOnCluster { service: absent.clone() });
    }
    let towards = match action {
        ClusterAction::StartServices => Towards::Dependencies,
        ClusterAction::StopServices | ClusterAction::RestartServices => Towards::Dependents,
        _ => return Ok(named.clone()),
    };
    let definitions: Vec<&Service> =
        carried.into_iter().map(|(name, node)| definition(services, name, node)).collect::<Result<_, _>>()?;
    let needs = Needs::new(Phase::Runtime, definitions);
    Ok(needs.closure(named, towards).into_iter().map(str::to_owned).collect())
}

fn check_nodes(scope: &Scope, nodes: &[PlanNode]) -> Result<(), PlanError> {
    let known: BTreeSet<&NodeId> = nodes.iter().map(|node| &node.id).collect();
    let unknown = scope.nodes.iter().flatten().find(|node| !known.contains(node));
    unknown.map_or(Ok(()), |node| Err(PlanError::UnknownNode { node: node.clone() }))
}
