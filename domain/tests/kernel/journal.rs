//! A journal as lines for people.

use std::collections::BTreeSet;

use cooperage_domain::cluster::{Cluster, Event, FailedNext, PlannedStep};
use cooperage_domain::id::NodeId;

use crate::world::{MORNING, World};

/// The journal of a cluster from an entry on, one event per line with the seconds since morning.
pub fn lines(world: &World, from: usize) -> String {
    let batch = |events: &Vec<Event>| -> String {
        events.iter().map(|event| line(&world.cluster, event) + "\n").collect()
    };
    world.journal[from..].iter().map(batch).collect()
}

fn line(cluster: &Cluster, event: &Event) -> String {
    let task = |number: &u32| {
        let found = cluster.jobs.values().find_map(|job| job.tasks.get(number)).unwrap();
        format!("task {number} {}", step(cluster, &found.node, found.name.as_str(), found.service.as_deref()))
    };
    match event {
        Event::ClusterRequested { at, order } => {
            let (name, template, by) = (&order.name, &order.template.base.name, &order.account.user_id);
            format!(
                "{} cluster {name} requested by {by} from {template}: {}",
                time(*at),
                words(&order.services)
            )
        }
        Event::LayoutFound { at, nodes } => {
            let mut nodes: Vec<_> = nodes.values().collect();
            nodes.sort_by_key(|node| node.nodenum);
            let node = |node: &&cooperage_domain::task::NodeProperties| {
                format!("\n          {} {}: {}", node.nodenum, node.hardwaretype, words(&node.services))
            };
            format!("{} layout found{}", time(*at), nodes.iter().map(node).collect::<String>())
        }
        Event::LayoutRefused { at, message } => format!("{} layout refused: {message}", time(*at)),
        Event::JobPlanned { at, job, action, by, tasks, .. } => {
            let tasks: String = tasks.iter().map(|it| planned(cluster, it)).collect();
            format!("{} job {job} {action} planned for {by}{tasks}", time(*at))
        }
        Event::AttemptStarted { at, task: number, attempt, worker, .. } => {
            format!("{} {}: attempt {attempt} by {worker}", time(*at), task(number))
        }
        Event::TaskSucceeded { at, task: number, report } => {
            let result =
                if report.result.is_empty() { String::new() } else { format!(" {:?}", report.result) };
            format!("{} {}: done{result}", time(*at), task(number))
        }
        Event::TaskFailed { task: number, outcome, next, .. } => {
            let next = after_failure(*next);
            format!(
                "{} {}: failed with {} ({}), {next}",
                time(outcome.at),
                task(number),
                outcome.code,
                outcome.stderr
            )
        }
        Event::JobFailed { at, job, message, .. } => format!("{} job {job} failed: {message}", time(*at)),
        Event::JobEnded { at, job, status, .. } => {
            format!("{} job {job} ended: the cluster is {status}", time(*at))
        }
        _ => of_living(cluster, event),
    }
}

/// What happens to clusters that have been created.
fn of_living(cluster: &Cluster, event: &Event) -> String {
    match event {
        Event::ServicesWanted { at, services, wanted, by, .. } => {
            format!("{} {} wanted {wanted:?} by {by}", time(*at), words(services))
        }
        Event::ServicesAdded { at, placed, by, .. } => {
            let on = |(node, services): (&NodeId, &BTreeSet<String>)| {
                format!("\n          {}: {}", cluster.nodes[node].properties.nodenum, words(services))
            };
            format!("{} services added by {by}{}", time(*at), placed.iter().map(on).collect::<String>())
        }
        Event::ConfigReplaced { at, restart, by, .. } => {
            let restart = if *restart { ", with a restart" } else { "" };
            format!("{} configuration replaced by {by}{restart}", time(*at))
        }
        Event::TemplateReplaced { at, template, by } => {
            format!("{} template {} taken over by {by}", time(*at), template.base.name)
        }
        Event::LeaseChanged { at, expires, by } => {
            format!("{} lease ends at {}, says {by}", time(*at), time(*expires).trim())
        }
        Event::JobPaused { at, job, by, .. } => format!("{} job {job} paused by {by}", time(*at)),
        Event::JobResumed { at, job, by } => format!("{} job {job} resumed by {by}", time(*at)),
        other => format!("{other:?}"),
    }
}

fn after_failure(next: FailedNext) -> String {
    match next {
        FailedNext::GiveUp => "given up".to_owned(),
        FailedNext::Repeat { not_before } => format!("again from {}", time(not_before).trim()),
        FailedNext::Recreate { not_before, delete, create } => {
            format!("machine made anew from {} by tasks {delete} and {create}", time(not_before).trim())
        }
    }
}

fn planned(cluster: &Cluster, it: &PlannedStep) -> String {
    let after: Vec<String> = it.after.iter().map(u32::to_string).collect();
    let after = if after.is_empty() { String::new() } else { format!(" after {}", after.join(" ")) };
    let what = step(cluster, &it.node, it.name.as_str(), it.service.as_deref());
    format!("\n          {} {what}{after}", it.number)
}

fn step(cluster: &Cluster, node: &NodeId, name: &str, service: Option<&str>) -> String {
    let number = cluster.nodes[node].properties.nodenum;
    service.map_or_else(|| format!("{number}:{name}"), |service| format!("{number}:{name}:{service}"))
}

fn words(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn time(at: i64) -> String {
    let ms = at - MORNING;
    format!("{:>5}.{:03}", ms / 1000, ms % 1000)
}
