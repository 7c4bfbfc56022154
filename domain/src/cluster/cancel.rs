//! Stopping the job under way, whatever it does: what runs is stopped, nothing more starts, and what was wanted before is
//! wanted again if so asked.

use super::ending::aborted;
use super::event::Event;
use super::follow_up::{FollowUp, changes_what_is_wanted};
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use crate::plan::ClusterAction;

/// A cluster without a job under way needs nothing.
pub(super) fn cancel(cluster: &Cluster, undo: bool, by: String, now: i64) -> Result<Vec<Event>, Refusal> {
    if cluster.status != ClusterStatus::Pending {
        return Ok(Vec::new());
    }
    let Some(job) = cluster.latest_job() else { return Ok(Vec::new()) };
    if undo && job.action != ClusterAction::ClusterCreate && !changes_what_is_wanted(job.action) {
        return Err(Refusal::NoWayBack { cluster: cluster.id.to_string(), action: job.action });
    }
    let then = undo.then_some(FollowUp::Undo { by: by.clone() });
    Ok(stop(cluster, "Aborted by user.", by, then, now))
}

/// The job under way is stopped; `then` comes as soon as it has ended.
pub(super) fn stop(
    cluster: &Cluster,
    message: &str,
    by: String,
    then: Option<FollowUp>,
    now: i64,
) -> Vec<Event> {
    let Some(job) = cluster.latest_job() else { return Vec::new() };
    let mut events = Vec::new();
    if job.is_open() {
        let (job, message) = (job.id.number, message.to_owned());
        events.push(Event::JobFailed { at: now, job, message, by: Some(by.clone()), stop: true });
    }
    if let Some(then) = then.filter(|then| cluster.then.as_ref() != Some(then)) {
        events.push(Event::FollowUpSet { at: now, then, by });
    }
    if job.running.is_empty() && job.is_open() {
        events.push(aborted(cluster, job, now));
    }
    events
}
