//! Health and maintenance.

use std::collections::BTreeMap;

use cooperage_domain::health::{HealMode, Health};
use serde::Serialize;
use utoipa::ToSchema;

/// Why a cluster or a node is left alone.
#[derive(Serialize, ToSchema)]
pub struct Maintenance {
    /// Milliseconds since 1970.
    since: i64,
    /// Who wants it so.
    by: String,
    reason: String,
}

/// Why a cluster or a node is to be left alone.
#[derive(Serialize, ToSchema)]
pub struct MaintenanceReason {
    reason: Option<String>,
}

/// What happens when machines are down: `auto`, `alarm` or `off`; `null`: as the template and the settings say.
#[derive(Serialize, ToSchema)]
pub struct HealSwitch {
    heal: Option<HealMode>,
}

/// A machine or a service that is down.
#[derive(Serialize, ToSchema)]
pub struct DownNote {
    /// The service; `null`: the machine.
    service: Option<String>,
    /// Milliseconds since 1970.
    since: i64,
    reason: String,
}

/// How a machine or a service is.
#[derive(Serialize, ToSchema)]
pub struct UnitHealth {
    health: Health,
    /// Milliseconds since 1970.
    since: Option<i64>,
    /// What was found; empty when it is well.
    reason: String,
    /// When it was probed last by this server, in milliseconds since 1970.
    probed: Option<i64>,
    /// Why the last probe found nothing out; empty when it did.
    unknown: String,
}

/// How a node is.
#[derive(Serialize, ToSchema)]
pub struct NodeHealth {
    id: String,
    hostname: Option<String>,
    nodenum: u32,
    maintenance: Option<Maintenance>,
    machine: UnitHealth,
    /// By name.
    services: BTreeMap<String, UnitHealth>,
}

/// How a cluster is, and how it is looked after.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthReport {
    id: String,
    heal: HealMode,
    interval_seconds: i64,
    failures_before_down: u32,
    successes_before_up: u32,
    meltdown_percent: u32,
    heals_per_hour: u32,
    maintenance: Option<Maintenance>,
    /// What people must see to; the server's log says the same.
    alarm: Option<String>,
    /// When it is probed next, in milliseconds since 1970.
    next_probe: Option<i64>,
    nodes: Vec<NodeHealth>,
}
