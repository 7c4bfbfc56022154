//! What must now be under way, derived from the state and never stored.

use super::job::JobStatus;
use super::state::{Cluster, ClusterStatus};
use crate::id::NodeId;

/// Something that must be under way. Asked again after a crash, the answer is the same.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// The cluster is to be deleted at this time (ms).
    Expire {
        /// When.
        at: i64,
    },
}

/// What must now be under way.
#[must_use]
pub fn due(cluster: &Cluster) -> Vec<Effect> {
    let mut effects = Vec::new();
    let leased =
        cluster.expires != 0 && !matches!(cluster.status, ClusterStatus::Pending | ClusterStatus::Terminated);
    if leased {
        effects.push(Effect::Expire { at: cluster.expires });
    }
    let Some(job) = cluster.latest_job() else { return effects };
    for task in job.running.iter().filter_map(|n| job.tasks.get(n)) {
        let Some(attempt) = task.open_attempt() else { continue };
        effects.push(Effect::Follow {
            task: task.id.number,
            node: task.node.clone(),
            attempt: attempt.number,
            deadline: attempt.started.saturating_add(cluster.limits.task_timeout),
        });
    }
    if job.status == JobStatus::Running {
        effects.extend(job.ready.iter().filter_map(|n| job.tasks.get(n)).map(|task| Effect::Start {
            task: task.id.number,
            node: task.node.clone(),
            not_before: task.not_before,
        }));
    }
    effects
}
