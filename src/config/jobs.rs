//! Settings of jobs: how often tasks are tried, how long they may take and wait, how many run at once.

use std::collections::BTreeMap;

use cooperage_domain::cluster::{Limits, Overdue, RetryRule};
use cooperage_domain::error_kind::ErrorKind;
use cooperage_domain::lease::LeaseWarning;
use cooperage_domain::task::TaskName;
use serde::{Deserialize, Serialize};

/// How jobs run.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Jobs {
    /// Attempts of a task in all.
    pub max_attempts: u32,
    /// How long an attempt may take, in seconds.
    pub task_timeout_seconds: u64,
    /// Pause before the second attempt, in milliseconds; doubles from then on.
    pub retry_delay_ms: u64,
    /// Longest pause between attempts, in milliseconds.
    pub max_retry_delay_ms: u64,
    /// How much of a failed attempt's output is kept with its node, per stream, in characters.
    pub max_log_length: usize,
    /// Most tasks of one cluster that run at once; 0 is any number.
    pub max_running_tasks: u32,
    /// How long a task may wait for a worker, in seconds; 0 is as long as it takes.
    pub queue_timeout_seconds: u64,
    /// What becomes of tasks that wait longer.
    pub queue_timeout_action: Overdue,
    /// How long attempts at some tasks may take, in seconds.
    #[serde(default)]
    pub task_timeouts: TaskSeconds,
    /// How long some tasks may wait for a worker, in seconds.
    #[serde(default)]
    pub queue_timeouts: TaskSeconds,
    /// What differs for kinds of failures.
    #[serde(default)]
    pub retry: RetryByKind,
}

/// Seconds by the names of tasks, in letters of any case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "BTreeMap<String, u64>")]
pub struct TaskSeconds(BTreeMap<TaskName, u64>);

/// A word that names no task.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is no task; name one such as create, confirm, bootstrap, install, start or delete")]
pub struct UnknownTask(String);

impl TryFrom<BTreeMap<String, u64>> for TaskSeconds {
    type Error = UnknownTask;

    fn try_from(words: BTreeMap<String, u64>) -> Result<Self, UnknownTask> {
        let named = |(word, seconds): (String, u64)| {
            let task = serde_json::from_value(word.to_uppercase().into()).map_err(|_| UnknownTask(word))?;
            Ok((task, seconds))
        };
        words.into_iter().map(named).collect::<Result<_, _>>().map(Self)
    }
}

impl TaskSeconds {
    fn in_ms(&self) -> BTreeMap<TaskName, i64> {
        self.0.iter().map(|(task, seconds)| (*task, ms(seconds.saturating_mul(1000)))).collect()
    }
}

/// For each kind of failure, what differs from the rest.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetryByKind {
    /// What passes by itself.
    pub transient: Retry,
    /// What somebody must correct.
    pub permanent: Retry,
    /// Machines that are gone or do not come up.
    pub machine: Retry,
    /// Scripts that failed.
    pub script: Retry,
    /// Everything else.
    pub unknown: Retry,
}

/// How often and when something is tried again; what is not said is as for other failures.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retry {
    /// Attempts in all.
    pub max_attempts: Option<u32>,
    /// Pause before the second attempt, in milliseconds.
    pub retry_delay_ms: Option<u64>,
    /// By what it grows each time.
    pub retry_factor: Option<u32>,
    /// Longest pause, in milliseconds.
    pub max_retry_delay_ms: Option<u64>,
    /// Which part of a pause may be left out by chance, in percent.
    pub jitter_percent: Option<u8>,
}

impl Retry {
    fn rule(self) -> RetryRule {
        RetryRule {
            max_attempts: self.max_attempts.map(|attempts| attempts.max(1)),
            delay: self.retry_delay_ms.map(ms),
            factor: self.retry_factor,
            max_delay: self.max_retry_delay_ms.map(ms),
            jitter: self.jitter_percent,
        }
    }
}

fn ms(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

impl Jobs {
    /// Limits new clusters get.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let RetryByKind { transient, permanent, machine, script, unknown } = &self.retry;
        let kinds = [
            (ErrorKind::Transient, transient),
            (ErrorKind::Permanent, permanent),
            (ErrorKind::Machine, machine),
            (ErrorKind::Script, script),
            (ErrorKind::Unknown, unknown),
        ];
        let rules = kinds.map(|(kind, retry)| (kind, retry.rule()));
        Limits {
            max_attempts: self.max_attempts.max(1),
            task_timeout: ms(self.task_timeout_seconds.saturating_mul(1000)),
            retry_delay: ms(self.retry_delay_ms),
            max_retry_delay: ms(self.max_retry_delay_ms),
            max_log_length: self.max_log_length,
            retry: rules.into_iter().filter(|(_, rule)| *rule != RetryRule::default()).collect(),
            task_timeouts: self.task_timeouts.in_ms(),
            queue_timeout: ms(self.queue_timeout_seconds.saturating_mul(1000)),
            queue_timeouts: self.queue_timeouts.in_ms(),
            overdue: self.queue_timeout_action,
            max_running_tasks: self.max_running_tasks,
            // Leases have settings of their own.
            lease_warning: LeaseWarning::default(),
        }
    }
}
