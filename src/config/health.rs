//! Settings of health: how machines and services are probed, and what happens when they are down.

use cooperage_actors::health::HealthSettings;
use cooperage_domain::health::{HealMode, Policy};
use serde::{Deserialize, Serialize};

/// How machines and services are probed, and what happens when they are down.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// What happens when machines are down.
    pub heal: HealMode,
    /// Time from one probe to the next, in seconds.
    pub interval_seconds: u32,
    /// Most nodes that are probed at once; 0: none ever is.
    pub max_probes: usize,
    /// So many probes in a row that find it down make it down.
    pub failures_before_down: u32,
    /// So many probes in a row that find it up make it healthy again.
    pub successes_before_up: u32,
    /// Nothing is replaced while more than this part of the machines ails, in percent …
    pub meltdown_percent: u32,
    /// … and more than so many.
    pub meltdown_minimum: u32,
    /// A cluster is healed by itself at most so often within an hour.
    pub heals_per_hour: u32,
}

impl Health {
    /// As the monitor takes them. What would never end or never believe anything is the least that makes sense.
    #[must_use]
    pub fn settings(&self) -> HealthSettings {
        let policy = Policy {
            heal: self.heal,
            interval: i64::from(self.interval_seconds.max(1)) * 1_000,
            failures_before_down: self.failures_before_down.max(1),
            successes_before_up: self.successes_before_up.max(1),
            meltdown_percent: self.meltdown_percent.min(100),
            meltdown_minimum: self.meltdown_minimum,
            heals_per_hour: self.heals_per_hour,
        };
        HealthSettings { policy, max_probes: self.max_probes }
    }
}
