//! Warning before a lease ends: once for each end.

use super::event::Event;
use super::state::{Cluster, ClusterStatus};
use crate::lease;
use crate::plan::ClusterAction;

/// When the end of the lease is to be warned of, in ms since 1970; `None` when it never ends, nobody wants a warning, it was
/// given, or the cluster is being deleted anyway.
pub(super) fn due_at(cluster: &Cluster) -> Option<i64> {
    let is_deleted = cluster.latest_job().is_some_and(|job| job.action == ClusterAction::ClusterDelete);
    let over = match cluster.status {
        ClusterStatus::Terminated => true,
        ClusterStatus::Pending => is_deleted,
        ClusterStatus::Active | ClusterStatus::Incomplete | ClusterStatus::Inconsistent => false,
    };
    if over || cluster.warned_of == cluster.expires {
        return None;
    }
    cluster.warning_at()
}

/// Nothing happens too early, or a second time.
pub(super) fn warn(cluster: &Cluster, now: i64) -> Vec<Event> {
    let is_due = due_at(cluster).is_some_and(|at| at <= now);
    is_due.then_some(Event::LeaseWarned { at: now, expires: cluster.expires }).into_iter().collect()
}

impl Cluster {
    /// From when on its lease counts as ending soon, in ms since 1970; `None` when it never does.
    #[must_use]
    pub fn warning_at(&self) -> Option<i64> {
        if self.expires == 0 {
            return None;
        }
        let lead = self.limits.lease_warning.lead(self.expires.saturating_sub(self.created));
        (lead > 0).then(|| lease::warning_at(self.created, self.expires, lead))
    }
}
