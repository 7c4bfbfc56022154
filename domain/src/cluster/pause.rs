//! Pausing a job, and going on with it: running tasks finish, nothing new starts meanwhile.

use super::event::Event;
use super::job::JobStatus;
use super::state::{Cluster, ClusterStatus};

/// A job that does not run needs nothing.
pub(super) fn pause(cluster: &Cluster, by: String, now: i64) -> Vec<Event> {
    in_state(cluster, JobStatus::Running)
        .map(|job| Event::JobPaused { at: now, job, by, reason: None })
        .into_iter()
        .collect()
}

/// A job that is not paused needs nothing.
pub(super) fn resume(cluster: &Cluster, by: String, now: i64) -> Vec<Event> {
    in_state(cluster, JobStatus::Paused)
        .map(|job| Event::JobResumed { at: now, job, by })
        .into_iter()
        .collect()
}

fn in_state(cluster: &Cluster, status: JobStatus) -> Option<u32> {
    let job = cluster.latest_job().filter(|job| job.status == status)?;
    (cluster.status == ClusterStatus::Pending).then_some(job.id.number)
}
