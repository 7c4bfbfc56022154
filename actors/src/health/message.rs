//! What the monitor is asked.

use std::collections::BTreeMap;

use actix::{Handler, Message, MessageResult};
use cooperage_domain::health::Watch;
use cooperage_domain::id::ClusterId;
use cooperage_domain::plan::UnitId;

use super::HealthMonitor;

/// What is known of a cluster's health beyond its journal?
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "Option<ClusterHealth>")]
pub struct GetHealth {
    /// Which.
    pub cluster: ClusterId,
}

/// What probes of this process have found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterHealth {
    /// Machines and services.
    pub units: BTreeMap<UnitId, Watch>,
    /// What people were told, and is still so.
    pub alarm: Option<String>,
    /// When it is probed next, in ms since 1970.
    pub next: i64,
}

impl Handler<GetHealth> for HealthMonitor {
    type Result = MessageResult<GetHealth>;

    fn handle(&mut self, ask: GetHealth, _: &mut Self::Context) -> Self::Result {
        MessageResult(self.clusters.get(&ask.cluster).map(|watched| ClusterHealth {
            units: watched.units.clone(),
            alarm: watched.alarm.clone(),
            next: watched.turn,
        }))
    }
}
