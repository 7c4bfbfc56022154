//! What a change would do, told before anything is done: a pure function of the cluster as it is and of the events that
//! were decided on it.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::apply::apply;
use super::difference::{Became, Difference, NodeDifference, difference, host, is_wanted};
use super::event::Event;
use super::job::{Job, Task};
use super::state::{Cluster, Node};
use super::taken::Taken;
use super::words::words;
use crate::entity::PriceList;
use crate::id::NodeId;
use crate::plan::{ClusterAction, Graph, Length, UnitId, predict, render, spread, stages};
use crate::task::{NodeProperties, TaskName};

/// What is known of the world outside of the cluster.
pub struct Outlook<'a> {
    /// How long a task of a cluster takes.
    pub length: &'a dyn Fn(&Cluster, &Task) -> Length,
    /// What machines cost per hour.
    pub prices: &'a PriceList,
    /// How many tasks run at once.
    pub workers: NonZeroUsize,
}

/// What a change would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanPreview {
    /// The cluster; none while it has no number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_id: Option<String>,
    /// The state it was made on: number of the cluster's last event. A change with this in `If-Match` is made on no other.
    pub sequence: u64,
    /// What the job would be called in Coopr's words; none: there would be no job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// What would be recorded, in words. Nothing: nothing needs to be done.
    pub decisions: Vec<String>,
    /// What would be different.
    pub changes: Difference,
    /// The nodes that are wanted afterwards, by number.
    pub nodes: Vec<NodeProperties>,
    /// Names of the cluster's services afterwards.
    pub services: BTreeSet<String>,
    /// How many tasks there would be.
    pub tasks: usize,
    /// The tasks, each behind those it waits for.
    pub planned: Vec<PreviewTask>,
    /// The same for people.
    pub graph: String,
    /// How many stages Coopr would run them in.
    pub stages: usize,
    /// How long it takes if each task takes what it takes on average, in ms.
    pub predicted_ms: u64,
    /// Half of all runs take no longer, in ms.
    pub p50_ms: u64,
    /// Nine of ten runs take no longer, in ms.
    pub p90_ms: u64,
    /// No run with average tasks can be faster, in ms.
    pub lower_bound_ms: u64,
    /// For how many of the tasks there is no history, so that the times of those are rules of thumb.
    pub unknown_durations: usize,
    /// What decides how long it takes, first to last.
    pub critical_path: Vec<String>,
    /// What the machines cost, where their hardware types say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// What cannot be undone, in words.
    pub irreversible: Vec<String>,
    /// What is taken of the clusters that this one is built upon.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from_ancestors: Vec<Taken>,
}

/// A task that would be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewTask {
    /// What would be done, such as `INSTALL`.
    pub task_name: String,
    /// Id of the node.
    pub node_id: String,
    /// Empty for tasks on the machine itself.
    pub service: String,
    /// Places of those it waits for, from 0.
    pub after: Vec<usize>,
    /// How long it takes on average, in ms.
    pub estimate_ms: u64,
}

/// What machines cost per hour, in whatever money the hardware types are priced in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Price {
    /// All of them before.
    pub before_per_hour: f64,
    /// All of them afterwards.
    pub after_per_hour: f64,
    /// Hardware types without a price, which count as nothing.
    pub unpriced: BTreeSet<String>,
}

/// What `events`, decided on `before`, would do. `None` when they bring no cluster into being and there is none.
#[must_use]
pub fn preview(before: Option<&Cluster>, events: &[Event], outlook: &Outlook<'_>) -> Option<PlanPreview> {
    let mut next = before.cloned();
    for event in events {
        apply(&mut next, event);
    }
    let after = next?;
    let known = before.map_or(0, Cluster::next_job);
    let job = after.latest_job().filter(|job| job.id.number >= known && !job.tasks.is_empty());
    let action = events.iter().rev().find_map(|event| match event {
        Event::JobPlanned { action, .. } => Some(*action),
        _ => None,
    });
    let mut changes = difference(before, &after);
    say_why(&mut changes, &after, events, before.is_none());
    let run = job.map(|job| Run::of(&after, job, outlook)).unwrap_or_default();
    Some(PlanPreview {
        cluster_id: before.map(|cluster| cluster.id.to_string()),
        sequence: before.map_or(0, |cluster| cluster.sequence),
        action: action.map(ClusterAction::as_upper),
        decisions: events.iter().map(|event| words(event, &after)).collect(),
        nodes: wanted_nodes(&after).map(|node| node.properties.clone()).collect(),
        services: after.services.clone(),
        price: price(before, &after, outlook),
        irreversible: irreversible(before, &after, job, &changes),
        from_ancestors: after.taken(),
        changes,
        tasks: run.planned.len(),
        planned: run.planned,
        graph: run.graph,
        stages: run.stages,
        predicted_ms: run.predicted_ms,
        p50_ms: run.p50_ms,
        p90_ms: run.p90_ms,
        lower_bound_ms: run.lower_bound_ms,
        unknown_durations: run.unknown_durations,
        critical_path: run.critical_path,
    })
}

/// Why nodes come and go, and which get another machine.
fn say_why(changes: &mut Difference, after: &Cluster, events: &[Event], is_new: bool) {
    for event in events {
        let Event::WantedChanged { change, .. } = event else { continue };
        for node in &mut changes.nodes {
            let id = NodeId(node.id.clone());
            match node.what {
                Became::Removed => node.why = change.leaving.get(&id).cloned().unwrap_or_default(),
                Became::Added => node.why = "more machines are wanted".to_owned(),
                Became::Changed => {}
            }
        }
        let anew =
            change.renew.iter().filter(|(id, steps)| id.is_machine() && steps.contains(&TaskName::Delete));
        for node in anew.filter_map(|(id, _)| after.nodes.get(&id.node)) {
            let mut known = changes.nodes.iter_mut().filter(|known| known.id == node.id.0);
            match known.next() {
                Some(known) => known.why = ANEW.to_owned(),
                None => changes.nodes.push(made_anew(node)),
            }
        }
    }
    let is_deleted = events
        .iter()
        .any(|event| matches!(event, Event::JobPlanned { action: ClusterAction::ClusterDelete, .. }));
    for node in changes.nodes.iter_mut().filter(|node| node.why.is_empty()) {
        match node.what {
            Became::Added if is_new => node.why = "the layout asks for it".to_owned(),
            Became::Removed if is_deleted => node.why = "the cluster is deleted".to_owned(),
            _ => {}
        }
    }
}

/// Why a node changes that keeps its services.
const ANEW: &str = "it gets another machine";

fn made_anew(node: &Node) -> NodeDifference {
    NodeDifference {
        id: node.id.to_string(),
        number: node.properties.nodenum,
        host: host(node),
        what: Became::Changed,
        why: ANEW.to_owned(),
        hardwaretype: node.properties.hardwaretype.clone(),
        imagetype: node.properties.imagetype.clone(),
        services_added: BTreeSet::new(),
        services_removed: BTreeSet::new(),
    }
}

fn wanted_nodes(cluster: &Cluster) -> impl Iterator<Item = &Node> {
    cluster.nodes_by_number().into_iter().filter(|node| is_wanted(cluster, &node.id))
}

/// What is told of a job that would run.
#[derive(Default)]
struct Run {
    planned: Vec<PreviewTask>,
    graph: String,
    stages: usize,
    predicted_ms: u64,
    p50_ms: u64,
    p90_ms: u64,
    lower_bound_ms: u64,
    unknown_durations: usize,
    critical_path: Vec<String>,
}

impl Run {
    fn of(cluster: &Cluster, job: &Job, outlook: &Outlook<'_>) -> Self {
        let (graph, numbers) = job.graph();
        let length = |number| {
            let task = job.tasks.get(number)?;
            let length = (outlook.length)(cluster, task);
            // The pause of a rollout goes before the task.
            let pause = Duration::from_millis(u64::try_from(task.delay).unwrap_or(0));
            Some(Length { mean: length.mean.saturating_add(pause), ..length })
        };
        let lengths: Vec<Length> = numbers.iter().map(|number| length(number).unwrap_or_default()).collect();
        let means: Vec<Duration> = lengths.iter().map(|length| length.mean).collect();
        let mean = |place: usize| means.get(place).copied().unwrap_or_default();
        let prediction = predict(&graph, |task| mean(task.index), outlook.workers);
        let spread = spread(&graph, &lengths, &prediction.urgency, outlook.workers);
        let name = |node: &NodeId| cluster.nodes.get(node).map_or_else(|| node.to_string(), host);
        Self {
            planned: planned(&graph, mean),
            graph: render(&graph, name),
            stages: stages(&graph).len(),
            predicted_ms: ms(prediction.makespan),
            p50_ms: ms(spread.p50),
            p90_ms: ms(spread.p90),
            lower_bound_ms: ms(prediction.lower_bound),
            unknown_durations: lengths.iter().filter(|length| !length.is_known).count(),
            critical_path: prediction
                .critical_path
                .iter()
                .filter_map(|place| graph.tasks().get(*place))
                .map(|task| label(task.name, task.service.as_deref(), &name(&task.node)))
                .collect(),
        }
    }
}

/// `INSTALL nginx on shop1-1000`.
pub(super) fn label(name: TaskName, service: Option<&str>, host: &str) -> String {
    let service = service.map(|service| format!(" {service}")).unwrap_or_default();
    format!("{name}{service} on {host}")
}

fn planned(graph: &Graph, mean: impl Fn(usize) -> Duration) -> Vec<PreviewTask> {
    let task = |task: &crate::plan::PlannedTask| PreviewTask {
        task_name: task.name.to_string(),
        node_id: task.node.to_string(),
        service: task.service.clone().unwrap_or_default(),
        after: task.after.clone(),
        estimate_ms: ms(mean(task.index)),
    };
    graph.tasks().iter().map(task).collect()
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Prices of all machines that are wanted; `None` when no hardware type among them has one.
fn price(before: Option<&Cluster>, after: &Cluster, outlook: &Outlook<'_>) -> Option<Price> {
    let mut price = Price::default();
    let mut is_known = false;
    let mut sum = |cluster: &Cluster| {
        wanted_nodes(cluster).fold(0.0, |sum, node| {
            let hardware = &node.properties.hardwaretype;
            match outlook.prices.of_one(hardware, &cluster.provider.base.name) {
                Some(price) => {
                    is_known = true;
                    sum + price
                }
                None => {
                    price.unpriced.insert(hardware.clone());
                    sum
                }
            }
        })
    };
    let (before, after) = (before.map_or(0.0, &mut sum), sum(after));
    (price.before_per_hour, price.after_per_hour) = (before, after);
    is_known.then_some(price)
}

/// What cannot be undone: machines that are given back, and files that services leave behind.
fn irreversible(
    before: Option<&Cluster>,
    after: &Cluster,
    job: Option<&Job>,
    changes: &Difference,
) -> Vec<String> {
    let Some(before) = before else { return Vec::new() };
    let mut said = machines_given_back(before, job);
    for node in changes.nodes.iter().filter(|node| node.what == Became::Changed) {
        let left = node.services_removed.iter().filter(|name| leaves_files(before, &node.id, name));
        said.extend(left.map(|name| {
            format!(
                "service {name} defines no remove action: what it wrote stays on {}, and it is not stopped by being removed",
                node.host
            )
        }));
    }
    let is_deleted = job.is_some_and(|job| job.action == ClusterAction::ClusterDelete);
    if is_deleted {
        said.push(format!(
            "cluster {} ends for good: its secrets are wiped, and its number is not given again",
            after.id
        ));
    }
    said
}

fn machines_given_back(before: &Cluster, job: Option<&Job>) -> Vec<String> {
    let mut nodes: BTreeMap<u32, (&NodeId, bool)> = BTreeMap::new();
    for task in job.iter().flat_map(|job| job.tasks.values()) {
        let Some(node) = before.nodes.get(&task.node).filter(|node| node.may_have_machine()) else {
            continue;
        };
        let is_made = task.name == TaskName::Create;
        if is_made || task.name == TaskName::Delete {
            let known = nodes.entry(node.properties.nodenum).or_insert((&task.node, false));
            known.1 |= is_made;
        }
    }
    let deleted =
        |id: &NodeId| job.is_some_and(|job| job.tasks_of(id).any(|task| task.name == TaskName::Delete));
    nodes
        .into_values()
        .filter(|(id, _)| deleted(id))
        .map(|(id, is_made_anew)| {
            let host = before.nodes.get(id).map(host).unwrap_or_default();
            let then = if is_made_anew { "; another one takes its place, without that data" } else { "" };
            format!("the machine of {host} is deleted, with everything on its disks{then}")
        })
        .collect()
}

/// Whether a service that goes leaves what it wrote: it is there, and says nothing about its removal.
fn leaves_files(before: &Cluster, node: &str, name: &str) -> bool {
    let unit = UnitId::service(NodeId(node.to_owned()), name);
    let is_there = before.units.get(&unit).is_some_and(|unit| unit.observed != crate::plan::Observed::Absent);
    is_there && !before.defines(name, TaskName::Remove)
}
