//! How long a run may take: not one number, but the time that half of all runs and nine of ten stay within.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::plan::graph::Graph;
use crate::plan::run::{Course, run};

/// Runs that are tried for a small graph.
const MOST_RUNS: usize = 300;
/// Runs that are tried however large the graph is.
const FEWEST_RUNS: usize = 25;
/// How many tasks are run in all, as far as the two above allow: a preview is to take no longer than a moment.
const TASKS_IN_ALL: usize = 300_000;
/// Where chance begins. Always the same, so that the same plan is always foretold the same.
const SEED: u64 = 0x636f_6f70;

/// How long a task takes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Length {
    /// On average.
    pub mean: Duration,
    /// Standard deviation.
    pub deviation: Duration,
    /// Whether this was learned, and is not a rule of thumb.
    pub is_known: bool,
}

/// How long a run takes, from its start to the end of its last task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spread {
    /// Half of all runs take no longer.
    pub p50: Duration,
    /// Nine of ten take no longer.
    pub p90: Duration,
}

/// Tries many runs of `graph` by so many workers, each with other lengths of its tasks, in the order of an
/// [`urgency`](super::urgency()) that was decided before: by what is expected, not by what comes. Lengths are taken to be
/// log-normal: they are never negative, and now and then one takes much longer. The same graph and lengths always give
/// the same answer.
///
/// # Panics
/// If there are fewer `lengths` or `urgency` than tasks.
#[must_use]
pub fn spread(graph: &Graph, lengths: &[Length], urgency: &[Duration], workers: NonZeroUsize) -> Spread {
    if graph.is_empty() {
        return Spread::default();
    }
    let course = Course::forward(graph);
    let shapes: Vec<Shape> = lengths.iter().map(Shape::of).collect();
    let runs = (TASKS_IN_ALL / graph.len()).clamp(FEWEST_RUNS, MOST_RUNS);
    let mut chance = Chance(fastrand::Rng::with_seed(SEED));
    let mut makespans: Vec<Duration> = (0..runs)
        .map(|_| {
            let drawn: Vec<Duration> = shapes.iter().map(|shape| shape.draw(&mut chance)).collect();
            run(&course, &drawn, urgency, workers).iter().map(|slot| slot.end).max().unwrap_or_default()
        })
        .collect();
    makespans.sort_unstable();
    let quantile = |percent: usize| {
        let place = (makespans.len() * percent).div_ceil(100).saturating_sub(1);
        makespans.get(place).copied().unwrap_or_default()
    };
    Spread { p50: quantile(50), p90: quantile(90) }
}

/// A log-normal distribution: mean and deviation of the logarithm.
#[derive(Debug, Clone, Copy)]
struct Shape {
    location: f64,
    scale: f64,
}

impl Shape {
    /// The one with this mean and deviation.
    fn of(length: &Length) -> Self {
        let (mean, deviation) = (length.mean.as_secs_f64(), length.deviation.as_secs_f64());
        if mean <= 0.0 {
            return Self { location: f64::NEG_INFINITY, scale: 0.0 };
        }
        let relative = deviation / mean;
        let variance = relative.mul_add(relative, 1.0).ln();
        Self { location: mean.ln() - variance / 2.0, scale: variance.sqrt() }
    }

    fn draw(self, chance: &mut Chance) -> Duration {
        let seconds = self.scale.mul_add(chance.normal(), self.location).exp();
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

/// Where random numbers come from.
struct Chance(fastrand::Rng);

impl Chance {
    /// One of the standard normal distribution (Box and Muller).
    fn normal(&mut self) -> f64 {
        // The logarithm of 0 is none: 1 - x is in (0, 1].
        let radius = (-2.0 * (1.0 - self.0.f64()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.0.f64()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::NodeId;
    use crate::plan::UnitId;
    use crate::task::TaskName;

    fn workers(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).unwrap()
    }

    /// A chain on one node, or as many tasks side by side.
    fn graph(tasks: usize, is_chain: bool) -> Graph {
        let unit = |n: usize| UnitId::machine(NodeId(format!("n{n}")));
        let all = (0..tasks).map(|n| (unit(if is_chain { 0 } else { n }), TaskName::Create)).collect();
        let after = (0..tasks).map(|n| if is_chain && n > 0 { vec![n - 1] } else { Vec::new() }).collect();
        Graph::new(all, after).unwrap()
    }

    /// In the order that the means ask for.
    fn spread(graph: &Graph, lengths: &[Length], workers: NonZeroUsize) -> Spread {
        let means: Vec<Duration> = lengths.iter().map(|length| length.mean).collect();
        super::spread(graph, lengths, &crate::plan::urgency(graph, &means, workers), workers)
    }

    fn length(mean: u64, deviation: u64) -> Length {
        let ms = Duration::from_millis;
        Length { mean: ms(mean), deviation: ms(deviation), is_known: true }
    }

    fn is_near(time: Duration, ms: f64) -> bool {
        (time.as_secs_f64() * 1000.0 / ms - 1.0).abs() < 0.08
    }

    #[test]
    fn without_deviation_every_run_takes_the_same() {
        let spread = spread(&graph(4, true), &[length(1000, 0); 4], workers(9));
        assert!(is_near(spread.p50, 4000.0) && is_near(spread.p90, 4000.0), "{spread:?}");
    }

    #[test]
    fn the_quantiles_of_one_task_are_those_of_its_distribution() {
        // ln(1 + 0.5²) = 0.2231, so the scale is 0.4724: half within mean / sqrt(1.25), nine of ten within e^(1.2816 · 0.4724)
        // times that.
        let spread = spread(&graph(1, true), &[length(10_000, 5_000)], workers(1));
        assert!(is_near(spread.p50, 8944.0) && is_near(spread.p90, 16_385.0), "{spread:?}");
    }

    #[test]
    fn side_by_side_the_slowest_counts_and_one_after_the_other_they_level_out() {
        let lengths = [length(1000, 500); 16];
        let beside = spread(&graph(16, false), &lengths, workers(16));
        let behind = spread(&graph(16, true), &lengths, workers(16));
        assert!(beside.p50 > Duration::from_millis(1700), "{beside:?}");
        assert!(is_near(behind.p50, 16_000.0), "{behind:?}");
        let relative = behind.p90.as_secs_f64() / behind.p50.as_secs_f64();
        assert!(relative < 1.25, "{relative}");
    }

    #[test]
    fn the_same_is_always_foretold_the_same_and_large_graphs_take_a_moment() {
        let (graph, lengths) = (graph(9_000, false), [length(1000, 500); 9_000]);
        let first = spread(&graph, &lengths, workers(50));
        assert_eq!(spread(&graph, &lengths, workers(50)), first);
        assert_eq!(spread(&Graph::default(), &[], workers(1)), Spread::default());
    }
}
