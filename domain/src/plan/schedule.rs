//! Which task matters most: ranks, the critical path, and how fast a graph can be done at best.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::plan::graph::{Graph, PlannedTask};

/// How long each task of `graph` takes, asked once per task.
pub fn durations(graph: &Graph, of: impl FnMut(&PlannedTask) -> Duration) -> Vec<Duration> {
    graph.tasks().iter().map(of).collect()
}

/// The upward rank of each task: how long the longest way from its start to the end of the graph takes, itself included.
/// Among ready tasks the one with the highest rank goes first.
///
/// # Panics
/// If there are fewer `durations` than tasks.
#[must_use]
pub fn ranks(graph: &Graph, durations: &[Duration]) -> Vec<Duration> {
    let mut ranks = durations[..graph.len()].to_vec();
    // `ranks` holds what is known of a task so far; it is final once all that wait for the task have been seen.
    for task in graph.tasks().iter().rev() {
        for &awaited in &task.after {
            ranks[awaited] = ranks[awaited].max(durations[awaited].saturating_add(ranks[task.index]));
        }
    }
    ranks
}

/// The tasks of the longest way through the graph, first to last; of equals the first.
///
/// # Panics
/// If `ranks` are not those of `graph`.
#[must_use]
pub fn critical_path(graph: &Graph, ranks: &[Duration]) -> Vec<usize> {
    let longest = |tasks: &mut dyn Iterator<Item = usize>| {
        tasks.reduce(|best, task| if ranks[task] > ranks[best] { task } else { best })
    };
    let successors = graph.successors();
    let mut path = Vec::new();
    let mut next = longest(&mut (0..graph.len()).filter(|&task| graph.tasks()[task].after.is_empty()));
    while let Some(task) = next {
        path.push(task);
        next = longest(&mut successors[task].iter().copied());
    }
    path
}

/// A time no schedule can beat: the critical path, all the work of the busiest node, or all work shared evenly by the
/// workers, whichever is longest.
///
/// # Panics
/// If there are fewer `durations` than tasks.
#[must_use]
pub fn lower_bound(graph: &Graph, durations: &[Duration], workers: NonZeroUsize) -> Duration {
    let path = ranks(graph, durations).into_iter().max().unwrap_or_default();
    let lanes = graph.lanes();
    let mut busy = vec![Duration::ZERO; lanes.iter().max().map_or(0, |lane| lane + 1)];
    let mut work = Duration::ZERO;
    for (lane, duration) in lanes.into_iter().zip(durations) {
        busy[lane] = busy[lane].saturating_add(*duration);
        work = work.saturating_add(*duration);
    }
    let busiest = busy.into_iter().max().unwrap_or_default();
    // More workers than nodes change nothing; the division rounds down, so the bound stays one.
    let shared = work / u32::try_from(workers.get()).unwrap_or(u32::MAX);
    path.max(busiest).max(shared)
}
