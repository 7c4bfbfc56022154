//! The only way a cluster changes: events, one after the other.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::care::Care;
use super::create::CreateOrder;
use super::event::{Event, FailedNext, PlannedStep};
use super::job::{Attempt, AttemptId, Job, JobStatus, Outcome, Task, TaskState};
use super::revision::Revision;
use super::state::{Cluster, ClusterStatus, Node};
use super::{wanted, wanted_change};
use crate::entity::Service;
use crate::id::{JobId, NodeId, TaskId};
use crate::mutant;
use crate::plan::{self, ClusterAction, Observed, UnitId};
use crate::provider_fields;
use crate::task::{NodeProperties, TaskName, TaskReport};

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

/// Applies an event to a cluster that is there.
pub(super) fn change(cluster: &mut Cluster, event: &Event) {
    cluster.sequence += 1;
    match event {
        Event::ClusterRequested { .. } => {}
        Event::LayoutFound { at, nodes } => {
            end_job(cluster, 1, *at, JobStatus::Complete, None);
            let node = |(id, properties): (&NodeId, &NodeProperties)| {
                (id.clone(), Node::new(id.clone(), properties.clone()))
            };
            cluster.nodes = nodes.iter().map(node).collect();
            cluster.units = wanted::everything(nodes);
            cluster.last_node = nodes.values().map(|properties| properties.nodenum).max().unwrap_or(0);
        }
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
        Event::WantedChanged { change, .. } => {
            remember(cluster);
            wanted_change::adopt(cluster, change);
        }
        Event::FollowUpSet { then, .. } => cluster.then = Some(then.clone()),
        Event::UnitProbed { task, outcome } => unit_probed(cluster, *task, outcome),
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
        Event::TemplateReplaced { template, .. } => cluster.template.clone_from(template),
        Event::LeaseChanged { expires, .. } => cluster.expires = *expires,
        Event::LeaseWarned { expires, .. } => cluster.warned_of = *expires,
        Event::ProviderFieldsGiven { fields, .. } => provider_fields::overlay(&mut cluster.provider, fields),
        Event::JobPaused { job, reason, .. } => {
            set_job(cluster, *job, JobStatus::Paused, reason.as_deref().unwrap_or("Paused by user."));
        }
        Event::CareChanged { at, change, by } => cluster.care.take(change, by, *at),
        Event::JobResumed { at, job, .. } => resumed(cluster, *job, *at),
        Event::AttemptStarted { at, task, attempt, worker, inputs } => {
            let begun = Begun { task: *task, attempt: *attempt, worker, inputs: inputs.as_ref() };
            attempt_started(cluster, &begun, *at);
        }
        Event::TaskSucceeded { at, task, report } => task_succeeded(cluster, *task, report, *at),
        Event::TaskFailed { task, outcome, result, next } => {
            note_failure(cluster, *task, outcome, result);
            task_failed(cluster, *task, outcome, *next);
        }
        Event::JobFailed { job, message, stop, .. } => {
            set_job(cluster, *job, JobStatus::Failed, message);
            if let Some(job) = cluster.jobs.get_mut(job) {
                job.stop = *stop;
            }
        }
        Event::JobEnded { at, job, status, message } => {
            let ended = match cluster.jobs.get(job).map(|j| j.status) {
                Some(JobStatus::Failed) => JobStatus::Failed,
                _ => JobStatus::Complete,
            };
            end_job(cluster, *job, *at, ended, message.as_ref());
            cluster.status = *status;
            if *status == ClusterStatus::Active {
                wanted::nothing_more(&mut cluster.units);
                wanted_change::forget_gone(cluster);
            }
            if *status == ClusterStatus::Terminated {
                (cluster.previous, cluster.then) = (None, None);
            }
        }
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
        previous: None,
        then: None,
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

fn new_task(job: JobId, step: &PlannedStep) -> Task {
    let after: BTreeSet<u32> = step.after.iter().copied().collect();
    Task {
        id: TaskId { job, number: step.number },
        name: step.name,
        node: step.node.clone(),
        service: step.service.clone(),
        before: BTreeSet::new(),
        waiting_for: u32::try_from(after.len()).unwrap_or(u32::MAX),
        after,
        state: TaskState::Waiting,
        not_before: 0,
        ready_since: None,
        attempts: Vec::new(),
        delay: step.delay,
        errand: step.errand.clone(),
    }
}

impl Job {
    /// Takes tasks that wait for each other; the highest number among them.
    fn insert_all(&mut self, steps: &[PlannedStep], at: i64) -> u32 {
        for step in steps {
            let mut task = new_task(self.id, step);
            if task.waiting_for == 0 && task.delay > 0 {
                task.not_before = at.saturating_add(task.delay);
            }
            self.insert(task, at);
        }
        for step in steps {
            for before in &step.after {
                if let Some(task) = self.tasks.get_mut(before) {
                    task.before.insert(step.number);
                }
            }
        }
        steps.iter().map(|step| step.number).max().unwrap_or(0)
    }

    fn insert(&mut self, mut task: Task, at: i64) {
        if task.waiting_for == 0 {
            task.ready_since = Some(at);
            self.ready.insert(task.id.number);
        }
        self.by_node.entry(task.node.clone()).or_default().insert(task.id.number);
        self.tasks.insert(task.id.number, task);
    }
}

/// The newest job, the only one that can have open tasks, if `task` is among its tasks.
fn open_job(jobs: &mut BTreeMap<u32, Job>, task: u32) -> Option<&mut Job> {
    jobs.values_mut().next_back().filter(|job| job.tasks.contains_key(&task))
}

/// An attempt that begins.
struct Begun<'a> {
    task: u32,
    attempt: u32,
    worker: &'a str,
    inputs: Option<&'a String>,
}

fn attempt_started(cluster: &mut Cluster, begun: &Begun<'_>, at: i64) {
    let sequence = if mutant::is("counts-in-the-process") { mutant::counted() } else { cluster.sequence };
    let Begun { task, attempt: number, worker, inputs } = *begun;
    let Some(job) = open_job(&mut cluster.jobs, task) else { return };
    job.ready.remove(&task);
    job.running.insert(task);
    let Some(started) = job.tasks.get_mut(&task) else { return };
    started.state = TaskState::Running;
    started.ready_since = None;
    let unit = UnitId { node: started.node.clone(), service: started.service.clone() };
    if let Some(unit) = cluster.units.get_mut(&unit)
        && (inputs.is_some() || started.name == TaskName::Install)
    {
        // From now on until it is brought up nobody knows with what.
        unit.inputs = None;
    }
    let (worker, inputs) = (worker.to_owned(), inputs.cloned());
    let attempt = Attempt { number, sequence, worker, started: at, outcome: None, inputs };
    started.attempts.push(attempt);
    if started.name == TaskName::Create
        && let Some(node) = cluster.nodes.get_mut(&started.node)
    {
        node.asked.get_or_insert(AttemptId { task, attempt: number });
    }
}

fn close_attempt(job: &mut Job, task: u32, outcome: Outcome) -> Option<&mut Task> {
    job.running.remove(&task);
    let task = job.tasks.get_mut(&task)?;
    if let Some(attempt) = task.attempts.last_mut().filter(|attempt| attempt.outcome.is_none()) {
        attempt.outcome = Some(outcome);
    }
    Some(task)
}

fn task_succeeded(cluster: &mut Cluster, task: u32, report: &TaskReport, at: i64) {
    let Some(job) = open_job(&mut cluster.jobs, task) else { return };
    let outcome = Outcome { at, code: 0, kind: None, stdout: String::new(), stderr: String::new() };
    let Some(done) = close_attempt(job, task, outcome) else { return };
    done.state = TaskState::Done;
    let (node, name, service) = (done.node.clone(), done.name, done.service.clone());
    let inputs = done.attempts.last().and_then(|attempt| attempt.inputs.clone());
    release_all(job, task, at);
    let unit = UnitId { node: node.clone(), service: service.clone() };
    advance_node(cluster, &node, name, service, report);
    if let (Some(unit), Some(inputs)) = (cluster.units.get_mut(&unit), inputs) {
        unit.inputs = Some(inputs);
    }
}

/// A task is done, and those that waited for it alone may start.
fn release_all(job: &mut Job, done: u32, at: i64) {
    let waiting: Vec<u32> = job.tasks.get(&done).into_iter().flat_map(|task| &task.before).copied().collect();
    job.done += 1;
    for next in waiting {
        release(job, next, at);
    }
}

/// What a probe found is known of its unit.
fn unit_probed(cluster: &mut Cluster, task: u32, outcome: &Outcome) {
    let Some(job) = open_job(&mut cluster.jobs, task) else { return };
    let Some(probe) = close_attempt(job, task, outcome.clone()) else { return };
    probe.state = TaskState::Done;
    let unit = UnitId { node: probe.node.clone(), service: probe.service.clone() };
    release_all(job, task, outcome.at);
    let Some(unit) = cluster.units.get_mut(&unit) else { return };
    if outcome.code == 0 {
        unit.drift = None;
    } else {
        unit.drift = Some(outcome.last_words().unwrap_or("its probe failed").to_owned());
    }
}

/// One of the tasks `task` waits for is done.
fn release(job: &mut Job, task: u32, at: i64) {
    let Some(waiting) = job.tasks.get_mut(&task) else { return };
    waiting.waiting_for = waiting.waiting_for.saturating_sub(1);
    let free = waiting.waiting_for == 0 || mutant::is("starts-before-predecessors");
    if free && waiting.state == TaskState::Waiting {
        waiting.ready_since = Some(at);
        if waiting.delay > 0 {
            waiting.not_before = waiting.not_before.max(at.saturating_add(waiting.delay));
        }
        job.ready.insert(task);
    }
}

fn advance_node(
    cluster: &mut Cluster,
    id: &NodeId,
    name: TaskName,
    service: Option<String>,
    report: &TaskReport,
) {
    let Some(node) = cluster.nodes.get_mut(id) else { return };
    node.results.extend(report.result.iter().map(|(key, value)| (key.clone(), value.clone())));
    if let Some(addresses) = &report.ipaddresses {
        node.properties.ipaddresses.clone_from(addresses);
    }
    if let Some(hostname) = report.hostname.as_ref().filter(|name| !name.is_empty()) {
        node.properties.hostname = Some(hostname.clone());
    }
    if name == TaskName::Delete {
        node.forget_machine();
    }
    if matches!(name, TaskName::Create | TaskName::Delete) {
        cluster.care.forget_machine(id);
    }
    let unit = UnitId { node: id.clone(), service };
    plan::unit::record(&mut cluster.units, &unit, name);
}

/// What a failed attempt, still open, tells about its node.
fn note_failure(cluster: &mut Cluster, task: u32, outcome: &Outcome, result: &Map<String, Value>) {
    let Some(failed) = open_job(&mut cluster.jobs, task).and_then(|job| job.tasks.get(&task)) else { return };
    let (id, name, attempt) = (failed.node.clone(), failed.name, failed.open_id());
    let Some(node) = cluster.nodes.get_mut(&id) else { return };
    node.results.extend(result.iter().map(|(key, value)| (key.clone(), value.clone())));
    let nothing = outcome.says_nothing_was_made() || mutant::is("forgets-machines-of-failed-creates");
    if name == TaskName::Create && nothing && node.asked == attempt {
        node.asked = None;
    }
    // Nobody knows what is left of the machine: whoever wants it after all gets another one. One that was not confirmed
    // yet is looked at by its CONFIRM, and one whose DELETE nobody took is as it was.
    if name == TaskName::Delete
        && attempt.is_some()
        && let Some(machine) = cluster.units.get_mut(&UnitId::machine(id))
        && machine.observed > Observed::Created
    {
        machine.renew.insert(TaskName::Delete);
    }
}

fn task_failed(cluster: &mut Cluster, task: u32, outcome: &Outcome, next: FailedNext) {
    let Some(job) = open_job(&mut cluster.jobs, task) else { return };
    let Some(failed) = close_attempt(job, task, outcome.clone()) else { return };
    failed.state = match next {
        FailedNext::GiveUp => TaskState::Failed,
        FailedNext::Repeat { .. } | FailedNext::Recreate { .. } => TaskState::Waiting,
    };
    match next {
        // One that nobody took fails while it is ready.
        FailedNext::GiveUp => {
            failed.ready_since = None;
            job.ready.remove(&task);
        }
        FailedNext::Repeat { not_before } => {
            failed.not_before = not_before;
            failed.ready_since = Some(outcome.at);
            job.ready.insert(task);
        }
        FailedNext::Recreate { not_before, delete, create } => {
            make_anew(job, task, (not_before, outcome.at), delete, create);
            cluster.last_task = cluster.last_task.max(create);
        }
    }
}

/// Puts a DELETE and a CREATE of the machine before `confirm`.
fn make_anew(job: &mut Job, confirm: u32, (not_before, at): (i64, i64), delete: u32, create: u32) {
    let id = job.id;
    let Some(confirm) = job.tasks.get_mut(&confirm) else { return };
    confirm.after.insert(create);
    confirm.waiting_for = 1;
    let node = confirm.node.clone();
    let step = |number, name, after| {
        let node = node.clone();
        new_task(id, &PlannedStep { number, name, node, service: None, after, delay: 0, errand: None })
    };
    let mut deletion = step(delete, TaskName::Delete, Vec::new());
    deletion.not_before = not_before;
    deletion.before.insert(create);
    let before = if mutant::is("recreates-without-delete") { Vec::new() } else { vec![delete] };
    let mut creation = step(create, TaskName::Create, before);
    creation.before.insert(confirm.id.number);
    job.insert(deletion, at);
    job.insert(creation, at);
}
