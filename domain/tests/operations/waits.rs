//! Every task that waits says why, and what it says is true.

use std::collections::BTreeMap;

use cooperage_domain::cluster::{
    Cluster, ClusterStatus, Effect, Job, JobStatus, Task, TaskState, WaitCode, WaitReason, budget, due,
};

/// Panics when a task of the latest job does not say, or not truly, why it waits at `now`; counts what is said. A task that
/// says nothing is about to begin: nothing but a worker is missing, of whom whoever has them tells.
pub fn check_reasons(cluster: &Cluster, now: i64, told: &mut BTreeMap<WaitCode, u64>) {
    let Some(job) = cluster.latest_job() else { return };
    let startable = startable(cluster, now);
    for task in job.tasks.values() {
        let reasons = budget::why_waiting(cluster, task.id.number, now);
        if task.state != TaskState::Waiting {
            assert!(reasons.is_empty(), "{} does not wait: {reasons:?}", task.id);
            continue;
        }
        if cluster.status == ClusterStatus::Pending && reasons.is_empty() {
            assert!(startable.contains(&task.id.number), "{} waits for nothing", task.id);
            *told.entry(WaitCode::Next).or_default() += 1;
        }
        for reason in &reasons {
            assert!(reason.text.len() > 5, "{}: {reason:?}", task.id);
            assert!(is_true(cluster, job, task, reason, now), "{} waits {reason:?}", task.id);
            *told.entry(reason.code).or_default() += 1;
        }
        assert!(reasons.is_empty() || all_are_named(job, task, &reasons), "{}: {reasons:?}", task.id);
    }
}

/// Tasks that are due and of which nothing is in the way.
fn startable(cluster: &Cluster, now: i64) -> Vec<u32> {
    let started = due(cluster).into_iter().filter_map(|effect| match effect {
        Effect::Start { task, not_before, .. } if not_before <= now => Some(task),
        _ => None,
    });
    started.collect()
}

fn is_true(cluster: &Cluster, job: &Job, task: &Task, reason: &WaitReason, now: i64) -> bool {
    let named = reason.task.map(|id| &job.tasks[&id.number]);
    let says = |what: &str| reason.text.contains(what);
    let is_titled = |other: &Task| says(&budget::title(cluster, other));
    match reason.code {
        WaitCode::JobStopped => job.status == JobStatus::Failed,
        WaitCode::JobPaused => job.status == JobStatus::Paused,
        WaitCode::Predecessor => match named {
            Some(before) => {
                let standing = match before.state {
                    TaskState::Running => says("has run for"),
                    TaskState::Failed => says("has failed"),
                    TaskState::Waiting => says("may start") || says("waits itself"),
                    TaskState::Done => false,
                };
                standing && is_titled(before) && task.after.contains(&before.id.number)
            }
            None => says("more tasks before it"),
        },
        WaitCode::RetryPause => task.not_before > now && !task.attempts.is_empty() && ends_then(task, reason),
        WaitCode::Delay => task.not_before > now && task.attempts.is_empty() && ends_then(task, reason),
        WaitCode::Maintenance => {
            cluster.in_maintenance(&task.node).is_some_and(|it| says(&it.reason) && says(&it.by))
        }
        WaitCode::NodeBusy => named.is_some_and(|other| {
            other.state == TaskState::Running && other.node == task.node && is_titled(other)
        }),
        WaitCode::ClusterLimit => {
            let limit = cluster.limits.max_running_tasks;
            limit > 0 && job.running.len() >= limit as usize && says(&format!("at most {limit} may run"))
        }
        // The kernel knows neither workers nor other clusters.
        WaitCode::GlobalLimit | WaitCode::NoWorkers | WaitCode::WorkersBusy | WaitCode::Next => false,
    }
}

fn ends_then(task: &Task, reason: &WaitReason) -> bool {
    reason.until == Some(task.not_before)
}

/// What is not done before it is named, the first few one by one.
fn all_are_named(job: &Job, task: &Task, reasons: &[WaitReason]) -> bool {
    let open = task.after.iter().filter(|number| job.tasks[number].state != TaskState::Done).count();
    let of_predecessors = reasons.iter().filter(|reason| reason.code == WaitCode::Predecessor);
    let named = of_predecessors.filter(|reason| reason.task.is_some()).count();
    named == open.min(5)
}
