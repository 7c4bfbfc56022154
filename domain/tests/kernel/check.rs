//! What must hold of every cluster at every moment.

use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::cluster::{
    Cluster, ClusterStatus, Effect, Job, JobStatus, Task, TaskState, budget, due,
};
use cooperage_domain::id::NodeId;
use cooperage_domain::plan::{Steps, converge};

/// Panics when something does not hold that must always hold.
pub fn check(cluster: &Cluster) {
    let latest = cluster.latest_job().expect("every cluster has a job");
    for job in cluster.jobs.values() {
        bookkeeping_is_right(job);
        predecessors_come_first(job);
        let over = job.ended.is_some();
        assert!(!over || job.running.is_empty(), "an ended job runs nothing");
        assert!(over || job.id == latest.id, "only the newest job is under way");
    }
    one_task_per_node(latest);
    let limit = cluster.limits.max_running_tasks as usize;
    assert!(limit == 0 || latest.running.len() <= limit, "no more tasks run than may");
    waiting_tasks_know_why(cluster, latest);
    assert_eq!(cluster.status == ClusterStatus::Pending, latest.ended.is_none(), "pending is: a job is open");
    if latest.ended.is_none() && (latest.status != JobStatus::Paused || !latest.running.is_empty()) {
        let something_is_due =
            due(cluster).iter().any(|effect| matches!(effect, Effect::Start { .. } | Effect::Follow { .. }));
        let left_alone = |number: &u32| cluster.in_maintenance(&latest.tasks[number].node).is_some();
        let waits = latest.ready.iter().any(left_alone);
        assert!(something_is_due || waits, "an open job has something to do or to wait for");
    }
    if cluster.status == ClusterStatus::Active {
        everything_is_as_wanted(cluster);
    }
    let newest = cluster.jobs.values().flat_map(|job| job.tasks.keys()).max();
    assert_eq!(newest.copied().unwrap_or(0), cluster.last_task, "the newest task is known");
}

/// An active cluster needs nothing more: neither a retry nor anything that converges would find something to do.
fn everything_is_as_wanted(cluster: &Cluster) {
    assert_eq!(converge(&cluster.units, &cluster.definitions), Ok(Steps::new()));
    assert!(cluster.units.values().all(|unit| unit.renew.is_empty()), "{:?}", cluster.units);
}

/// What is kept up to date event by event is what counting from scratch gives.
fn bookkeeping_is_right(job: &Job) {
    let done = |number: &u32| job.tasks[number].state == TaskState::Done;
    let mut before: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    let mut by_node: BTreeMap<&NodeId, BTreeSet<u32>> = BTreeMap::new();
    for (number, task) in &job.tasks {
        assert_eq!(*number, task.id.number);
        let missing = task.after.iter().filter(|before| !done(before)).count();
        assert_eq!(task.waiting_for as usize, missing, "what {number} waits for");
        assert_eq!(task.open_attempt().is_some(), task.state == TaskState::Running);
        let attempts = task.attempts.iter().map(|attempt| attempt.number);
        assert!(attempts.eq(1..task.next_attempt()), "attempts of {number}");
        for awaited in &task.after {
            before.entry(*awaited).or_default().insert(*number);
        }
        by_node.entry(&task.node).or_default().insert(*number);
    }
    for (number, task) in &job.tasks {
        assert_eq!(task.before, before.remove(number).unwrap_or_default(), "what waits for {number}");
    }
    assert!(job.by_node.iter().eq(by_node.iter().map(|(node, tasks)| (*node, tasks))), "tasks by node");
    let free = |task: &Task| task.after.iter().all(done);
    assert_eq!(job.ready, numbers(job, |task| task.state == TaskState::Waiting && free(task)), "ready");
    assert_eq!(job.running, numbers(job, |task| task.state == TaskState::Running), "running");
    assert_eq!(job.done as usize, numbers(job, |task| task.state == TaskState::Done).len(), "done");
}

/// What waits and has no reason may start, and what has one may not.
fn waiting_tasks_know_why(cluster: &Cluster, job: &Job) {
    let now = i64::from(i32::MAX) * 1000;
    for task in job.tasks.values() {
        let reasons = budget::why_waiting(cluster, task.id.number, now);
        let may = budget::may_start(cluster, job, task, now);
        let waits = task.state == TaskState::Waiting;
        assert_eq!(waits && may.is_err(), !reasons.is_empty(), "{}: {may:?}, {reasons:?}", task.id);
        assert!(reasons.iter().all(|reason| !reason.text.is_empty()));
        assert_eq!(task.ready_since.is_some(), job.ready.contains(&task.id.number), "{}", task.id);
    }
}

fn numbers(job: &Job, of: impl Fn(&Task) -> bool) -> BTreeSet<u32> {
    job.tasks.values().filter(|task| of(task)).map(|task| task.id.number).collect()
}

/// No task was started before everything it waits for was done.
fn predecessors_come_first(job: &Job) {
    for task in job.tasks.values().filter(|task| matches!(task.state, TaskState::Running | TaskState::Done)) {
        for before in &task.after {
            assert_eq!(job.tasks[before].state, TaskState::Done, "{} before {}", before, task.id);
        }
    }
}

fn one_task_per_node(job: &Job) {
    let mut busy: BTreeSet<&NodeId> = BTreeSet::new();
    for number in &job.running {
        let node = &job.tasks[number].node;
        assert!(busy.insert(node), "two tasks run on {node}");
    }
}
