//! What happened to a cluster, in words for people.

use std::collections::BTreeSet;

use super::difference::host;
use super::event::{Event, FailedNext};
use super::follow_up::FollowUp;
use super::job::{Outcome, Task};
use super::preview::label;
use super::state::Cluster;
use super::wanted_change::WantedChange;
use crate::id::NodeId;
use crate::plan::Wanted;

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
            format!(
                "job {} got {} more: something is not as wanted yet",
                cluster.job_id(*job),
                count(tasks.len(), "task")
            )
        }
        Event::FollowUpSet { then, .. } => match then {
            FollowUp::Delete { .. } => "the cluster is deleted as soon as its job has ended".to_owned(),
            FollowUp::Undo { .. } => "the job is undone as soon as it has ended".to_owned(),
        },
        Event::UnitProbed { task, outcome } => {
            let found = if outcome.code == 0 { "well" } else { "ill" };
            format!("{} found it {found}", of_task(cluster, *task))
        }
        Event::JobPaused { job, .. } => format!("job {} was paused", cluster.job_id(*job)),
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
        Event::WantedChanged { change, .. } => changed(change, cluster),
        Event::ConfigReplaced { restart, .. } => {
            let then = if *restart { "restarted" } else { "left running" };
            format!("the configuration was replaced; services are {then}")
        }
        Event::TemplateReplaced { template, .. } => {
            let version =
                template.base.version.map(|version| format!(" version {version}")).unwrap_or_default();
            format!("the template was replaced by {}{version}", template.base.name)
        }
        Event::LeaseChanged { expires, .. } => format!("the lease now ends at {expires} ms since 1970"),
        Event::ProviderFieldsGiven { fields, .. } => {
            let names: BTreeSet<String> = fields.keys().cloned().collect();
            format!("values for the provider were given: {}", listed(&names))
        }
        // All others are told by `words`.
        _ => String::new(),
    }
}

/// What is wanted now that was not, part by part.
fn changed(change: &WantedChange, cluster: &Cluster) -> String {
    let mut parts = Vec::new();
    if change.template.is_some() {
        parts.push("another template".to_owned());
    }
    if change.config.is_some() {
        parts.push("another configuration".to_owned());
    }
    if !change.definitions.is_empty() {
        let names: BTreeSet<String> = change.definitions.keys().cloned().collect();
        parts.push(format!("other versions of {}", listed(&names)));
    }
    if !change.nodes.is_empty() {
        parts.push(format!("{} more", count(change.nodes.len(), "node")));
    }
    for (node, reason) in &change.leaving {
        parts.push(format!("no more {} ({reason})", name(cluster, node)));
    }
    for (what, services) in [("more services", &change.placed), ("fewer services", &change.removed)] {
        let names: BTreeSet<String> = services.values().flatten().cloned().collect();
        if !names.is_empty() {
            parts.push(format!("{what}: {}", listed(&names)));
        }
    }
    let machines = change.renew.keys().filter(|unit| unit.is_machine()).count();
    if machines > 0 {
        parts.push(format!("{} made anew", count(machines, "machine")));
    }
    let services = change.renew.len() - machines;
    if services > 0 {
        parts.push(format!("{} brought up again", count(services, "service")));
    }
    format!("wanted from now on: {}", if parts.is_empty() { "the same".to_owned() } else { parts.join("; ") })
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
        | Event::JobExtended { job, .. }
        | Event::JobPaused { job, .. }
        | Event::JobResumed { job, .. }
        | Event::JobFailed { job, .. }
        | Event::JobEnded { job, .. } => Some(*job),
        Event::AttemptStarted { task, .. }
        | Event::TaskSucceeded { task, .. }
        | Event::UnitProbed { task, .. }
        | Event::TaskFailed { task, .. } => find(cluster, *task).map(|task| task.id.job.number),
        Event::ServicesWanted { at, .. }
        | Event::ServicesAdded { at, .. }
        | Event::WantedChanged { at, .. }
        | Event::FollowUpSet { at, .. }
        | Event::ConfigReplaced { at, .. }
        | Event::ProviderFieldsGiven { at, .. } => {
            cluster.jobs.values().find(|job| job.started == *at).map(|job| job.id.number)
        }
        Event::TemplateReplaced { .. } | Event::LeaseChanged { .. } => None,
    }
}
