//! How long tasks take, learned from those that succeeded.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use cooperage_domain::cluster::{Cluster, Event, Job, Task};
use cooperage_domain::plan::schedule;
use cooperage_domain::task::TaskName;
use cooperage_schema::{DurationHistory, DurationSample};

/// What is known of how long tasks take; shared by all clusters.
#[derive(Debug, Clone, Default)]
pub struct Estimates(Arc<RwLock<BTreeMap<String, DurationHistory>>>);

impl Estimates {
    /// From what was learned before.
    #[must_use]
    pub fn new(known: BTreeMap<String, DurationHistory>) -> Self {
        Self(Arc::new(RwLock::new(known)))
    }

    /// Adds one success.
    pub(crate) fn learn(&self, sample: &DurationSample) {
        // A thread that panicked while it held the lock left whole numbers behind: they are still the best we have.
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let history = known.entry(sample.key.clone()).or_default();
        *history = history.with(sample.ms);
    }

    /// How long a task of a cluster will take: the mean of its like, or a rule of thumb when there were none.
    #[must_use]
    pub fn of(&self, cluster: &Cluster, task: &Task) -> Duration {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let history = known.get(&key(cluster, task));
        // A mean that is no length of time (a row written by hand) says nothing.
        let mean = history.and_then(|history| Duration::try_from_secs_f64(history.mean_ms / 1000.0).ok());
        mean.unwrap_or_else(|| rule_of_thumb(task.name))
    }

    /// For each task of a job: the length of the longest path from its start to the end of the job, in ms.
    #[must_use]
    pub fn ranks(&self, cluster: &Cluster, job: &Job) -> HashMap<u32, i64> {
        let (graph, numbers) = job.graph();
        let durations = self.durations(cluster, job, &numbers);
        let ranks = schedule::ranks(&graph, &durations);
        numbers
            .into_iter()
            .zip(ranks)
            .map(|(n, rank)| (n, i64::try_from(rank.as_millis()).unwrap_or(i64::MAX)))
            .collect()
    }

    /// How long the tasks with these numbers will take.
    #[must_use]
    pub fn durations(&self, cluster: &Cluster, job: &Job, numbers: &[u32]) -> Vec<Duration> {
        let of = |number| job.tasks.get(number).map_or(Duration::ZERO, |task| self.of(cluster, task));
        numbers.iter().map(of).collect()
    }
}

/// What the success of a task teaches.
pub(crate) fn sample(cluster: &Cluster, event: &Event) -> Option<DurationSample> {
    let Event::TaskSucceeded { at, task, .. } = event else { return None };
    let task = cluster.latest_job()?.tasks.get(task)?;
    let started = task.attempts.last()?.started;
    Some(DurationSample { key: key(cluster, task), ms: (at - started).max(0) as f64 })
}

/// Tasks are alike when they do the same to the same service on the same image of the same provider.
fn key(cluster: &Cluster, task: &Task) -> String {
    let image = cluster.nodes.get(&task.node).map_or("", |node| node.properties.imagetype.as_str());
    let service = task.service.as_deref().unwrap_or("-");
    format!("{}/{service}/{image}/{}", task.name, cluster.provider.base.name)
}

/// How long a task takes when nothing is known.
const fn rule_of_thumb(name: TaskName) -> Duration {
    let ms = match name {
        TaskName::Install => 10_000,
        TaskName::Create | TaskName::Confirm | TaskName::Initialize | TaskName::Start | TaskName::Errand => {
            2_000
        }
        TaskName::Remove | TaskName::Stop | TaskName::Delete => 1_000,
        TaskName::Bootstrap | TaskName::Configure | TaskName::Probe => 500,
    };
    Duration::from_millis(ms)
}
