//! How long tasks take: the history that predictions are made from.
//!
//! For each key (the caller's: task name, service, image, provider…) three numbers are kept, from which mean and variance
//! follow at any time (Welford's method), so history costs no more room however long it gets.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use diesel::prelude::*;

use crate::bulk::Holds::{Int, Real, Text};
use crate::bulk::{Insert, Present};
use crate::engine::Engine;
use crate::error::StoreError;
use crate::sql::Value;
use crate::store::Store;
use crate::tables::task_durations;

/// One task of a sort took this long.
#[derive(Debug, Clone, PartialEq)]
pub struct DurationSample {
    /// Which sort of task.
    pub key: String,
    /// How long it took, in milliseconds.
    pub ms: f64,
}

/// What is known of how long tasks of a sort take.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DurationHistory {
    /// How many were seen.
    pub n: u64,
    /// Their mean, in milliseconds.
    pub mean_ms: f64,
    /// The sum of the squared deviations from the mean.
    pub m2: f64,
}

impl DurationHistory {
    /// With one more.
    #[must_use]
    pub fn with(self, ms: f64) -> Self {
        let n = self.n + 1;
        let delta = ms - self.mean_ms;
        let mean_ms = self.mean_ms + delta / n as f64;
        Self { n, mean_ms, m2: delta.mul_add(ms - mean_ms, self.m2) }
    }

    /// The standard deviation in milliseconds; 0 below two samples.
    #[must_use]
    pub fn deviation_ms(&self) -> f64 {
        if self.n < 2 { 0.0 } else { (self.m2 / (self.n - 1) as f64).sqrt() }
    }
}

/// Joins two histories inside the database (Chan's formula); `excluded` is the one that comes in. Every right side sees the
/// values from before the statement.
const MERGE: &str = "n = task_durations.n + excluded.n, \
    mean_ms = task_durations.mean_ms \
      + (excluded.mean_ms - task_durations.mean_ms) * excluded.n / (task_durations.n + excluded.n), \
    m2 = task_durations.m2 + excluded.m2 \
      + (excluded.mean_ms - task_durations.mean_ms) * (excluded.mean_ms - task_durations.mean_ms) \
      * task_durations.n * excluded.n / (task_durations.n + excluded.n)";

static DURATIONS: LazyLock<Insert<task_durations::table>> = LazyLock::new(|| {
    Insert::new(
        "task_durations",
        &[("key", Text), ("n", Int), ("mean_ms", Real), ("m2", Real)],
        Present::Merge { key: &["key"], set: MERGE },
    )
});

/// Adds samples, one row per key. Keys are written in their order, so that two servers never wait for each other's rows
/// crosswise.
pub(crate) fn record<'a>(
    engine: &mut Engine,
    samples: impl Iterator<Item = &'a DurationSample>,
) -> QueryResult<()> {
    let mut histories: BTreeMap<&str, DurationHistory> = BTreeMap::new();
    for sample in samples {
        let history = histories.entry(&sample.key).or_default();
        *history = history.with(sample.ms);
    }
    let values: Vec<Value<'_>> = histories
        .iter()
        .flat_map(|(key, history)| {
            [
                Value::text(key),
                Value::unsigned(history.n),
                Value::Real(Some(history.mean_ms)),
                Value::Real(Some(history.m2)),
            ]
        })
        .collect();
    DURATIONS.run(engine, &values)
}

impl Store {
    /// Everything known, by key.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn durations(&self) -> Result<BTreeMap<String, DurationHistory>, StoreError> {
        let rows: Vec<(String, i64, f64, f64)> =
            self.read(|engine| Ok(task_durations::table.load(engine)?))?;
        Ok(rows
            .into_iter()
            .map(|(key, n, mean_ms, m2)| (key, DurationHistory { n: n.unsigned_abs(), mean_ms, m2 }))
            .collect())
    }

    /// Adds samples outside of an append. Blocks until they are durable.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_durations(&self, samples: Vec<DurationSample>) -> Result<(), StoreError> {
        self.write(move |engine| Ok(record(engine, samples.iter())?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_are_those_of_the_samples() {
        let history = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]
            .into_iter()
            .fold(DurationHistory::default(), DurationHistory::with);
        assert_eq!((history.n, history.mean_ms), (8, 5.0));
        assert!((history.m2 - 32.0).abs() < 1e-9, "{}", history.m2);
        assert!((history.deviation_ms() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-9);
    }
}
