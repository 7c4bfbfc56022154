//! Applies what happens to tasks: how they come, are begun, and end, and what is known of nodes and units then.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::event::{FailedNext, PlannedStep};
use super::job::{Attempt, AttemptId, Job, Outcome, Task, TaskState};
use super::state::Cluster;
use crate::id::{JobId, NodeId, TaskId};
use crate::mutant;
use crate::plan::{self, Observed, UnitId};
use crate::task::{TaskName, TaskReport};

pub(super) fn new_task(job: JobId, step: &PlannedStep) -> Task {
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
    pub(super) fn insert_all(&mut self, steps: &[PlannedStep], at: i64) -> u32 {
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
pub(super) struct Begun<'a> {
    pub task: u32,
    pub attempt: u32,
    pub worker: &'a str,
    pub inputs: Option<&'a String>,
}

pub(super) fn attempt_started(cluster: &mut Cluster, begun: &Begun<'_>, at: i64) {
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
        && (started.name == TaskName::Install || (inputs.is_some() && started.name != TaskName::Start))
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

/// Whether a success says nothing new of its node's addresses and name, and gives no machine back.
pub(super) fn leaves_nodes_alone(cluster: &Cluster, task: u32, report: &TaskReport) -> bool {
    let job = cluster.latest_job();
    let Some(task) = job.and_then(|job| job.tasks.get(&task)).filter(|it| it.name != TaskName::Delete) else {
        return false;
    };
    let Some(known) = cluster.nodes.get(&task.node).map(|node| &node.properties) else { return false };
    let names = report.hostname.as_ref().filter(|name| !name.is_empty());
    report.ipaddresses.as_ref().is_none_or(|addresses| *addresses == known.ipaddresses)
        && names.is_none_or(|name| Some(name) == known.hostname.as_ref())
}

pub(super) fn task_succeeded(cluster: &mut Cluster, task: u32, report: &TaskReport, at: i64) {
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
pub(super) fn unit_probed(cluster: &mut Cluster, task: u32, outcome: &Outcome) {
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
pub(super) fn note_failure(cluster: &mut Cluster, task: u32, outcome: &Outcome, result: &Map<String, Value>) {
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

pub(super) fn task_failed(cluster: &mut Cluster, task: u32, outcome: &Outcome, next: FailedNext) {
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
