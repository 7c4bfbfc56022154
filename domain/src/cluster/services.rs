//! Starting, stopping and restarting services of a usable cluster, with those they depend on or that depend on them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::decide::wrong_state;
use super::event::Event;
use super::planning::{self, NextNumbers};
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use crate::plan::{ClusterAction, Wanted};

/// What is to become of services.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceChange {
    /// They run, and what they need runs.
    Start,
    /// They rest, and what needs them rests.
    Stop,
    /// They rest, then run, and with them what needs them and ran.
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
    service: Option<&str>,
    by: String,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    if let Some(name) = service.filter(|name| !cluster.services.contains(*name)) {
        return Err(Refusal::UnknownService { cluster: cluster.id.to_string(), service: name.to_owned() });
    }
    if cluster.status != ClusterStatus::Active {
        return Err(wrong_state(cluster, "told to start, stop or restart services"));
    }
    let action = change.action();
    let taken = taken(cluster, change, service)?;
    let mut events = Vec::new();
    if change.wanted() == Wanted::Running {
        events.extend(wake(cluster, &taken, &by, now)?);
    }
    events.push(Event::ServicesWanted {
        at: now,
        services: taken.clone(),
        wanted: change.wanted(),
        renew: action.steps().iter().copied().collect(),
        by: by.clone(),
    });
    let graph = planning::graph_of_action(&planning::after(cluster, &events), action, &taken)?;
    events.extend(planning::job(NextNumbers::of(cluster), action, by, &graph, now));
    Ok(events)
}

/// The services that are changed. A restart leaves those at rest that are meant to be, unless they are named.
fn taken(
    cluster: &Cluster,
    change: ServiceChange,
    service: Option<&str>,
) -> Result<BTreeSet<String>, Refusal> {
    let named = service.map(|name| BTreeSet::from([name.to_owned()]));
    let mut taken = planning::taken(cluster, change.action(), named)?;
    if change == ServiceChange::Restart && service.is_some() {
        taken.retain(|name| Some(name.as_str()) == service || cluster.wants_running(name));
    }
    Ok(taken)
}

/// What `services` need to run is wanted running as well, if it is not yet.
pub(super) fn wake(
    cluster: &Cluster,
    services: &BTreeSet<String>,
    by: &str,
    now: i64,
) -> Result<Option<Event>, Refusal> {
    let resting = planning::resting_below(cluster, services)?;
    Ok((!resting.is_empty()).then(|| Event::ServicesWanted {
        at: now,
        services: resting,
        wanted: Wanted::Running,
        renew: BTreeSet::new(),
        by: by.to_owned(),
    }))
}
