//! From what is wanted and what is known of a cluster to the graph of tasks that closes the difference.

use std::collections::{BTreeMap, BTreeSet};

use super::apply;
use super::ending;
use super::event::{Event, PlannedStep};
use super::refusal::Refusal;
use super::rollout::{self, Rollout};
use super::state::{Cluster, Node};
use super::wanted_change::WantedChange;
use super::{flow, inputs};
use crate::entity::Service;
use crate::id::NodeId;
use crate::mutant;
use crate::plan::coopr::Scope;
use crate::plan::{
    self, AwaitUnplanned, ClusterAction, Graph, Observed, PlanInput, PlanNode, PlannedTask, Steps, UnitId,
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
    job_of(next, action, by, steps(graph, next.task), None, now)
}

/// The same from tasks that have numbers already.
pub(super) fn job_of(
    next: NextNumbers,
    action: ClusterAction,
    by: String,
    tasks: Vec<PlannedStep>,
    rollout: Option<Rollout>,
    now: i64,
) -> Vec<Event> {
    let end = tasks.is_empty().then(|| ending::success(next.job, action, now));
    let planned = Event::JobPlanned { at: now, job: next.job, action, by, tasks, rollout };
    [planned].into_iter().chain(end).collect()
}

/// The events of a change of what is wanted: the change, with the steps that services take because values they were
/// brought up with change by it, and the job that carries it out.
pub(super) fn change(
    cluster: &Cluster,
    mut change: WantedChange,
    action: ClusterAction,
    rollout: Option<Rollout>,
    by: &str,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    if let Some(rollout) = &rollout {
        rollout.check()?;
    }
    let wanted = |change: &WantedChange| Event::WantedChanged {
        at: now,
        change: change.clone().into(),
        by: by.to_owned(),
    };
    let changed = after(cluster, &[wanted(&change)]);
    change.renew_also(inputs::stale_since(cluster, &changed));
    let settled = inputs::settled(&changed);
    change.renew.retain(|unit, _| !settled.contains(unit));
    // What only this change would have asked for needs no word: then the change says the same when it is decided once more.
    let asked_before = |unit: &UnitId| cluster.units.get(unit).is_some_and(|unit| !unit.renew.is_empty());
    change.settled = settled.into_iter().filter(asked_before).collect();
    let changed = after(cluster, &[wanted(&change)]);
    let next = NextNumbers::of(cluster);
    let tasks = match &rollout {
        Some(rollout) => rollout::steps(&changed, rollout, next.task)?,
        None => steps(&graph_to_wanted(&changed)?, next.task),
    };
    let events = [wanted(&change)].into_iter();
    Ok(events.chain(job_of(next, action, by.to_owned(), tasks, rollout, now)).collect())
}

/// A graph's tasks with numbers of the cluster, from `first` on.
pub(super) fn steps(graph: &Graph, first: u32) -> Vec<PlannedStep> {
    let number = |index: usize| first.saturating_add(u32::try_from(index).unwrap_or(u32::MAX));
    let step = |task: &PlannedTask| PlannedStep {
        number: number(task.index),
        name: task.name,
        node: task.node.clone(),
        service: task.service.clone(),
        after: task.after.iter().map(|before| number(*before)).collect(),
        delay: 0,
        errand: None,
    };
    graph.tasks().iter().map(step).collect()
}

/// The cluster once `events` have happened, to plan what they ask for.
pub(super) fn after(cluster: &Cluster, events: &[Event]) -> Cluster {
    let mut next = cluster.clone();
    for event in events {
        apply::change(&mut next, event);
    }
    next
}

/// The tasks that bring `units` on `nodes` to what is wanted of them.
pub(super) fn graph(
    nodes: &BTreeMap<NodeId, NodeProperties>,
    units: &Units,
    definitions: &BTreeMap<String, Service>,
) -> Result<Graph, Refusal> {
    let steps = plan::converge(units, definitions)?;
    build(&plan_nodes(nodes), definitions, &steps, AwaitUnplanned::Skip)
}

fn build(
    nodes: &[PlanNode],
    services: &BTreeMap<String, Service>,
    steps: &Steps,
    unplanned: AwaitUnplanned,
) -> Result<Graph, Refusal> {
    Ok(plan::graph::build(&PlanInput { nodes, services, steps, unplanned })?)
}

/// The services that an action on these takes: those they need to run when it starts them, those that need them when it
/// stops or restarts them. `None` stands for all.
pub(super) fn taken(
    cluster: &Cluster,
    action: ClusterAction,
    services: Option<BTreeSet<String>>,
) -> Result<BTreeSet<String>, Refusal> {
    let scope = Scope { services, nodes: None };
    let nodes = plan_nodes(&properties(cluster));
    Ok(plan::coopr::planned_services(action, &scope, &nodes, &cluster.definitions)?)
}

/// Those of the services that `services` need to run, themselves included, which are wanted at rest.
pub(super) fn resting_below(
    cluster: &Cluster,
    services: &BTreeSet<String>,
) -> Result<BTreeSet<String>, Refusal> {
    let mut needed = taken(cluster, ClusterAction::StartServices, Some(services.clone()))?;
    needed.retain(|name| !cluster.wants_running(name));
    Ok(needed)
}

/// What is left to do for what is wanted, and the steps of an action on services whether or not they seem to be needed:
/// a service may have died, or been started by hand. As in Coopr, whatever a service waits for is started once more.
pub(super) fn graph_of_action(
    cluster: &Cluster,
    action: ClusterAction,
    services: &BTreeSet<String>,
) -> Result<Graph, Refusal> {
    let nodes = plan_nodes(&properties(cluster));
    let mut steps = converge(cluster)?;
    let scope = Scope { services: Some(services.clone()), nodes: None };
    let mut asked = plan::coopr::steps(action, &scope, &nodes, &cluster.definitions)?;
    asked.retain(|unit, _| unit.service.as_ref().is_some_and(|name| services.contains(name)));
    steps.extend(asked);
    build(&nodes, &cluster.definitions, &steps, AwaitUnplanned::Issue)
}

/// What is left to do for what is wanted. As in Coopr, whatever an added service waits for is started once more.
pub(super) fn graph_of_addition(cluster: &Cluster) -> Result<Graph, Refusal> {
    let nodes = plan_nodes(&properties(cluster));
    let steps = converge(cluster)?;
    build(&nodes, &cluster.definitions, &steps, AwaitUnplanned::Issue)
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
    flow::graph(cluster)
}

/// The same without regard to who is told of nodes that come and go.
pub(super) fn graph_of_units(cluster: &Cluster) -> Result<Graph, Refusal> {
    let steps = converge(cluster)?;
    build(&nodes_with_units(cluster), &cluster.definitions, &steps, AwaitUnplanned::Skip)
}

/// Some steps of one node, in the order that its own services ask for.
pub(super) fn graph_of_node(cluster: &Cluster, node: &NodeId, steps: &Steps) -> Result<Graph, Refusal> {
    let mut nodes = nodes_with_units(cluster);
    nodes.retain(|other| other.id == *node);
    build(&nodes, &cluster.definitions, steps, AwaitUnplanned::Skip)
}

/// Nodes as the planner sees them, with services that are on their way out.
fn nodes_with_units(cluster: &Cluster) -> Vec<PlanNode> {
    let mut nodes = plan_nodes(&properties(cluster));
    for node in &mut nodes {
        let units = cluster.units.range(UnitId::machine(node.id.clone())..);
        let own = units.take_while(|(id, _)| id.node == node.id).filter_map(|(id, _)| id.service.clone());
        node.services.extend(own);
    }
    nodes
}

/// What is to be done to be rid of every machine that may exist.
pub(super) fn graph_to_nothing(cluster: &Cluster) -> Result<Graph, Refusal> {
    let mut units = cluster.units.clone();
    for unit in units.values_mut() {
        unit.wanted = Wanted::Absent;
    }
    given_back(cluster, &mut units);
    let steps = plan::converge(&units, &cluster.definitions)?;
    build(&nodes_with_units(cluster), &cluster.definitions, &steps, AwaitUnplanned::Skip)
}

/// A machine that goes was made if it may exist, whatever its provider said: it is to be given back.
fn given_back(cluster: &Cluster, units: &mut Units) {
    for (id, unit) in units {
        let may_exist = cluster.nodes.get(&id.node).is_some_and(Node::may_have_machine);
        let absent = id.is_machine() && unit.wanted == Wanted::Absent;
        if absent && may_exist && !mutant::is("deletes-no-doubtful-machines") {
            unit.observed = unit.observed.max(Observed::Created);
        }
    }
}

/// The steps that bring every unit to what is wanted of it.
pub(super) fn converge(cluster: &Cluster) -> Result<Steps, Refusal> {
    let mut units = cluster.units.clone();
    given_back(cluster, &mut units);
    Ok(plan::converge(&units, &cluster.definitions)?)
}

fn properties(cluster: &Cluster) -> BTreeMap<NodeId, NodeProperties> {
    cluster.nodes.iter().map(|(id, node)| (id.clone(), node.properties.clone())).collect()
}
