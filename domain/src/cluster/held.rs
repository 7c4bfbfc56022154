//! How many nodes of a cluster count against its tenant's quota, now and with a change.

use super::event::Event;
use super::follow_up::changes_what_is_wanted;
use super::state::{Cluster, ClusterStatus};

impl Cluster {
    /// Those it has; while a job is under way that may be undone, at least as many as it would have then: a way back must
    /// not end at a quota.
    #[must_use]
    pub fn nodes_held(&self) -> usize {
        let pending = self.status == ClusterStatus::Pending;
        let job = self.latest_job().filter(|job| pending && changes_what_is_wanted(job.action));
        let back = job.and(self.previous.as_deref()).map_or(0, |before| before.nodes.len());
        self.nodes.len().max(back)
    }
}

/// How many nodes a cluster gets by what was decided.
#[must_use]
pub fn nodes_added(events: &[Event]) -> usize {
    let added = |event: &Event| match event {
        Event::WantedChanged { change, .. } => change.nodes.len(),
        _ => 0,
    };
    events.iter().map(added).sum()
}
