//! What hooks may have to be told of events: a pure function of what happened and what is now.

use cooperage_domain::callback::HookEvent;
use cooperage_domain::cluster::{Cluster, Event, Job, JobStatus};
use cooperage_schema::Occurrence;
use serde_json::{Value, json};

/// What hooks may have to be told of `events`, which led to `cluster`.
#[must_use]
pub fn occurrences(cluster: &Cluster, events: &[Event]) -> Vec<Occurrence> {
    let before = cluster.sequence.saturating_sub(events.len() as u64);
    let numbered = (before + 1..).zip(events);
    numbered.filter_map(|(sequence, event)| occurrence(cluster, sequence, event)).collect()
}

fn occurrence(cluster: &Cluster, sequence: u64, event: &Event) -> Option<Occurrence> {
    let (at_ms, job, lease) = match event {
        Event::JobEnded { at, job, .. } => (*at, cluster.job(*job), None),
        Event::LayoutRefused { at, .. } => (*at, cluster.job(1), None),
        Event::LeaseWarned { at, expires } => (*at, None, Some(*expires)),
        _ => return None,
    };
    let event = match (job.map(|job| job.status), lease) {
        (None, Some(_)) => HookEvent::LeaseWarning,
        (Some(JobStatus::Complete), _) => HookEvent::Success,
        (Some(_), _) => HookEvent::Failure,
        (None, None) => return None,
    };
    let mut document = json!({
        "event": event,
        "time": at_ms,
        "who": job.map(|job| job.by.as_str()),
        "cluster": cluster.summary(),
        "job": job.map(told),
    });
    if let Some(expires) = lease {
        document["lease"] = json!({ "expireTime": expires, "expiresIn": expires.saturating_sub(at_ms) });
    }
    Some(Occurrence {
        cluster: cluster.id,
        sequence,
        tenant: cluster.account.tenant_id.clone(),
        at_ms,
        event,
        action: job.map(|job| job.action),
        job: job.map(|job| job.id.number),
        document: document.to_string(),
    })
}

/// A job as hooks are told of it.
#[must_use]
pub fn told(job: &Job) -> Value {
    json!({
        "id": job.id,
        "action": job.action,
        "status": job.status,
        "message": job.message,
        "who": job.by,
        "startTime": job.started,
        "endTime": job.ended,
    })
}
