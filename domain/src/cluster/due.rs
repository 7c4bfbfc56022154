//! What must now be under way, derived from the state and never stored.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::care::CareChange;
use super::delete;
use super::event::{Event, FailedNext};
use super::follow_up::FollowUp;
use super::job::{AttemptId, Job, JobStatus, Task};
use super::state::{Cluster, ClusterStatus};
use super::warn_of_expiry;
use crate::id::NodeId;
use crate::mutant;
use crate::plan::ClusterAction;

/// How long a cluster whose lease has ended is left alone after a delete that failed, in ms; doubled for each further
/// one.
const PAUSE_AFTER_FAILED_DELETE: i64 = 180_000;

/// The longest such pause, in ms.
const LONGEST_PAUSE: i64 = 3_600_000;

/// Something that must be under way. Asked again after a crash, the answer is the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// A task may start as soon as its node and a worker are free, not before the time given (ms).
    Start {
        /// Number of the task.
        task: u32,
        /// Its node.
        node: NodeId,
        /// Not before this time; 0 is at once.
        not_before: i64,
    },
    /// An attempt is open: it is being executed, or must be taken up again. Its time ends at `deadline` (ms).
    Follow {
        /// Number of the task.
        task: u32,
        /// Its node.
        node: NodeId,
        /// Number of the attempt.
        attempt: u32,
        /// When it is given up.
        deadline: i64,
    },
    /// A task may start and nobody takes it: at this time (ms) it has waited for too long.
    Overdue {
        /// Number of the task.
        task: u32,
        /// When.
        at: i64,
    },
    /// An attempt is to be stopped: nobody wants its job any more.
    Halt {
        /// Number of the task.
        task: u32,
        /// Its node.
        node: NodeId,
        /// Number of the attempt.
        attempt: u32,
    },
    /// Those whom it concerns are to be told at this time (ms) that the lease ends soon.
    Warn {
        /// When.
        at: i64,
    },
    /// The job under way is to be stopped at this time (ms), and the cluster deleted then: its lease ends.
    CutShort {
        /// When.
        at: i64,
    },
    /// The cluster is to be deleted at this time (ms).
    Expire {
        /// When.
        at: i64,
    },
}

/// What must now be under way: all of it, as after a crash.
#[must_use]
pub fn due(cluster: &Cluster) -> Vec<Effect> {
    let mut effects: Vec<Effect> = warning(cluster).into_iter().chain(expiry(cluster)).collect();
    if let Some(job) = cluster.latest_job() {
        let running = job.running.iter().filter(|_| !mutant::is("takes-nothing-up"));
        let open = running.chain(&job.ready).filter_map(|number| job.tasks.get(number));
        effects.extend(open.flat_map(|task| of_task(cluster, job, task)));
        effects.extend(halts(job));
    }
    effects
}

/// What `events`, the last that were applied, have added to what is due; the end of the lease, and the warning of it, may be
/// said again. Takes time by what happened, not by the size of the cluster.
#[must_use]
pub fn due_after(cluster: &Cluster, events: &[Event]) -> Vec<Effect> {
    let Some(job) = cluster.latest_job() else { return Vec::new() };
    let mut touched = BTreeSet::new();
    for event in events {
        match event {
            Event::JobResumed { .. } if mutant::is("resumes-nothing") => {}
            Event::JobPlanned { .. }
            | Event::JobExtended { .. }
            | Event::JobResumed { .. }
            | Event::CareChanged { change: CareChange::Maintenance { .. }, .. } => {
                touched.extend(&job.ready);
            }
            Event::TaskSucceeded { task, .. } | Event::UnitProbed { task, .. } => {
                touched.extend(job.tasks.get(task).into_iter().flat_map(|done| &done.before));
            }
            Event::TaskFailed { task, next: FailedNext::Recreate { delete, .. }, .. } => {
                touched.extend([*task, *delete]);
            }
            Event::AttemptStarted { task, .. } | Event::TaskFailed { task, .. } => {
                touched.insert(*task);
            }
            Event::ClusterRequested { .. }
            | Event::WantedChanged { .. }
            | Event::FollowUpSet { .. }
            | Event::ServicesWanted { .. }
            | Event::ServicesAdded { .. }
            | Event::ConfigReplaced { .. }
            | Event::TemplateReplaced { .. }
            | Event::LeaseChanged { .. }
            | Event::CareChanged { .. }
            | Event::LeaseWarned { .. }
            | Event::JobPaused { .. }
            | Event::LayoutFound { .. }
            | Event::LayoutRefused { .. }
            | Event::JobFailed { .. }
            | Event::ProviderFieldsGiven { .. }
            | Event::ChildAdopted { .. }
            | Event::ChildReleased { .. }
            | Event::Inherited { .. }
            | Event::JobEnded { .. } => {}
        }
    }
    let armed = events.iter().any(|event| {
        let begins = matches!(event, Event::ClusterRequested { .. } | Event::JobPlanned { .. });
        let paused = matches!(event, Event::JobPaused { .. } | Event::JobFailed { .. });
        // A delete that was to follow may be given up for a way back.
        let free = matches!(event, Event::ChildReleased { .. } | Event::FollowUpSet { .. });
        begins || paused || free || matches!(event, Event::JobEnded { .. } | Event::LeaseChanged { .. })
    });
    let lease = armed.then(|| [warning(cluster), expiry(cluster)]).into_iter().flatten().flatten();
    let tasks = touched.iter().filter_map(|number| job.tasks.get(number));
    let stopped = events.iter().any(|event| matches!(event, Event::JobFailed { stop: true, .. }));
    let halted = stopped.then(|| halts(job)).into_iter().flatten();
    lease.chain(tasks.flat_map(|task| of_task(cluster, job, task))).chain(halted).collect()
}

/// What runs of a job that is to be stopped.
fn halts(job: &Job) -> impl Iterator<Item = Effect> + '_ {
    let running = job.running.iter().filter(|_| job.stop).filter_map(|number| job.tasks.get(number));
    running.filter_map(|task| {
        let AttemptId { task: number, attempt } = task.open_id()?;
        Some(Effect::Halt { task: number, node: task.node.clone(), attempt })
    })
}

/// What is due for one task.
fn of_task(cluster: &Cluster, job: &Job, task: &Task) -> Vec<Effect> {
    let number = task.id.number;
    if let Some(attempt) = task.open_attempt() {
        let mut deadline = attempt.started.saturating_add(cluster.time_of(task));
        if mutant::is("never-times-out") {
            deadline = i64::MAX;
        }
        let (node, attempt) = (task.node.clone(), attempt.number);
        return vec![Effect::Follow { task: number, node, attempt, deadline }];
    }
    let may_start = job.status == JobStatus::Running && cluster.in_maintenance(&task.node).is_none();
    if !may_start || !job.ready.contains(&number) {
        return Vec::new();
    }
    let start = Effect::Start { task: number, node: task.node.clone(), not_before: task.not_before };
    let overdue = cluster.queue_deadline(job, task).map(|at| Effect::Overdue { task: number, at });
    std::iter::once(start).chain(overdue).collect()
}

/// When the end of the lease is to be warned of.
fn warning(cluster: &Cluster) -> Option<Effect> {
    warn_of_expiry::due_at(cluster).map(|at| Effect::Warn { at })
}

/// When the cluster is to be deleted: at the end of its lease, or a while after a delete that failed then. What is under way
/// is cut short, unless it is a delete that goes on, or will be followed by one.
fn expiry(cluster: &Cluster) -> Option<Effect> {
    let at_rest = match cluster.status {
        ClusterStatus::Terminated => return None,
        ClusterStatus::Pending => false,
        ClusterStatus::Active | ClusterStatus::Incomplete | ClusterStatus::Inconsistent => true,
    };
    // One that carries others outlives its lease until they are gone.
    if cluster.expires == 0 || !cluster.kin.children.is_empty() {
        return None;
    }
    if !at_rest {
        let goes = delete::is_being_deleted(cluster) || matches!(cluster.then, Some(FollowUp::Delete { .. }));
        return (!goes).then_some(Effect::CutShort { at: cluster.expires });
    }
    let failed =
        |job: &&Arc<Job>| job.action == ClusterAction::ClusterDelete && job.status == JobStatus::Failed;
    let mut deletes = cluster.jobs.values().rev().take_while(failed);
    let again = deletes.next().and_then(|last| last.ended).map(|ended| {
        let pause = deletes.fold(PAUSE_AFTER_FAILED_DELETE, |pause, _| (pause * 2).min(LONGEST_PAUSE));
        ended.saturating_add(pause)
    });
    Some(Effect::Expire { at: cluster.expires.max(again.unwrap_or(0)) })
}
