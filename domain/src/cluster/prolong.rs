//! Changing when a cluster's lease ends.

use super::decide::way_on;
use super::event::Event;
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use crate::invalid::Invalid;

/// `expires` in ms since 1970, within the limits of the cluster's own copy of its template.
pub(super) fn prolong(cluster: &Cluster, expires: i64, by: String, now: i64) -> Result<Vec<Event>, Refusal> {
    if cluster.status == ClusterStatus::Terminated {
        let fault = format!("cannot be set while the cluster is {}", cluster.status);
        return Err(Invalid::new("expireTime", expires, fault, way_on(cluster)).into());
    }
    let lease = &cluster.template.administration.leaseduration;
    lease.check_expiry(cluster.created, cluster.expires, expires)?;
    Ok(vec![Event::LeaseChanged { at: now, expires, by }])
}
