//! Whose turn it is when nodes come and go: those who are told of them wait for the ones that come, and are waited for by
//! the ones that go.
//!
//! A load balancer that is to know a new web server is told when the web server runs; one that is to forget an old web
//! server is told before that ends. So no request goes where nobody is.

use std::collections::{BTreeMap, BTreeSet};

use super::inputs::{MEMBERS, OUTPUTS};
use super::planning;
use super::refusal::Refusal;
use super::state::Cluster;
use crate::entity::Input;
use crate::id::NodeId;
use crate::plan::needs::{Needs, Phase, Reach, Towards};
use crate::plan::{Graph, UnitId, Wanted};
use crate::task::TaskName;

/// What is left to do for what is wanted.
pub(super) fn graph(cluster: &Cluster) -> Result<Graph, Refusal> {
    let graph = planning::graph_of_units(cluster)?;
    let span = Spans::of(&graph);
    let coming: BTreeSet<&NodeId> =
        graph.tasks().iter().filter(|task| task.name == TaskName::Create).map(|task| &task.node).collect();
    let goes = |id: &UnitId| {
        cluster.is_leaving(&id.node)
            || cluster.units.get(id).is_some_and(|unit| unit.wanted == Wanted::Absent)
    };
    let told: Vec<&UnitId> =
        span.services().filter(|id| !goes(id) && !coming.contains(&id.node) && !cluster.is_new(id)).collect();
    if told.is_empty() || told.len() == span.services().count() && !span.0.keys().any(goes) {
        return Ok(graph);
    }
    let mut after: Vec<Vec<usize>> = graph.tasks().iter().map(|task| task.after.clone()).collect();
    for unit in told {
        let heeded = heeded(cluster, unit);
        let everywhere: BTreeSet<&str> =
            heeded.iter().filter(|(_, reach)| **reach == Reach::Cluster).map(|(name, _)| *name).collect();
        let (first, last) = span.0[unit];
        for (other, (begins, ends)) in &span.0 {
            let concerns = match &other.service {
                Some(service) => heeded
                    .get(service.as_str())
                    .is_some_and(|reach| *reach == Reach::Cluster || other.node == unit.node),
                None => span.carries_none(other) && cluster.carries_any(&other.node, &everywhere),
            };
            if !concerns {
                continue;
            }
            if goes(other) {
                after[*begins].push(last);
            } else if coming.contains(&other.node) || cluster.is_new(other) {
                after[first].push(*ends);
            }
        }
    }
    let tasks = graph.tasks().iter().map(|task| (task.unit(), task.name)).collect();
    // Services that heed each other have no such order: then each goes as its steps allow.
    Ok(Graph::new(tasks, after).unwrap_or(graph))
}

/// The services that one minds, on its node or on all: those it depends on, and those whose values it takes.
fn heeded<'a>(cluster: &'a Cluster, unit: &'a UnitId) -> BTreeMap<&'a str, Reach> {
    let mut heeded: BTreeMap<&str, Reach> = BTreeMap::new();
    let Some(name) = &unit.service else { return heeded };
    for phase in [Phase::Install, Phase::Runtime] {
        let needs = Needs::new(phase, cluster.definitions.values());
        for (service, reach) in needs.reached(name, Towards::Dependencies) {
            let known = heeded.entry(service).or_insert(reach);
            *known = (*known).max(reach);
        }
    }
    let inputs = cluster.definitions.get(name).and_then(|service| service.inputs.as_ref());
    for place in inputs.into_iter().flatten().map(Input::place) {
        let given = place.strip_prefix(OUTPUTS).and_then(|output| output.split('.').next());
        heeded.extend(given.or(place.strip_prefix(MEMBERS)).map(|service| (service, Reach::Cluster)));
    }
    heeded.remove(name.as_str());
    heeded
}

/// First and last task of each unit that has any.
struct Spans(BTreeMap<UnitId, (usize, usize)>);

impl Spans {
    fn of(graph: &Graph) -> Self {
        let mut spans = BTreeMap::new();
        for task in graph.tasks() {
            let span = spans.entry(task.unit()).or_insert((task.index, task.index));
            span.1 = task.index;
        }
        Self(spans)
    }

    fn services(&self) -> impl Iterator<Item = &UnitId> {
        self.0.keys().filter(|id| !id.is_machine())
    }

    /// Whether no service of a machine has tasks, so that the machine stands for them.
    fn carries_none(&self, machine: &UnitId) -> bool {
        !self.services().any(|id| id.node == machine.node)
    }
}
