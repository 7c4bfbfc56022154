//! Starting, stopping and restarting services of a usable cluster, with those they depend on or that depend on them.

use std::collections::BTreeSet;

use super::decide::wrong_state;
use super::event::Event;
use super::planning::{self, NextNumbers};
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use crate::plan::ClusterAction;
use crate::plan::Wanted;

/// What is to become of services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceChange {
    /// They run.
    Start,
    /// They rest.
    Stop,
    /// They rest, then run.
    Restart,
}

impl ServiceChange {
    const fn action(self) -> ClusterAction {
        match self {
            Self::Start => ClusterAction::StartServices,
            Self::Stop => ClusterAction::StopServices,
            Self::Restart => ClusterAction::RestartServices,
        }
    }

    const fn wanted(self) -> Wanted {
        match self {
            Self::Start | Self::Restart => Wanted::Running,
            Self::Stop => Wanted::Stopped,
        }
    }
}

/// `service`: one of the cluster's, or all.
pub(super) fn change(
    cluster: &Cluster,
    change: ServiceChange,
    service: Option<String>,
    by: String,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    if let Some(name) = service.as_ref().filter(|name| !cluster.services.contains(*name)) {
        return Err(Refusal::UnknownService { cluster: cluster.id.to_string(), service: name.clone() });
    }
    if cluster.status != ClusterStatus::Active {
        return Err(wrong_state(
            cluster,
            "given other service states",
            "only an active cluster's services can be",
        ));
    }
    let named: Option<BTreeSet<String>> = service.map(|name| BTreeSet::from([name]));
    let (planned, graph) = planning::coopr_graph(cluster, change.action(), named, None)?;
    let wanted = Event::ServicesWanted { services: planned, wanted: change.wanted() };
    let job = planning::job(NextNumbers::of(cluster), change.action(), by, &graph, now);
    Ok([wanted].into_iter().chain(job).collect())
}
