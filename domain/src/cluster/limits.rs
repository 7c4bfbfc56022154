//! Limits a cluster's jobs run under: fixed when it is created, so that a replay decides as the first run did.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error_kind::ErrorKind;
use crate::lease::LeaseWarning;
use crate::task::TaskName;

/// Limits a cluster's jobs run under. Times in milliseconds. A limit that a stored cluster does not know is as it was before
/// there was such a limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Attempts of a task in all, the first one included.
    pub max_attempts: u32,
    /// How long one attempt may take from its start.
    pub task_timeout: i64,
    /// Pause before the second attempt; doubled for each further one.
    pub retry_delay: i64,
    /// Longest pause between two attempts.
    pub max_retry_delay: i64,
    /// How much of a failed attempt's output is kept per stream, in characters.
    pub max_log_length: usize,
    /// What differs from these for a kind of failure. Clusters from before this was known: nothing.
    #[serde(default)]
    pub retry: BTreeMap<ErrorKind, RetryRule>,
    /// How long an attempt may take, where it is not `task_timeout`.
    pub task_timeouts: BTreeMap<TaskName, i64>,
    /// How long a task may wait for a worker once it may start; 0 is as long as it takes.
    pub queue_timeout: i64,
    /// The same, where it is not `queue_timeout`.
    pub queue_timeouts: BTreeMap<TaskName, i64>,
    /// What becomes of tasks that wait longer.
    pub overdue: Overdue,
    /// Most tasks of the cluster that run at once; 0 is any number.
    pub max_running_tasks: u32,
    /// How long before its end a lease is warned of.
    pub lease_warning: LeaseWarning,
}

/// How often and when something is tried again. What is not said is as for other failures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetryRule {
    /// Attempts in all, the first one included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// Pause before the second attempt, in ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<i64>,
    /// By what the pause grows with each further attempt; 2 when not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<u32>,
    /// Longest pause, in ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_delay: Option<i64>,
    /// Which part of a pause may be left out, by chance, in percent: so that many that failed together do not come back
    /// together. None when not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<u8>,
}

/// What becomes of a task that waits for a worker for too long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overdue {
    /// It fails, and its job with it.
    #[default]
    Fail,
    /// It goes on waiting, and is told about.
    Flag,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_attempts: 3,
            task_timeout: 1_800_000,
            retry_delay: 1_000,
            max_retry_delay: 30_000,
            max_log_length: 2_048,
            retry: default_rules(),
            task_timeouts: BTreeMap::new(),
            queue_timeout: 0,
            queue_timeouts: BTreeMap::new(),
            overdue: Overdue::Fail,
            max_running_tasks: 0,
            lease_warning: LeaseWarning::default(),
        }
    }
}

/// What passes by itself is tried for a minute or two, what does not pass is not tried again.
fn default_rules() -> BTreeMap<ErrorKind, RetryRule> {
    let patient = RetryRule {
        max_attempts: Some(5),
        delay: Some(2_000),
        factor: Some(3),
        max_delay: Some(60_000),
        jitter: Some(50),
    };
    let once = RetryRule { max_attempts: Some(1), ..RetryRule::default() };
    BTreeMap::from([(ErrorKind::Transient, patient), (ErrorKind::Permanent, once)])
}

impl Limits {
    fn rule(&self, kind: ErrorKind) -> RetryRule {
        self.retry.get(&kind).copied().unwrap_or_default()
    }

    /// Attempts in all of a task that fails like this.
    #[must_use]
    pub fn attempts_of(&self, kind: ErrorKind) -> u32 {
        self.rule(kind).max_attempts.unwrap_or(self.max_attempts)
    }

    /// Pause before the attempt that follows `attempts` failed ones; `chance` says how much of it is left out.
    #[must_use]
    pub fn pause_after(&self, kind: ErrorKind, attempts: u32, chance: u64) -> i64 {
        let rule = self.rule(kind);
        let growth = i64::from(rule.factor.unwrap_or(2)).saturating_pow(attempts.saturating_sub(1).min(64));
        let grown = rule.delay.unwrap_or(self.retry_delay).saturating_mul(growth);
        let pause = grown.min(rule.max_delay.unwrap_or(self.max_retry_delay));
        let spread = pause.max(0) / 100 * i64::from(rule.jitter.unwrap_or(0).min(100));
        let left_out = chance % u64::try_from(spread).unwrap_or(0).saturating_add(1);
        pause.saturating_sub(i64::try_from(left_out).unwrap_or(0))
    }

    /// How long an attempt at a task may take from its start.
    #[must_use]
    pub fn time_of(&self, task: TaskName) -> i64 {
        self.task_timeouts.get(&task).copied().unwrap_or(self.task_timeout)
    }

    /// How long a task may wait for a worker once it may start; `None` is as long as it takes.
    #[must_use]
    pub fn wait_of(&self, task: TaskName) -> Option<i64> {
        let wait = self.queue_timeouts.get(&task).copied().unwrap_or(self.queue_timeout);
        (wait > 0).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_doubles_up_to_its_limit() {
        let limits = Limits::default();
        let pause = |attempts| limits.pause_after(ErrorKind::Unknown, attempts, 7);
        let pauses: Vec<_> = (1..8).map(pause).collect();
        assert_eq!(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
        assert_eq!(pause(u32::MAX), 30_000);
    }

    #[test]
    fn what_passes_by_itself_is_waited_for_longer_and_not_by_all_at_once() {
        let limits = Limits::default();
        let pauses = |chance| [1, 2, 3, 9].map(|n| limits.pause_after(ErrorKind::Transient, n, chance));
        assert_eq!(pauses(0), [2_000, 6_000, 18_000, 60_000]);
        assert_eq!(pauses(1_000), [1_000, 5_000, 17_000, 59_000]);
        for chance in [1, 999, 54_321, u64::MAX] {
            for (least, most) in pauses(chance).into_iter().zip(pauses(0)) {
                assert!(most / 2 <= least && least <= most, "{chance}: {least} of {most}");
            }
        }
        let attempts = ErrorKind::ALL.map(|kind| limits.attempts_of(kind));
        assert_eq!(attempts, [5, 1, 3, 3, 3]);
    }

    #[test]
    fn clusters_from_before_kinds_were_known_go_on_as_they_were() {
        let old = r#"{"max_attempts":4,"task_timeout":9,"retry_delay":1,"max_retry_delay":30000,"max_log_length":1}"#;
        let limits: Limits = serde_json::from_str(old).unwrap();
        for kind in ErrorKind::ALL {
            assert_eq!((limits.attempts_of(kind), limits.pause_after(kind, 3, 99)), (4, 4), "{kind}");
        }
        assert_eq!((limits.wait_of(TaskName::Create), limits.max_running_tasks), (None, 0));
    }

    #[test]
    fn tasks_have_their_own_times() {
        let mut limits = Limits::default();
        limits.task_timeouts.insert(TaskName::Create, 5);
        limits.queue_timeouts.insert(TaskName::Create, 7);
        assert_eq!((limits.time_of(TaskName::Create), limits.wait_of(TaskName::Create)), (5, Some(7)));
        assert_eq!((limits.time_of(TaskName::Start), limits.wait_of(TaskName::Start)), (1_800_000, None));
        limits.queue_timeout = 9;
        assert_eq!(limits.wait_of(TaskName::Start), Some(9));
        let text = serde_json::to_string(&limits).unwrap();
        assert_eq!(serde_json::from_str::<Limits>(&text).unwrap(), limits);
    }
}
