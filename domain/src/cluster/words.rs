//! What happened to a cluster, in words for people.

use std::collections::{BTreeMap, BTreeSet};

use super::care::CareChange;
use super::difference::host;
use super::event::{Event, FailedNext};
use super::follow_up::FollowUp;
use super::job::{Outcome, Task};
use super::preview::label;
use super::state::Cluster;
use super::wanted_change::WantedChange;
use crate::health::Health;
use crate::id::NodeId;
use crate::plan::Wanted;
use crate::spoken_time::moment;
use crate::task::TaskName;

/// An event in a sentence. `cluster`: any later state of it, in which jobs and nodes keep their names.
#[must_use]
pub fn words(event: &Event, cluster: &Cluster) -> String {
    match event {
        Event::ClusterRequested { order, .. } => {
            format!("the cluster {} was asked for, from template {}", order.name, order.template.base.name)
        }
        Event::LayoutFound { nodes, .. } => format!("a layout with {} was found", count(nodes.len(), "node")),
        Event::LayoutRefused { message, .. } => format!("there is no layout: {message}"),
        Event::JobPlanned { job, action, tasks, .. } => {
            let id = cluster.job_id(*job);
            format!("job {id} ({}) was planned with {}", action.as_upper(), count(tasks.len(), "task"))
        }
        Event::JobExtended { job, tasks, .. } => {
            format!("job {} got {} more", cluster.job_id(*job), count(tasks.len(), "task"))
        }
        Event::JobPaused { job, reason, .. } => {
            let why = reason.iter().map(|reason| format!(": {reason}")).collect::<String>();
            format!("job {} was paused{why}", cluster.job_id(*job))
        }
        Event::JobResumed { job, .. } => format!("job {} was resumed", cluster.job_id(*job)),
        Event::JobFailed { job, message, .. } => {
            format!("job {} starts nothing more: {message}", cluster.job_id(*job))
        }
        Event::JobEnded { job, status, .. } => {
            format!("job {} ended; the cluster is {status}", cluster.job_id(*job))
        }
        Event::AttemptStarted { task, attempt, worker, .. } => {
            let again = if *attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
            format!("{} was begun by {worker}{again}", of_task(cluster, *task))
        }
        Event::TaskSucceeded { task, .. } => format!("{} is done", of_task(cluster, *task)),
        Event::UnitProbed { task, outcome } => {
            let found = if outcome.code == 0 { "found it well" } else { "found it ill" };
            format!("{} {found}", of_task(cluster, *task))
        }
        Event::TaskFailed { task, outcome, next, .. } => {
            format!("{} {}", of_task(cluster, *task), failed(outcome, *next))
        }
        _ => of_wishes(event, cluster),
    }
}

/// What somebody wants of a cluster that is there.
fn of_wishes(event: &Event, cluster: &Cluster) -> String {
    match event {
        Event::ServicesWanted { services, wanted, .. } => {
            let state = match wanted {
                Wanted::Running => "to run",
                Wanted::Stopped => "to rest",
                Wanted::Absent => "to be gone",
                Wanted::Present | Wanted::Installed | Wanted::Configured => "to be installed",
            };
            format!("{} wanted {state}", listed(services))
        }
        Event::ServicesAdded { placed, .. } => {
            let on = |(node, services): (&NodeId, &BTreeSet<String>)| {
                format!("{} on {}", listed(services), name(cluster, node))
            };
            format!("services were added: {}", placed.iter().map(on).collect::<Vec<_>>().join("; "))
        }
        Event::WantedChanged { change, .. } => {
            format!("something else is wanted: {}", changed(cluster, change))
        }
        Event::FollowUpSet { then, .. } => match then {
            FollowUp::Delete { .. } => "the cluster is to be deleted as soon as its job has ended".to_owned(),
            FollowUp::Undo { .. } => {
                "what was wanted before is wanted again as soon as the job has ended".to_owned()
            }
        },
        Event::ConfigReplaced { restart, .. } => {
            let then = if *restart { "restarted" } else { "left running" };
            format!("the configuration was replaced; services are {then}")
        }
        Event::TemplateReplaced { template, .. } => {
            let version =
                template.base.version.map(|version| format!(" version {version}")).unwrap_or_default();
            format!("the template was replaced by {}{version}", template.base.name)
        }
        Event::LeaseWarned { expires, .. } => {
            format!("it was warned that the lease ends at {}", moment(*expires))
        }
        Event::LeaseChanged { expires: 0, .. } => "the lease now has no end".to_owned(),
        Event::LeaseChanged { expires, .. } => format!("the lease now ends at {}", moment(*expires)),
        Event::CareChanged { change, .. } => cared_for(change, cluster),
        Event::ProviderFieldsGiven { fields, .. } => {
            let names: BTreeSet<String> = fields.keys().cloned().collect();
            format!("values for the provider were given: {}", listed(&names))
        }
        Event::ChildAdopted { child, name, needs, .. } => {
            let needs =
                if needs.is_empty() { String::new() } else { format!(" and needs {}", listed(needs)) };
            format!("cluster {name} ({child}) is built upon it{needs}")
        }
        Event::ChildReleased { child, .. } => format!("cluster {child} is not built upon it any more"),
        Event::Inherited { from, .. } => {
            format!("cluster {from}, which it is built upon, publishes something else")
        }
        // All others are told by `words`.
        _ => String::new(),
    }
}

/// Health and maintenance.
fn cared_for(change: &CareChange, cluster: &Cluster) -> String {
    let because = |reason: &str| if reason.is_empty() { String::new() } else { format!(": {reason}") };
    match change {
        CareChange::Health { node, service, health, reason } => {
            let what = service.as_deref().unwrap_or("the machine");
            let found = if *health == Health::Down { "down" } else { "healthy again" };
            format!("{what} on {} was found {found}{}", name(cluster, node), because(reason))
        }
        CareChange::Maintenance { node, reason } => {
            let what = node.as_ref().map_or_else(|| "the cluster".to_owned(), |node| name(cluster, node));
            match reason {
                Some(reason) => format!("{what} is left alone for maintenance{}", because(reason)),
                None => format!("the maintenance of {what} has ended"),
            }
        }
        CareChange::Healing { heal: Some(heal) } => format!("healing was set to {}", heal.as_str()),
        CareChange::Healing { heal: None } => "healing is as the template says again".to_owned(),
    }
}

/// What is wanted otherwise, in parts.
fn changed(cluster: &Cluster, change: &WantedChange) -> String {
    let nodes = |verb: &str, nodes: Vec<String>| {
        (!nodes.is_empty()).then(|| format!("{} {verb}: {}", count(nodes.len(), "node"), nodes.join(", ")))
    };
    let named = |ids: &mut dyn Iterator<Item = &NodeId>| ids.map(|id| name(cluster, id)).collect::<Vec<_>>();
    let services = |verb: &str, of: &BTreeMap<NodeId, BTreeSet<String>>| {
        let names: BTreeSet<String> = of.values().flatten().cloned().collect();
        (!names.is_empty()).then(|| format!("services {verb}: {}", listed(&names)))
    };
    let anew = change.renew.iter().filter(|(id, steps)| id.is_machine() && steps.contains(&TaskName::Delete));
    let newer: BTreeSet<String> = change.definitions.keys().cloned().collect();
    let parts = [
        change.template.as_ref().map(|template| format!("template {}", template.base.name)),
        change.config.as_ref().map(|_| "another configuration".to_owned()),
        nodes("get another configuration", named(&mut change.node_config.keys())),
        (!newer.is_empty()).then(|| format!("definitions of {}", listed(&newer))),
        nodes("come", change.nodes.values().filter_map(|node| node.hostname.clone()).collect()),
        nodes("go", named(&mut change.leaving.keys())),
        nodes("get another machine", named(&mut anew.map(|(id, _)| &id.node))),
        services("come", &change.placed),
        services("go", &change.removed),
        (!change.wanted.is_empty())
            .then(|| format!("{} in another state", count(change.wanted.len(), "unit"))),
        (!change.renew.is_empty()).then(|| format!("{} brought up again", count(change.renew.len(), "unit"))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "what is there stays".to_owned() } else { parts.join("; ") }
}

fn failed(outcome: &Outcome, next: FailedNext) -> String {
    let then = match next {
        FailedNext::Repeat { .. } => "it will be tried again",
        FailedNext::Recreate { .. } => "the machine will be made anew",
        FailedNext::GiveUp => "it is given up",
    };
    format!("failed with code {}; {then}", outcome.code)
}

/// A task by what it does.
fn of_task(cluster: &Cluster, number: u32) -> String {
    match find(cluster, number) {
        Some(task) => label(task.name, task.service.as_deref(), &name(cluster, &task.node)),
        None => format!("task {number}"),
    }
}

/// A task of any job.
#[must_use]
pub fn find(cluster: &Cluster, number: u32) -> Option<&Task> {
    cluster.jobs.values().rev().find_map(|job| job.tasks.get(&number))
}

fn name(cluster: &Cluster, node: &NodeId) -> String {
    cluster.nodes.get(node).map_or_else(|| node.to_string(), host)
}

fn listed(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The job an event is about: the one it names or whose task it is about, else the one that was planned with it.
#[must_use]
pub fn job_of(event: &Event, cluster: &Cluster) -> Option<u32> {
    match event {
        Event::ClusterRequested { .. } | Event::LayoutFound { .. } | Event::LayoutRefused { .. } => Some(1),
        Event::JobPlanned { job, .. }
        | Event::JobPaused { job, .. }
        | Event::JobExtended { job, .. }
        | Event::JobResumed { job, .. }
        | Event::JobFailed { job, .. }
        | Event::JobEnded { job, .. } => Some(*job),
        Event::AttemptStarted { task, .. }
        | Event::TaskSucceeded { task, .. }
        | Event::UnitProbed { task, .. }
        | Event::TaskFailed { task, .. } => find(cluster, *task).map(|task| task.id.job.number),
        Event::ServicesWanted { at, .. }
        | Event::ServicesAdded { at, .. }
        | Event::ConfigReplaced { at, .. }
        | Event::WantedChanged { at, .. }
        | Event::ProviderFieldsGiven { at, .. } => {
            cluster.jobs.values().find(|job| job.started == *at).map(|job| job.id.number)
        }
        Event::TemplateReplaced { .. }
        | Event::LeaseWarned { .. }
        | Event::LeaseChanged { .. }
        | Event::FollowUpSet { .. }
        | Event::ChildAdopted { .. }
        | Event::ChildReleased { .. }
        | Event::Inherited { .. }
        | Event::CareChanged { .. } => None,
    }
}
