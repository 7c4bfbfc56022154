//! From what is wanted and what is known of a cluster to the graph of tasks that closes the difference.

use std::collections::{BTreeMap, BTreeSet};

use super::ending;
use super::event::{Event, PlannedStep};
use super::refusal::Refusal;
use super::state::{Cluster, Node};
use crate::entity::Service;
use crate::id::NodeId;
use crate::plan::{
    self, AwaitUnplanned, ClusterAction, Graph, Observed, PlanInput, PlanNode, PlannedTask, Unit, UnitId,
    Units, Wanted,
};
use crate::task::NodeProperties;

/// The numbers of the next job of a cluster and of its first task.
#[derive(Debug, Clone, Copy)]
pub(super) struct NextNumbers {
    pub job: u32,
    pub task: u32,
}

impl NextNumbers {
    pub(super) fn of(cluster: &Cluster) -> Self {
        Self { job: cluster.next_job(), task: cluster.last_task + 1 }
    }
}

/// The events of a new job that carries out `graph`; one without tasks is complete at once.
pub(super) fn job(
    next: NextNumbers,
    action: ClusterAction,
    by: String,
    graph: &Graph,
    now: i64,
) -> Vec<Event> {
    let planned = Event::JobPlanned { at: now, job: next.job, action, by, tasks: steps(graph, next.task) };
    let end = graph.is_empty().then(|| ending::success(next.job, action, now));
    [planned].into_iter().chain(end).collect()
}

/// A graph's tasks with numbers of the cluster, from `first` on.
fn steps(graph: &Graph, first: u32) -> Vec<PlannedStep> {
    let number = |index: usize| first.saturating_add(u32::try_from(index).unwrap_or(u32::MAX));
    let step = |task: &PlannedTask| PlannedStep {
        number: number(task.index),
        name: task.name,
        node: task.node.clone(),
        service: task.service.clone(),
        after: task.after.iter().map(|before| number(*before)).collect(),
    };
    graph.tasks().iter().map(step).collect()
}

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
    let nodes = plan_nodes(nodes);
    let no_plan = |fault: plan::PlanError| Refusal::NoPlan(fault.to_string());
    let steps = plan::converge(units, definitions).map_err(no_plan)?;
    let input =
        PlanInput { nodes: &nodes, services: definitions, steps: &steps, unplanned: AwaitUnplanned::Skip };
    plan::graph::build(&input).map_err(no_plan)
}

/// The tasks of one of Coopr's actions on services of a usable cluster, and the services it takes: the named ones with
/// those they take along, or all; on the nodes given, or all.
pub(super) fn coopr_graph(
    cluster: &Cluster,
    action: ClusterAction,
    services: Option<BTreeSet<String>>,
    nodes: Option<BTreeSet<NodeId>>,
) -> Result<(BTreeSet<String>, Graph), Refusal> {
    let no_plan = |fault: plan::PlanError| Refusal::NoPlan(fault.to_string());
    let scope = plan::coopr::Scope { services, nodes };
    let all = plan_nodes(&properties(cluster));
    let planned =
        plan::coopr::planned_services(action, &scope, &all, &cluster.definitions).map_err(no_plan)?;
    let graph = plan::coopr::plan(action, &scope, &all, &cluster.definitions).map_err(no_plan)?;
    Ok((planned, graph))
}

/// Nodes as the planner sees them, in the order of their numbers.
fn plan_nodes(nodes: &BTreeMap<NodeId, NodeProperties>) -> Vec<PlanNode> {
    let mut numbered: Vec<_> = nodes.iter().collect();
    numbered.sort_by_key(|(_, properties)| properties.nodenum);
    numbered
        .into_iter()
        .map(|(id, properties)| PlanNode { id: id.clone(), services: properties.services.clone() })
        .collect()
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
        let may_exist = cluster.nodes.get(&id.node).is_some_and(Node::may_have_machine);
        // A machine that was asked for may exist, whatever its provider said.
        if id.is_machine() && may_exist {
            unit.observed = unit.observed.max(Observed::Created);
        }
    }
    graph(&properties(cluster), &units, &cluster.definitions)
}

fn properties(cluster: &Cluster) -> BTreeMap<NodeId, NodeProperties> {
    cluster.nodes.iter().map(|(id, node)| (id.clone(), node.properties.clone())).collect()
}
