//! Changing when a cluster's lease ends.

use super::event::Event;
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use crate::invalid::Invalid;

/// `expires` in ms since 1970, within the limits of the cluster's own copy of its template.
pub(super) fn prolong(cluster: &Cluster, expires: i64, by: String, now: i64) -> Result<Vec<Event>, Refusal> {
    if let ClusterStatus::Terminated | ClusterStatus::Pending = cluster.status {
        let fault = format!("cannot be set while the cluster is {}", cluster.status);
        let remedy = match cluster.status {
            ClusterStatus::Pending => "wait until its job has ended",
            _ => "the cluster is gone; create another one",
        };
        return Err(Invalid::new("expireTime", expires, fault, remedy).into());
    }
    let lease = &cluster.template.administration.leaseduration;
    lease.check_expiry(cluster.created, cluster.expires, expires)?;
    Ok(vec![Event::LeaseChanged { at: now, expires, by }])
}
