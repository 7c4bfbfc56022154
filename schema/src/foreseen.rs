//! How long the tasks of a job were taken to need when they were planned. What is learned later, of this very job too, changes
//! nothing of it: what was planned is held against what became of it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use cooperage_domain::id::{ClusterId, JobId};
use diesel::prelude::*;

use crate::bulk::Holds::{Int, Text};
use crate::bulk::{Insert, Present};
use crate::error::StoreError;
use crate::sql::Value;
use crate::store::Store;
use crate::tables::foreseen;

/// What was foreseen of tasks that were planned together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeseenRow {
    job: JobId,
    /// The first of them, by number: a job that is extended has several rows.
    first: u32,
    tasks: String,
}

impl ForeseenRow {
    /// For each task of a job, by number, how long it was taken to need, in ms; `None` where there is no task.
    #[must_use]
    pub fn new(job: JobId, tasks: &BTreeMap<u32, u64>) -> Option<Self> {
        let first = *tasks.keys().next()?;
        // Numbers always become JSON.
        let tasks = serde_json::to_string(tasks).unwrap_or_default();
        Some(Self { job, first, tasks })
    }

    /// The cluster that it is of.
    pub(crate) const fn cluster(&self) -> ClusterId {
        self.job.cluster
    }

    pub(crate) fn values(&self) -> [Value<'_>; 4] {
        [
            Value::unsigned(self.job.cluster.0),
            Value::int(self.job.number.into()),
            Value::int(self.first.into()),
            Value::text(&self.tasks),
        ]
    }
}

pub(crate) static FORESEEN: LazyLock<Insert<foreseen::table>> = LazyLock::new(|| {
    Insert::new(
        "foreseen",
        &[("cluster", Int), ("job", Int), ("first", Int), ("tasks", Text)],
        Present::Replace { key: &["cluster", "job", "first"] },
    )
});

impl Store {
    /// What was foreseen of the tasks of a cluster, or of one of its jobs: for each, by number, how long it was taken to need when it
    /// was planned, in ms. Jobs that were planned before this was kept have nothing here.
    ///
    /// # Errors
    /// When the database cannot be read, or holds what cannot be understood.
    pub fn foreseen(&self, cluster: ClusterId, job: Option<JobId>) -> Result<BTreeMap<u32, u64>, StoreError> {
        let rows: Vec<String> = self.read(|engine| {
            let mine = foreseen::table.filter(foreseen::cluster.eq(cluster.0.cast_signed()));
            let all = mine.select(foreseen::tasks);
            Ok(match job {
                None => all.load(engine)?,
                Some(job) => all.filter(foreseen::job.eq(i64::from(job.number))).load(engine)?,
            })
        })?;
        let mut tasks = BTreeMap::new();
        for text in &rows {
            let some: BTreeMap<u32, u64> = serde_json::from_str(text)
                .map_err(|fault| StoreError::corrupt("column foreseen.tasks", fault))?;
            tasks.extend(some);
        }
        Ok(tasks)
    }
}
