//! Leases: how long a cluster may live, and how that may be changed.
//!
//! All times are milliseconds; 0 means "without limit" throughout.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::invalid::Invalid;
use crate::spoken_time::{length, moment};

/// Limits a template sets on the life of its clusters, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct LeaseDuration {
    /// Life given at creation.
    #[serde(deserialize_with = "duration")]
    pub initial: i64,
    /// Longest life in all.
    #[serde(deserialize_with = "duration")]
    pub max: i64,
    /// Longest extension at a time.
    #[serde(deserialize_with = "duration")]
    pub step: i64,
    /// How long before its end a lease is warned of; 0: not at all, absent: as the server's settings say.
    #[serde(deserialize_with = "optional_duration", skip_serializing_if = "Option::is_none")]
    pub warning: Option<i64>,
}

/// How long before its end a lease is warned of. Times in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LeaseWarning {
    /// Said for the cluster or its template; 0 is never.
    pub said: Option<i64>,
    /// Otherwise so many percent of the lease; 0 is never.
    pub percent: u8,
    /// But no more than this.
    pub longest: i64,
}

impl Default for LeaseWarning {
    fn default() -> Self {
        Self { said: None, percent: 10, longest: 86_400_000 }
    }
}

impl LeaseWarning {
    /// How long before its end a lease of this length is warned of, in ms; 0 is not at all.
    #[must_use]
    pub fn lead(&self, length: i64) -> i64 {
        let share = || {
            (length / 100).saturating_mul(self.percent.into()) + length % 100 * i64::from(self.percent) / 100
        };
        self.said.unwrap_or_else(|| share().min(self.longest)).max(0)
    }
}

/// When a lease is warned of that ends at `expires` with a `lead`: not before the cluster was `created`.
#[must_use]
pub fn warning_at(created: i64, expires: i64, lead: i64) -> i64 {
    expires.saturating_sub(lead).max(created)
}

impl LeaseDuration {
    /// Refuses a `max` below `initial`, where "without limit" is the longest of all.
    ///
    /// # Errors
    /// Names the template.
    pub fn check(&self, template: &str) -> Result<(), Invalid> {
        let longest = |ms: i64| if ms == 0 { i64::MAX } else { ms };
        if longest(self.max) >= longest(self.initial) {
            return Ok(());
        }
        Err(Invalid::new(
            "administration.leaseduration.max",
            self.max,
            format!("is shorter than the initial lease of template {template} (0 is without limit)"),
            "raise max, or lower initial",
        ))
    }

    /// The lease of a new cluster, given what the request asks for (`None` or -1: the template's own).
    ///
    /// # Errors
    /// When more is asked for than the template gives, or a negative time.
    pub fn initial_lease(&self, requested: Option<i64>) -> Result<i64, Invalid> {
        let Some(requested) = requested.filter(|ms| *ms != -1) else { return Ok(self.initial) };
        let refuse =
            |fault: &str, remedy: String| Err(Invalid::new("initialLeaseDuration", requested, fault, remedy));
        if requested < 0 {
            return refuse(
                "is not a lease",
                "use milliseconds, or leave it out for the template's own".into(),
            );
        }
        if self.initial == 0 || (1..=self.initial).contains(&requested) {
            return Ok(requested);
        }
        refuse(
            "is a longer lease than the template allows",
            format!(
                "use at most {} ({} ms), or leave it out for the template's own",
                length(self.initial),
                self.initial
            ),
        )
    }

    /// Checks a new time of expiry of a cluster made at `created` that now expires at `current` (0: never).
    ///
    /// # Errors
    /// When it lies before creation, or goes further than step or max allow.
    pub fn check_expiry(&self, created: i64, current: i64, wanted: i64) -> Result<(), Invalid> {
        let refuse = |fault: String, remedy: String| Err(Invalid::new("expireTime", wanted, fault, remedy));
        if wanted < created {
            return refuse("is before the create time".into(), format!("use a time after {}", told(created)));
        }
        if self.max == 0 {
            return Ok(());
        }
        if self.step != 0 && wanted.saturating_sub(current) > self.step {
            return refuse(
                format!("is more than the increment of {} after the present expire time", length(self.step)),
                format!("use at most {}", told(current.saturating_add(self.step))),
            );
        }
        let last = created.saturating_add(self.max);
        if wanted > last {
            return refuse(
                format!("is beyond the max lease of {}", length(self.max)),
                format!("use at most {}", told(last)),
            );
        }
        Ok(())
    }
}

/// For people and for programs.
fn told(ms: i64) -> String {
    format!("{} ({ms})", moment(ms))
}

/// Milliseconds from a number or a text: digits alone are milliseconds, else a unit of `s`, `m`, `h` or `d` follows.
///
/// # Errors
/// Names the text and the units.
pub fn parse_duration(text: &str) -> Result<i64, Invalid> {
    let refuse = || {
        Invalid::new(
            "lease duration",
            text,
            "is not a duration",
            "use milliseconds, or a number with s, m, h or d",
        )
    };
    let (digits, unit) = match text.trim().char_indices().next_back() {
        Some((at, 's')) => (&text.trim()[..at], 1_000),
        Some((at, 'm')) => (&text.trim()[..at], 60_000),
        Some((at, 'h')) => (&text.trim()[..at], 3_600_000),
        Some((at, 'd')) => (&text.trim()[..at], 86_400_000),
        _ => (text.trim(), 1),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(refuse());
    }
    digits.parse::<i64>().ok().and_then(|n| n.checked_mul(unit)).ok_or_else(refuse)
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    use serde::de::Error;
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(0),
        Value::String(text) => parse_duration(&text).map_err(D::Error::custom),
        Value::Number(n) => match n.as_i64().or_else(|| n.as_f64().map(|f| f as i64)) {
            Some(ms) if ms >= 0 => Ok(ms),
            _ => Err(D::Error::custom(format!("{n} is not a lease duration: use milliseconds from 0"))),
        },
        other => Err(D::Error::custom(format!("{other} is not a lease duration"))),
    }
}

fn optional_duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    if value.is_null() {
        return Ok(None);
    }
    duration(value).map(Some).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (text, ms) in
            [("0", 0), ("250", 250), ("3s", 3_000), ("2m", 120_000), ("10h", 36_000_000), ("7d", 604_800_000)]
        {
            assert_eq!(parse_duration(text), Ok(ms), "{text}");
        }
        for text in ["", "1v", "-1s", "s", "1.5h", "99999999999999999999d"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_request_may_shorten_the_initial_lease_but_not_lengthen_it() {
        let limited = LeaseDuration { initial: 10_000, max: 30_000, step: 5_000, warning: None };
        assert_eq!(limited.initial_lease(None), Ok(10_000));
        assert_eq!(limited.initial_lease(Some(-1)), Ok(10_000));
        assert_eq!(limited.initial_lease(Some(2_000)), Ok(2_000));
        for refused in [0, 20_000, -2] {
            assert!(limited.initial_lease(Some(refused)).is_err(), "{refused}");
        }
        let unlimited = LeaseDuration::default();
        assert_eq!(unlimited.initial_lease(Some(0)), Ok(0));
        assert_eq!(unlimited.initial_lease(Some(i64::MAX)), Ok(i64::MAX));
    }

    #[test]
    fn extending_is_bounded_by_step_and_max() {
        let lease = LeaseDuration { initial: 10_000, max: 12_000, step: 1_000, warning: None };
        assert!(lease.check_expiry(0, 10_000, 12_000).is_err_and(|e| e.fault.contains("increment")));
        assert!(lease.check_expiry(0, 10_000, 9_000).is_ok());
        assert!(lease.check_expiry(0, 11_500, 12_001).is_err_and(|e| e.fault.contains("max")));
        assert!(lease.check_expiry(5_000, 10_000, 0).is_err_and(|e| e.fault.contains("create time")));
        assert!(LeaseDuration { max: 0, ..lease }.check_expiry(0, 10_000, i64::MAX).is_ok());
    }

    #[test]
    fn max_below_initial_is_refused_and_zero_is_the_longest() {
        let check = |initial, max| LeaseDuration { initial, max, step: 0, warning: None }.check("t").is_ok();
        assert!(check(5, 5) && check(5, 0) && check(0, 0));
        assert!(!check(6, 5) && !check(0, 5));
    }

    #[test]
    fn a_lease_is_warned_of_a_tenth_before_its_end_but_at_most_a_day() {
        let (hour, day) = (3_600_000, 86_400_000);
        let usual = LeaseWarning::default();
        for (length, lead) in [(0, 0), (5, 0), (10 * hour, hour), (10 * day, day), (90 * day, day)] {
            assert_eq!(usual.lead(length), lead, "{length}");
        }
        assert_eq!(usual.lead(i64::MAX), day);
        assert_eq!(LeaseWarning { said: Some(7), ..usual }.lead(10 * day), 7);
        assert_eq!(LeaseWarning { said: Some(0), ..usual }.lead(10 * day), 0);
        assert_eq!(LeaseWarning { percent: 0, ..usual }.lead(10 * day), 0);
        assert_eq!(warning_at(100, 200, 30), 170);
        assert_eq!(warning_at(100, 200, 500), 100, "not before there is a cluster");
    }

    #[test]
    fn a_template_says_how_long_before_or_leaves_it_open() {
        let read = |json: &str| serde_json::from_str::<LeaseDuration>(json);
        assert_eq!(read(r#"{"initial": "7d", "warning": "12h"}"#).unwrap().warning, Some(43_200_000));
        assert_eq!(read(r#"{"warning": 0}"#).unwrap().warning, Some(0));
        let open = read(r#"{"warning": null}"#).unwrap();
        assert_eq!(
            serde_json::to_value(open).unwrap(),
            serde_json::json!({"initial": 0, "max": 0, "step": 0})
        );
        assert!(read(r#"{"warning": -1}"#).is_err());
    }
}
