//! The one engine: steps per unit in, a graph of tasks out.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::entity::Service;
use crate::id::NodeId;
use crate::plan::definition::{defines, definition};
use crate::plan::error::PlanError;
use crate::plan::graph::Graph;
use crate::plan::needs::{Needs, Phase, Reach};
use crate::plan::rules::Rule;
use crate::plan::unit::UnitId;
use crate::task::TaskName;

/// The steps each unit needs, in their order. A unit without steps may be left out.
pub type Steps = BTreeMap<UnitId, Vec<TaskName>>;

/// A node, as far as planning cares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanNode {
    /// The node.
    pub id: NodeId,
    /// Names of the services on it.
    pub services: BTreeSet<String>,
}

/// What happens when a task should wait for the START or STOP of a unit that has no steps of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AwaitUnplanned {
    /// That task is issued too, as Coopr does, which does not know what runs already.
    Issue,
    /// Nothing is issued: it is known that the unit is where it should be. What it depends on itself is waited for.
    Skip,
}

/// What a plan is made of.
#[derive(Debug, Clone, Copy)]
pub struct PlanInput<'a> {
    /// All nodes of the cluster, in the order of their numbers.
    pub nodes: &'a [PlanNode],
    /// The definitions of the services, by name; others may be among them.
    pub services: &'a BTreeMap<String, Service>,
    /// What is to be done.
    pub steps: &'a Steps,
    /// What to do about awaited tasks of units that have no steps.
    pub unplanned: AwaitUnplanned,
}

/// The graph that carries out the steps asked for. The same input gives the same graph.
///
/// The tasks of a unit come in the order of its steps. A service's tasks come after those of its machine, a final
/// DELETE of the machine after them. Between services the [rules](crate::plan::rules::RULES) hold: a task waits on
/// every node that carries the awaited service and has the awaited task; a service that has no such task is looked
/// through; one that is required on the same machine is waited for on that node only. Among tasks that may come next, the order is by node, then machine before services, then service and step.
///
/// # Errors
/// When steps are asked that make no sense (unknown node, service not there, not defined, step of the wrong kind or
/// twice), or when services depend on each other in a circle.
pub fn build(input: &PlanInput) -> Result<Graph, PlanError> {
    check_steps(input)?;
    let needs = Needed::new(input)?;
    let mut steps = input.steps.clone();
    if input.unplanned == AwaitUnplanned::Issue {
        needs.issue_unplanned(input, &mut steps);
    }
    let tasks: Vec<(UnitId, TaskName)> = input
        .nodes
        .iter()
        .flat_map(|node| of_node(&steps, &node.id))
        .flat_map(|(unit, steps)| steps.iter().map(|&step| (unit.clone(), step)))
        .collect();
    let mut after = vec![Vec::new(); tasks.len()];
    chain(&tasks, &mut after);
    needs.wait(&tasks, &mut after);
    Graph::new(tasks, after)
}

fn of_node<'s>(steps: &'s Steps, node: &NodeId) -> impl Iterator<Item = (&'s UnitId, &'s Vec<TaskName>)> {
    steps.range(UnitId::machine(node.clone())..).take_while({
        let node = node.clone();
        move |(unit, _)| unit.node == node
    })
}

/// That every step asked for can be taken.
fn check_steps(input: &PlanInput) -> Result<(), PlanError> {
    let nodes: BTreeMap<&NodeId, &PlanNode> = input.nodes.iter().map(|node| (&node.id, node)).collect();
    for (unit, steps) in input.steps {
        let Some(node) = nodes.get(&unit.node) else {
            return Err(PlanError::UnknownNode { node: unit.node.clone() });
        };
        let service = match &unit.service {
            None => None,
            Some(name) if !node.services.contains(name) => {
                return Err(PlanError::NotOnNode { unit: unit.clone() });
            }
            Some(name) => Some(definition(input.services, name, &unit.node)?),
        };
        let mut seen = HashSet::new();
        for &step in steps {
            if let Some(fault) = fault_of(step, service, seen.insert(step)) {
                return Err(PlanError::BadStep { unit: unit.clone(), step, fault });
            }
        }
    }
    Ok(())
}

/// What is wrong with a step of `service`, or of a machine; continues the sentence "step STEP ...".
fn fault_of(step: TaskName, service: Option<&Service>, first: bool) -> Option<&'static str> {
    match service {
        _ if !first => Some("is asked for twice"),
        None if !step.is_machine_task() => Some("is a step of services, not of machines"),
        Some(_) if step.is_machine_task() => Some("is a step of machines, not of services"),
        Some(service) if !defines(service, step) => Some("is not defined by the service"),
        None | Some(_) => None,
    }
}

/// Puts the tasks of each unit in a row, services behind their machine and a final DELETE behind the services.
/// The tasks of a node must be together, those of a unit too, and the machine's first.
fn chain(tasks: &[(UnitId, TaskName)], after: &mut [Vec<usize>]) {
    let mut ready = None; // the machine's last task before its services
    let mut delete = None; // the machine's last task, if it is a DELETE
    for (index, (unit, step)) in tasks.iter().enumerate() {
        let previous = index.checked_sub(1).map(|at| (at, &tasks[at].0));
        if previous.is_none_or(|(_, other)| other.node != unit.node) {
            (ready, delete) = (None, None);
        }
        if unit.is_machine() {
            let last = tasks.get(index + 1).is_none_or(|(next, _)| next != unit);
            after[index].extend(ready);
            if last && *step == TaskName::Delete {
                delete = Some(index);
            } else {
                ready = Some(index);
            }
            continue;
        }
        match previous {
            Some((at, other)) if other == unit => after[index].push(at),
            _ => after[index].extend(ready),
        }
        if let Some(delete) = delete {
            after[delete].push(index);
        }
    }
}

/// The services of the cluster with the dependencies that matter for the steps asked for.
struct Needed<'a> {
    phases: BTreeMap<Phase, Needs<'a>>,
}

impl<'a> Needed<'a> {
    fn new(input: &PlanInput<'a>) -> Result<Self, PlanError> {
        let steps: BTreeSet<TaskName> = input.steps.values().flatten().copied().collect();
        let wanted: BTreeSet<Phase> =
            steps.into_iter().flat_map(Rule::of_step).map(|rule| rule.phase).collect();
        let mut phases = BTreeMap::new();
        if wanted.is_empty() {
            return Ok(Self { phases });
        }
        let mut carried = BTreeMap::new();
        for node in input.nodes {
            for name in &node.services {
                if !carried.contains_key(name) {
                    carried.insert(name, definition(input.services, name, &node.id)?);
                }
            }
        }
        for phase in wanted {
            let needs = Needs::new(phase, carried.values().copied());
            needs.check()?;
            phases.insert(phase, needs);
        }
        Ok(Self { phases })
    }

    /// Adds the START and STOP tasks that planned tasks wait for, on units that have no steps.
    fn issue_unplanned(&self, input: &PlanInput, steps: &mut Steps) {
        let mut issued: BTreeMap<UnitId, BTreeSet<TaskName>> = BTreeMap::new();
        let tasks = input.steps.iter().flat_map(|(unit, steps)| steps.iter().map(move |&step| (unit, step)));
        for (service, step) in planned(tasks) {
            for rule in Rule::of_step(step).filter(|rule| is_issued(rule.awaits)) {
                let has = |name: &str| input.services.get(name).is_some_and(|it| defines(it, rule.awaits));
                for (awaited, reach) in self.awaited(rule, service, has) {
                    let is_here = |node: &PlanNode| {
                        let unit = UnitId::service(node.id.clone(), service);
                        input.steps.get(&unit).is_some_and(|steps| steps.contains(&step))
                    };
                    let carrying = input.nodes.iter().filter(|node| {
                        node.services.contains(awaited) && (reach == Reach::Cluster || is_here(node))
                    });
                    let units = carrying.map(|node| UnitId::service(node.id.clone(), awaited));
                    for unit in units.filter(|unit| input.steps.get(unit).is_none_or(Vec::is_empty)) {
                        issued.entry(unit).or_default().insert(rule.awaits);
                    }
                }
            }
        }
        // A unit that is stopped and started is stopped first; sets of tasks are sorted the other way round.
        steps.extend(issued.into_iter().map(|(unit, tasks)| (unit, tasks.into_iter().rev().collect())));
    }

    /// Makes each task wait as the rules say.
    fn wait(&self, tasks: &[(UnitId, TaskName)], after: &mut [Vec<usize>]) {
        let mut places: BTreeMap<(&str, TaskName), Vec<usize>> = BTreeMap::new();
        for (index, (unit, step)) in tasks.iter().enumerate() {
            if let Some(service) = &unit.service {
                places.entry((service, *step)).or_default().push(index);
            }
        }
        for (service, step) in planned(tasks.iter().map(|(unit, step)| (unit, *step))) {
            for rule in Rule::of_step(step) {
                let has = |name: &str| places.contains_key(&(name, rule.awaits));
                let (here, everywhere): (Vec<_>, Vec<_>) =
                    self.awaited(rule, service, has).partition(|(_, reach)| *reach == Reach::Node);
                let tasks_of = |(name, _): &(&'a str, Reach)| places[&(*name, rule.awaits)].iter().copied();
                let everywhere: Vec<usize> = everywhere.iter().flat_map(tasks_of).collect();
                for &waiting in &places[&(service, step)] {
                    if waits_already(tasks, waiting, rule) {
                        continue;
                    }
                    after[waiting].extend(&everywhere);
                    let node = &tasks[waiting].0.node;
                    after[waiting]
                        .extend(here.iter().flat_map(tasks_of).filter(|at| tasks[*at].0.node == *node));
                }
            }
        }
    }

    /// The services whose tasks a rule makes `service` wait for, and how far, if `has` tells which have that task.
    fn awaited(
        &self,
        rule: &Rule,
        service: &str,
        has: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = (&'a str, Reach)> {
        let found = self.phases.get(&rule.phase).and_then(|needs| {
            let has = |other: usize| has(needs.names()[other]);
            let nearest = needs.nearest_with_reach(needs.find(service)?, rule.of, has);
            let named = nearest.into_iter().map(|(other, reach)| (needs.names()[other], reach));
            Some(named.collect::<Vec<_>>())
        });
        found.into_iter().flatten()
    }
}

/// Only whether a service runs is made sure of once more, not what is on its node.
fn is_issued(awaited: TaskName) -> bool {
    matches!(awaited, TaskName::Start | TaskName::Stop)
}

/// Which steps occur of which services.
fn planned<'t>(tasks: impl Iterator<Item = (&'t UnitId, TaskName)>) -> BTreeSet<(&'t str, TaskName)> {
    tasks.filter_map(|(unit, step)| Some((unit.service.as_deref()?, step))).collect()
}

/// Whether an earlier step of the same unit waits for the same tasks as the rule for this one. Such edges would follow
/// from others; where every node carries both services they are many, so they are not made at all.
fn waits_already(tasks: &[(UnitId, TaskName)], waiting: usize, rule: &Rule) -> bool {
    let unit = &tasks[waiting].0;
    let earlier = tasks[..waiting].iter().rev().take_while(|(other, _)| other == unit);
    earlier.flat_map(|(_, step)| Rule::of_step(*step)).any(|other| other.awaits_same(rule))
}
