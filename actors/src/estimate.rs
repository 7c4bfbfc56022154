//! How long tasks take, learned from those that succeeded.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use cooperage_domain::cluster::{Cluster, Event, Job, PlannedStep, Task};
use cooperage_domain::plan::{Length, urgency};
use cooperage_domain::task::TaskName;
use cooperage_schema::{DurationHistory, DurationSample, ForeseenRow};

/// From how many on their durations say what is unusual.
const ENOUGH: u64 = 5;
/// So many standard deviations above the mean lie 95 of 100, if they are spread as usual.
const NINETY_FIVE: f64 = 1.645;
/// By how much an attempt takes longer than nearly all of its like before it is said to straggle.
const STRAGGLES: u32 = 2;

/// How long tasks of a sort took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    /// As a rule.
    pub typical: Duration,
    /// Nearly all of them (95 of 100) no longer than this.
    pub high: Duration,
}

impl Expected {
    /// How long an attempt takes before it is said to straggle; `floor` at least.
    #[must_use]
    pub fn straggles_after(&self, floor: Duration) -> Duration {
        self.high.saturating_mul(STRAGGLES).max(floor)
    }
}

/// What is known of how long tasks take; shared by all clusters.
#[derive(Debug, Clone, Default)]
pub struct Estimates(Arc<RwLock<BTreeMap<String, DurationHistory>>>, Arc<AtomicU64>);

impl Estimates {
    /// From what was learned before.
    #[must_use]
    pub fn new(known: BTreeMap<String, DurationHistory>) -> Self {
        Self(Arc::new(RwLock::new(known)), Arc::default())
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

    /// The same with how far it may be off: as far as its like were, or by half where there were fewer than two.
    #[must_use]
    pub fn length(&self, cluster: &Cluster, task: &Task) -> Length {
        let mean = self.of(cluster, task);
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let history = known.get(&key(cluster, task)).filter(|history| history.n > 0);
        let deviation = history
            .filter(|history| history.n > 1)
            .and_then(|history| Duration::try_from_secs_f64(history.deviation_ms() / 1000.0).ok());
        Length { mean, deviation: deviation.unwrap_or(mean / 2), is_known: history.is_some() }
    }

    /// How long tasks like this one took, if there were enough of them to say.
    #[must_use]
    pub fn expected(&self, cluster: &Cluster, task: &Task) -> Option<Expected> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let history = known.get(&key(cluster, task)).filter(|history| history.n >= ENOUGH)?;
        let ms = |ms: f64| Duration::try_from_secs_f64(ms / 1000.0).ok();
        let high = NINETY_FIVE.mul_add(history.deviation_ms(), history.mean_ms);
        Some(Expected { typical: ms(history.mean_ms)?, high: ms(high)? })
    }

    /// One attempt took longer than its like.
    pub(crate) fn count_straggler(&self) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }

    /// How many attempts took longer than their like since the start.
    #[must_use]
    pub fn stragglers(&self) -> u64 {
        self.1.load(Ordering::Relaxed)
    }

    /// How urgent each task of a job is: how long before its end it has to begin, in ms. Workers are taken to be enough; where
    /// they are not, the pool gives them to whoever is most urgent.
    #[must_use]
    pub fn ranks(&self, cluster: &Cluster, job: &Job) -> HashMap<u32, i64> {
        let (graph, numbers) = job.graph();
        let durations = self.durations(cluster, job, &numbers);
        let ranks = urgency(&graph, &durations, NonZeroUsize::MAX);
        numbers
            .into_iter()
            .zip(ranks)
            .map(|(n, rank)| (n, i64::try_from(rank.as_millis()).unwrap_or(i64::MAX)))
            .collect()
    }

    /// How long the tasks that come with an event are taken to need, to be held against what becomes of them.
    #[must_use]
    pub fn foreseen(&self, cluster: &Cluster, event: &Event) -> Option<ForeseenRow> {
        let (Event::JobPlanned { job, tasks, .. } | Event::JobExtended { job, tasks, .. }) = event else {
            return None;
        };
        let job = cluster.job(*job)?;
        let length = |task: &Task| u64::try_from(self.of(cluster, task).as_millis()).unwrap_or(u64::MAX);
        let of = |step: &PlannedStep| Some((step.number, length(job.tasks.get(&step.number)?)));
        ForeseenRow::new(job.id, &tasks.iter().filter_map(of).collect())
    }

    /// How long the tasks with these numbers will take.
    fn durations(&self, cluster: &Cluster, job: &Job, numbers: &[u32]) -> Vec<Duration> {
        let of = |number| job.tasks.get(number).map_or(Duration::ZERO, |task| self.of(cluster, task));
        numbers.iter().map(of).collect()
    }
}

/// What the success of a task teaches.
#[must_use]
pub fn sample(cluster: &Cluster, event: &Event) -> Option<DurationSample> {
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
