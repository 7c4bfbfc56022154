//! Foretelling a run: when each task starts and ends if all takes as long as expected.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::plan::graph::{Graph, PlannedTask};
use crate::plan::run::{Course, Slot, run};
use crate::plan::schedule;
use crate::plan::stages::stages;
use crate::plan::urgency::urgency;

/// How a run is expected to go. Times count from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prediction {
    /// When each task runs, by index.
    pub slots: Vec<Slot>,
    /// When the last task ends.
    pub makespan: Duration,
    /// The tasks of the longest way through the graph, first to last.
    pub critical_path: Vec<usize>,
    /// A time no schedule can beat; see [`schedule::lower_bound`].
    pub lower_bound: Duration,
    /// How [urgent](urgency) each task is, by index.
    pub urgency: Vec<Duration>,
}

/// Foretells a run of `graph` by so many workers. A task starts when everything it waits for has ended and its node and
/// a worker are free; of several the [most urgent](urgency) goes first, then the lowest index.
pub fn predict(
    graph: &Graph,
    duration: impl FnMut(&PlannedTask) -> Duration,
    workers: NonZeroUsize,
) -> Prediction {
    let durations = schedule::durations(graph, duration);
    let ranks = schedule::ranks(graph, &durations);
    let urgency = urgency(graph, &durations, workers);
    let slots = run(&Course::forward(graph), &durations, &urgency, workers);
    Prediction {
        makespan: slots.iter().map(|slot| slot.end).max().unwrap_or_default(),
        critical_path: schedule::critical_path(graph, &ranks),
        lower_bound: schedule::lower_bound(graph, &durations, workers),
        slots,
        urgency,
    }
}

/// How long the same tasks take if run by [`stages`], each stage waiting for all of the one before it; within a stage
/// the longest task goes first.
pub fn stage_makespan(
    graph: &Graph,
    duration: impl FnMut(&PlannedTask) -> Duration,
    workers: NonZeroUsize,
) -> Duration {
    let durations = schedule::durations(graph, duration);
    let mut makespan = Duration::ZERO;
    for stage in stages(graph) {
        let mut longest_first: Vec<Duration> = stage.into_iter().map(|task| durations[task]).collect();
        longest_first.sort_unstable_by(|a, b| b.cmp(a));
        // When each worker is free again; the earliest takes the next task.
        let mut free = BinaryHeap::new();
        let mut end = makespan;
        for duration in longest_first {
            let start = if free.len() < workers.get() { makespan } else { earliest(&mut free, makespan) };
            end = end.max(start.saturating_add(duration));
            free.push(Reverse(start.saturating_add(duration)));
        }
        makespan = end;
    }
    makespan
}

fn earliest(free: &mut BinaryHeap<Reverse<Duration>>, or: Duration) -> Duration {
    free.pop().map_or(or, |Reverse(at)| at)
}
