//! Aborting a create: running tasks finish, nothing more starts.

use super::decide::wrong_state;
use super::ending::aborted;
use super::event::Event;
use super::job::JobStatus;
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use crate::plan::ClusterAction;

/// A cluster that is not pending needs nothing, and neither does a job that has been aborted already. As in Coopr, only a
/// running create can be aborted: a paused one must be resumed first.
pub(super) fn abort(cluster: &Cluster, by: String, now: i64) -> Result<Vec<Event>, Refusal> {
    if cluster.status != ClusterStatus::Pending {
        return Ok(Vec::new());
    }
    let refuse = || Err(wrong_state(cluster, "aborted"));
    let Some(job) = cluster.latest_job() else { return refuse() };
    match job.status {
        JobStatus::Failed | JobStatus::Complete => return Ok(Vec::new()),
        JobStatus::Running if job.action == ClusterAction::ClusterCreate => {}
        JobStatus::Running | JobStatus::NotSubmitted | JobStatus::Paused => return refuse(),
    }
    let message = "Aborted by user.".to_owned();
    let mut events =
        vec![Event::JobFailed { at: now, job: job.id.number, message, by: Some(by), stop: false }];
    if job.running.is_empty() {
        events.push(aborted(cluster, job, now));
    }
    Ok(events)
}
