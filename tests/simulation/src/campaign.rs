//! Many seeds, on all processors, until one breaks an invariant.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::checkers::Violation;
use crate::coverage::Coverage;
use crate::kernel;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::shrink;

/// How much of the system is real.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The kernel.
    Kernel,
    /// The whole server.
    #[cfg(feature = "server")]
    Server,
}

impl Level {
    /// Runs a plan.
    #[must_use]
    pub fn run(self, plan: &Plan) -> Outcome {
        match self {
            Self::Kernel => kernel::run(plan),
            #[cfg(feature = "server")]
            Self::Server => crate::server::run(plan),
        }
    }

    /// As it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            #[cfg(feature = "server")]
            Self::Server => "server",
        }
    }
}

/// Which seeds are run, and for how long.
#[derive(Debug, Clone)]
pub struct Campaign {
    /// The first seed.
    pub first: u64,
    /// How many; without a number as many as there is time for.
    pub seeds: Option<u64>,
    /// How long; without a time until all have run.
    pub time: Option<Duration>,
    /// At which level.
    pub level: Level,
    /// On how many processors at once.
    pub threads: usize,
}

/// How long a test runs seeds that nobody gave more time.
const SHORT: Duration = Duration::from_secs(25);

/// Bounds of a test's campaign: so many seeds, in less than half a minute. With `SIMULATION_SEEDS` in the environment it
/// runs so many, however long that takes, and begins with `SIMULATION_SEED`.
#[must_use]
pub fn bounds(seeds: u64) -> (u64, Option<u64>, Option<Duration>) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("SIMULATION_SEED").unwrap_or(0);
    match number("SIMULATION_SEEDS") {
        Some(seeds) => (first, Some(seeds), None),
        None => (first, Some(seeds), Some(SHORT)),
    }
}

/// What came of it.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// At which level.
    pub level: Level,
    /// Seeds that were run, from the first one on.
    pub seeds: u64,
    /// How long it took, in ms.
    pub milliseconds: u64,
    /// What was covered.
    pub coverage: Coverage,
    /// The seed with the lowest number that broke something.
    pub failure: Option<Failure>,
}

/// A run that broke an invariant.
#[derive(Debug, Clone, Serialize)]
pub struct Failure {
    /// At which level.
    pub level: Level,
    /// What did not hold, in the shortest run.
    pub violation: Violation,
    /// The shortest part of the seed's run that breaks the same invariant.
    pub plan: Plan,
}

impl Failure {
    /// From a run that failed: shrinks it.
    #[must_use]
    pub fn shrunk(level: Level, plan: &Plan, violation: Violation) -> Self {
        let short = shrink::plan(plan, &violation.invariant, &mut |plan| level.run(plan));
        let violation = level.run(&short).violation.unwrap_or(violation);
        Self { level, violation, plan: short }
    }
}

fn list<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seed, level) = (self.plan.seed, self.level.as_str());
        let (faults, operations) = (list(&self.plan.faults), list(&self.plan.steps));
        writeln!(f, "seed {seed} breaks an invariant ({level} level)")?;
        writeln!(f, "  invariant:  {}", self.violation.invariant)?;
        writeln!(f, "  seen:       {}", self.violation.what)?;
        writeln!(f, "  faults:     {faults}")?;
        writeln!(f, "  operations: {operations}")?;
        write!(
            f,
            "again:  cooperage simulate --seed {seed} --level {level} --faults '{faults}' --operations '{operations}'"
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = Duration::from_millis(self.milliseconds).as_secs_f64();
        let (seeds, level) = (self.seeds, self.level.as_str());
        writeln!(f, "{seeds} seeds at the {level} level in {seconds:.1} s")?;
        write!(f, "{}", self.coverage)?;
        match &self.failure {
            Some(failure) => write!(f, "\n{failure}"),
            None => Ok(()),
        }
    }
}

/// What the threads of a campaign share.
struct Progress {
    next: AtomicU64,
    coverage: Mutex<Coverage>,
    failed: Mutex<Option<(Plan, Violation)>>,
}

impl Campaign {
    /// Runs it.
    #[must_use]
    pub fn run(&self) -> Report {
        let begun = Instant::now();
        let progress = Progress {
            next: AtomicU64::new(self.first),
            coverage: Mutex::default(),
            failed: Mutex::default(),
        };
        thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                scope.spawn(|| self.work(&progress, begun));
            }
        });
        let coverage = progress.coverage.into_inner().unwrap_or_else(PoisonError::into_inner);
        let failed = progress.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        Report {
            level: self.level,
            seeds: coverage.runs,
            milliseconds: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            coverage,
            failure: failed.map(|(plan, violation)| Failure::shrunk(self.level, &plan, violation)),
        }
    }

    fn work(&self, progress: &Progress, begun: Instant) {
        let lock = || progress.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut coverage = Coverage::default();
        while self.time.is_none_or(|time| begun.elapsed() < time) && lock().is_none() {
            let seed = progress.next.fetch_add(1, Ordering::Relaxed);
            if self.seeds.is_some_and(|seeds| seed - self.first >= seeds) {
                break;
            }
            let plan = Plan::draw(seed);
            let outcome = self.level.run(&plan);
            coverage.add(&outcome.coverage);
            if let Some(violation) = outcome.violation {
                let mut failed = lock();
                if failed.as_ref().is_none_or(|(other, _)| seed < other.seed) {
                    *failed = Some((plan, violation));
                }
            }
        }
        progress.coverage.lock().unwrap_or_else(PoisonError::into_inner).add(&coverage);
    }
}
