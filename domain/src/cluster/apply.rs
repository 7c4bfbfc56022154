//! The only way a cluster changes: events, one after the other.

use std::collections::{BTreeMap, BTreeSet};

use super::ancestry::{Child, Kin};
use super::apply_task::{
    self, Begun, attempt_started, note_failure, task_failed, task_succeeded, unit_probed,
};
use super::care::{Care, CareChange};
use super::create::CreateOrder;
use super::event::{Event, PlannedStep};
use super::job::{Job, JobStatus};
use super::order::Told;
use super::revision::Revision;
use super::state::{Cluster, ClusterStatus, Node};
use super::{wanted, wanted_change};
use crate::entity::Service;
use crate::id::{JobId, NodeId};
use crate::plan::ClusterAction;
use crate::provider_fields;
use crate::task::NodeProperties;

/// The cluster that results from all its events; `None` when there are none or the first one is not a request.
#[must_use]
pub fn replay<'a>(events: impl IntoIterator<Item = &'a Event>) -> Option<Cluster> {
    let mut cluster = None;
    for event in events {
        apply(&mut cluster, event);
    }
    cluster
}

/// Applies one event. Events are facts, so none is refused; what one says about a task, node or job that is not there is
/// passed over. Only the first event of a cluster can be its request.
pub fn apply(cluster: &mut Option<Cluster>, event: &Event) {
    if let (None, Event::ClusterRequested { at, order }) = (&cluster, event) {
        *cluster = Some(requested(order, *at));
    }
    if let Some(cluster) = cluster {
        change(cluster, event);
    }
}

/// Whether what orders say of all nodes stays as it is: true for what happens all the time.
fn leaves_nodes_alone(cluster: &Cluster, event: &Event) -> bool {
    match event {
        Event::AttemptStarted { .. } | Event::UnitProbed { .. } => true,
        Event::TaskSucceeded { task, report, .. } => apply_task::leaves_nodes_alone(cluster, *task, report),
        _ => false,
    }
}

/// Applies an event to a cluster that is there.
pub(super) fn change(cluster: &mut Cluster, event: &Event) {
    cluster.sequence += 1;
    if !leaves_nodes_alone(cluster, event) {
        cluster.told.forget();
    }
    match event {
        Event::ClusterRequested { .. } => {}
        Event::LayoutFound { at, nodes } => laid_out(cluster, nodes, *at),
        Event::LayoutRefused { at, message } => {
            end_job(cluster, 1, *at, JobStatus::Failed, Some(message));
            cluster.status = ClusterStatus::Terminated;
        }
        Event::JobPlanned { at, job, action, by, tasks, rollout } => {
            planned(cluster, *job, *action, by, tasks, *at);
            if let Some(job) = cluster.jobs.get_mut(job) {
                job.rollout.clone_from(rollout);
            }
        }
        Event::JobExtended { at, job, tasks } => extended(cluster, *job, tasks, *at),
        Event::JobPaused { job, reason, .. } => {
            set_job(cluster, *job, JobStatus::Paused, reason.as_deref().unwrap_or("Paused by user."));
        }
        Event::JobResumed { at, job, .. } => resumed(cluster, *job, *at),
        Event::JobFailed { job, message, stop, .. } => {
            set_job(cluster, *job, JobStatus::Failed, message);
            if let Some(job) = cluster.jobs.get_mut(job) {
                job.stop = *stop;
            }
        }
        Event::JobEnded { at, job, status, message } => ended(cluster, *job, *status, message.as_ref(), *at),
        Event::AttemptStarted { at, task, attempt, worker, inputs } => {
            let begun = Begun { task: *task, attempt: *attempt, worker, inputs: inputs.as_ref() };
            attempt_started(cluster, &begun, *at);
        }
        Event::TaskSucceeded { at, task, report } => task_succeeded(cluster, *task, report, *at),
        Event::TaskFailed { task, outcome, result, next } => {
            note_failure(cluster, *task, outcome, result);
            task_failed(cluster, *task, outcome, *next);
        }
        Event::UnitProbed { task, outcome } => unit_probed(cluster, *task, outcome),
        Event::WantedChanged { .. }
        | Event::ServicesWanted { .. }
        | Event::ServicesAdded { .. }
        | Event::ConfigReplaced { .. }
        | Event::FollowUpSet { .. }
        | Event::TemplateReplaced { .. }
        | Event::LeaseChanged { .. }
        | Event::LeaseWarned { .. }
        | Event::ProviderFieldsGiven { .. }
        | Event::CareChanged { .. }
        | Event::ChildAdopted { .. }
        | Event::ChildReleased { .. }
        | Event::Inherited { .. } => wished(cluster, event),
    }
}

/// Applies what somebody wants of a cluster that is there.
fn wished(cluster: &mut Cluster, event: &Event) {
    match event {
        Event::WantedChanged { change, .. } => {
            if !change.only_repeats() {
                remember(cluster);
            }
            wanted_change::adopt(cluster, change);
        }
        Event::ServicesWanted { services, wanted, renew, .. } => {
            remember(cluster);
            wanted::services(&mut cluster.units, services, *wanted, renew);
        }
        Event::ServicesAdded { placed, definitions, .. } => {
            remember(cluster);
            services_added(cluster, placed, definitions);
        }
        Event::ConfigReplaced { config, restart, .. } => {
            remember(cluster);
            cluster.config.clone_from(config);
            wanted::configuration(&mut cluster.units, *restart);
        }
        Event::FollowUpSet { then, .. } => cluster.then = Some(then.clone()),
        Event::TemplateReplaced { template, .. } => cluster.template.clone_from(template),
        Event::LeaseChanged { expires, .. } => cluster.expires = *expires,
        Event::LeaseWarned { expires, .. } => cluster.warned_of = *expires,
        Event::ProviderFieldsGiven { fields, .. } => provider_fields::overlay(&mut cluster.provider, fields),
        Event::CareChanged { at, change, by } => {
            cluster.care.take(change, by, *at);
            if matches!(change, CareChange::Maintenance { node: None, reason: None }) {
                looked_at(cluster);
            }
        }
        Event::ChildAdopted { at, child, name, needs } => {
            let since = cluster.kin.children.get(child).map_or(*at, |known| known.since);
            let known = Child { name: name.clone(), since, needs: needs.clone() };
            cluster.kin.children.insert(*child, known);
        }
        Event::ChildReleased { child, .. } => drop(cluster.kin.children.remove(child)),
        Event::Inherited { from, lineage, .. } => cluster.take_over(*from, lineage),
        // All others are applied by `change`.
        _ => {}
    }
}

fn laid_out(cluster: &mut Cluster, nodes: &BTreeMap<NodeId, NodeProperties>, at: i64) {
    end_job(cluster, 1, at, JobStatus::Complete, None);
    let node = |(id, properties): (&NodeId, &NodeProperties)| {
        (id.clone(), Node::new(id.clone(), properties.clone()))
    };
    cluster.nodes = nodes.iter().map(node).collect();
    cluster.units = wanted::everything(nodes);
    cluster.last_node = nodes.values().map(|properties| properties.nodenum).max().unwrap_or(0);
}

fn ended(cluster: &mut Cluster, job: u32, status: ClusterStatus, message: Option<&String>, at: i64) {
    let ended = match cluster.jobs.get(&job).map(|job| job.status) {
        Some(JobStatus::Failed) => JobStatus::Failed,
        _ => JobStatus::Complete,
    };
    end_job(cluster, job, at, ended, message);
    cluster.status = status;
    if status == ClusterStatus::Active {
        wanted::nothing_more(&mut cluster.units);
        wanted_change::forget_gone(cluster);
    }
    if status == ClusterStatus::Terminated {
        (cluster.previous, cluster.then) = (None, None);
    }
    looked_at(cluster);
    cluster.come_to_rest();
}

/// What ancestors publish is looked at whenever a cluster comes to rest, or out of maintenance.
fn looked_at(cluster: &mut Cluster) {
    if cluster.status == ClusterStatus::Active && cluster.care.maintenance.is_none() {
        cluster.kin.news = false;
    }
}

/// What is wanted is kept for a way back, once for each change of a cluster at rest.
fn remember(cluster: &mut Cluster) {
    if cluster.status != ClusterStatus::Pending {
        cluster.previous = Some(Box::new(Revision::of(cluster)));
        // Further events of the same change are not what was wanted before it.
        cluster.status = ClusterStatus::Pending;
    }
}

fn set_job(cluster: &mut Cluster, job: u32, status: JobStatus, message: &str) {
    if let Some(job) = cluster.jobs.get_mut(&job) {
        job.status = status;
        job.message = Some(message.to_owned());
    }
}

/// What was ready before waits for a worker from now on.
fn resumed(cluster: &mut Cluster, job: u32, at: i64) {
    set_job(cluster, job, JobStatus::Running, "Resumed by user.");
    let Some(Job { ready, tasks, .. }) = cluster.jobs.get_mut(&job) else { return };
    for number in ready.iter() {
        if let Some(task) = tasks.get_mut(number) {
            task.ready_since = Some(at);
        }
    }
}

fn services_added(
    cluster: &mut Cluster,
    placed: &BTreeMap<NodeId, BTreeSet<String>>,
    definitions: &BTreeMap<String, Service>,
) {
    for (id, services) in placed {
        let Some(node) = cluster.nodes.get_mut(id) else { continue };
        node.properties.services.extend(services.iter().cloned());
        let automators =
            services.iter().filter_map(|name| definitions.get(name)).flat_map(Service::automators);
        node.properties.automators.extend(automators.map(str::to_owned));
        wanted::more_services(&mut cluster.units, id, services);
        cluster.services.extend(services.iter().cloned());
    }
    cluster.definitions.extend(definitions.iter().map(|(name, service)| (name.clone(), service.clone())));
}

fn requested(order: &CreateOrder, at: i64) -> Cluster {
    let id = JobId { cluster: order.id, number: 1 };
    let by = order.account.user_id.clone();
    let solving = new_job(id, ClusterAction::SolveLayout, by, JobStatus::NotSubmitted, at);
    Cluster {
        id: order.id,
        name: order.name.clone(),
        description: order.description.clone(),
        account: order.account.clone(),
        created: at,
        expires: order.expires,
        warned_of: 0,
        provider: order.provider.clone(),
        template: order.template.clone(),
        services: order.services.clone(),
        definitions: order.definitions.clone(),
        config: order.config.clone(),
        seed: order.seed,
        limits: order.limits.clone(),
        status: ClusterStatus::Pending,
        nodes: BTreeMap::new(),
        units: BTreeMap::new(),
        jobs: BTreeMap::from([(1, solving)]),
        last_task: 0,
        care: Care::default(),
        sequence: 0,
        last_node: 0,
        told: Told::default(),
        previous: None,
        then: None,
        kin: Kin { origins: order.origins.clone(), ..Kin::default() },
    }
}

const fn new_job(id: JobId, action: ClusterAction, by: String, status: JobStatus, at: i64) -> Job {
    Job {
        id,
        action,
        by,
        status,
        message: None,
        started: at,
        ended: None,
        tasks: BTreeMap::new(),
        by_node: BTreeMap::new(),
        ready: BTreeSet::new(),
        running: BTreeSet::new(),
        done: 0,
        rollout: None,
        extensions: 0,
        stop: false,
    }
}

fn end_job(cluster: &mut Cluster, job: u32, at: i64, status: JobStatus, message: Option<&String>) {
    let Some(job) = cluster.jobs.get_mut(&job) else { return };
    job.status = status;
    job.ended = Some(at);
    if let Some(message) = message {
        job.message = Some(message.clone());
    }
}

fn planned(
    cluster: &mut Cluster,
    number: u32,
    action: ClusterAction,
    by: &str,
    steps: &[PlannedStep],
    at: i64,
) {
    let id = cluster.job_id(number);
    let mut job = new_job(id, action, by.to_owned(), JobStatus::Running, at);
    cluster.last_task = job.insert_all(steps, at).max(cluster.last_task);
    cluster.then = None;
    if action == ClusterAction::ClusterDelete {
        wanted::nothing(&mut cluster.units);
    }
    cluster.status = ClusterStatus::Pending;
    cluster.jobs.insert(number, job);
}

/// The further tasks of a job wait for nothing but each other.
fn extended(cluster: &mut Cluster, number: u32, steps: &[PlannedStep], at: i64) {
    let Some(job) = cluster.jobs.get_mut(&number) else { return };
    job.extensions += 1;
    cluster.last_task = job.insert_all(steps, at).max(cluster.last_task);
}
