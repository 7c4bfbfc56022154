//! How health is looked after: the installation's settings, what a template says otherwise, and a cluster's own switch.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::invalid::Invalid;

/// What happens when machines are down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum HealMode {
    /// They are replaced, unless too many are down.
    Auto,
    /// It is said in the log and shown; people decide.
    #[default]
    Alarm,
    /// The cluster is not probed at all.
    Off,
}

impl HealMode {
    /// As in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Alarm => "alarm",
            Self::Off => "off",
        }
    }
}

/// How the health of a cluster is looked after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// What happens when machines are down.
    pub heal: HealMode,
    /// Time from one probe of a machine or service to the next, in ms.
    pub interval: i64,
    /// So many probes in a row that find it down make it down.
    pub failures_before_down: u32,
    /// So many probes in a row that find it up make it healthy again.
    pub successes_before_up: u32,
    /// Nothing is replaced while more than this part of the machines of a cluster, or of a provider, ails, in percent …
    pub meltdown_percent: u32,
    /// … and more than so many.
    pub meltdown_minimum: u32,
    /// A cluster is healed by itself at most so often within an hour.
    pub heals_per_hour: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            heal: HealMode::Alarm,
            interval: 30_000,
            failures_before_down: 3,
            successes_before_up: 2,
            meltdown_percent: 25,
            meltdown_minimum: 2,
            heals_per_hour: 3,
        }
    }
}

/// What a template says otherwise (`administration.health`); what it leaves out is as the installation's settings say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HealthRules {
    /// What happens when machines are down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heal: Option<HealMode>,
    /// Time from one probe to the next, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_seconds: Option<u32>,
    /// So many probes in a row that find it down make it down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures_before_down: Option<u32>,
    /// So many probes in a row that find it up make it healthy again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successes_before_up: Option<u32>,
    /// Nothing is replaced while more than this part of the machines ails, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meltdown_percent: Option<u32>,
    /// A cluster is healed by itself at most so often within an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heals_per_hour: Option<u32>,
}

impl HealthRules {
    /// Whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses numbers that would stop probing or believe nothing.
    ///
    /// # Errors
    /// Names the field.
    pub fn check(&self) -> Result<(), Invalid> {
        let at_least_one = [
            ("interval_seconds", self.interval_seconds),
            ("failures_before_down", self.failures_before_down),
            ("successes_before_up", self.successes_before_up),
        ];
        for (field, given) in at_least_one {
            if given == Some(0) {
                let field = format!("administration.health.{field}");
                return Err(Invalid::new(field, 0, "is below 1", "use 1 or more; heal: off stops probing"));
            }
        }
        match self.meltdown_percent {
            Some(percent @ 101..) => Err(Invalid::new(
                "administration.health.meltdown_percent",
                percent,
                "is more than 100",
                "use 0 to 100",
            )),
            _ => Ok(()),
        }
    }
}

impl Policy {
    /// As it holds for one cluster: what its template says goes before the settings, its own switch before both.
    #[must_use]
    pub fn of(self, rules: &HealthRules, switch: Option<HealMode>) -> Self {
        Self {
            heal: switch.or(rules.heal).unwrap_or(self.heal),
            interval: rules.interval_seconds.map_or(self.interval, |seconds| i64::from(seconds) * 1_000),
            failures_before_down: rules.failures_before_down.unwrap_or(self.failures_before_down),
            successes_before_up: rules.successes_before_up.unwrap_or(self.successes_before_up),
            meltdown_percent: rules.meltdown_percent.unwrap_or(self.meltdown_percent),
            meltdown_minimum: self.meltdown_minimum,
            heals_per_hour: rules.heals_per_hour.unwrap_or(self.heals_per_hour),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_goes_before_the_settings_and_a_clusters_switch_before_both() {
        let rules: HealthRules = serde_json::from_str(r#"{"heal": "auto", "interval_seconds": 5}"#).unwrap();
        let policy = Policy::default().of(&rules, None);
        assert_eq!((policy.heal, policy.interval, policy.failures_before_down), (HealMode::Auto, 5_000, 3));
        assert_eq!(Policy::default().of(&rules, Some(HealMode::Off)).heal, HealMode::Off);
        assert_eq!(Policy::default().of(&HealthRules::default(), None), Policy::default());
    }

    #[test]
    fn numbers_without_sense_are_named() {
        let check = |text: &str| serde_json::from_str::<HealthRules>(text).unwrap().check();
        assert!(check(r#"{"interval_seconds": 0}"#).is_err_and(|fault| fault.field.contains("interval")));
        assert!(check(r#"{"meltdown_percent": 101}"#).is_err());
        assert!(check(r#"{"meltdown_percent": 0, "heals_per_hour": 0}"#).is_ok());
        assert!(serde_json::from_str::<HealthRules>(r#"{"heel": "auto"}"#).is_err());
    }
}
