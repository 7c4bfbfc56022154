//! How fast a graph can be done at best, where a node does one task at a time.
//!
//! The longest way through the graph is not all that keeps a task from the end: whatever its node has to do meanwhile takes its
//! time too, in any order.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::plan::graph::Graph;
use crate::plan::schedule;

/// A time no schedule can beat, closer to what is possible than [`schedule::lower_bound`]: of all tasks of a node that cannot
/// begin before some time, and leave at least some time to the end, the last one ends no sooner than all of them take.
///
/// # Panics
/// If there are fewer `durations` than tasks.
#[must_use]
pub fn lower_bound(graph: &Graph, durations: &[Duration], workers: NonZeroUsize) -> Duration {
    let lanes = graph.lanes();
    let before = graph.tasks().iter().map(|task| task.after.clone()).collect();
    let heads = Sight { durations, lanes: lanes.clone(), next: before }.times(0..graph.len());
    let tails =
        Sight { durations, lanes: lanes.clone(), next: graph.successors() }.times((0..graph.len()).rev());
    let mut of_lane: Vec<Vec<usize>> = vec![Vec::new(); lanes.iter().max().map_or(0, |lane| lane + 1)];
    for (task, lane) in lanes.into_iter().enumerate() {
        of_lane[lane].push(task);
    }
    let busiest = of_lane.iter().map(|tasks| {
        let starts: BTreeSet<Duration> = tasks.iter().map(|&task| heads[task]).collect();
        let from = |start: &Duration| {
            let work = tasks.iter().filter(|&&task| heads[task] >= *start);
            start.saturating_add(one_by_one(work.map(|&task| (durations[task], tails[task])).collect()))
        };
        starts.iter().map(from).max().unwrap_or_default()
    });
    busiest.max().unwrap_or_default().max(schedule::lower_bound(graph, durations, workers))
}

/// How long tasks take that are done one after the other, each with what comes after it: longest first.
fn one_by_one(mut tasks: Vec<(Duration, Duration)>) -> Duration {
    tasks.sort_unstable_by_key(|(_, then)| Reverse(*then));
    let mut work = Duration::ZERO;
    let ends = tasks.into_iter().map(|(duration, then)| {
        work = work.saturating_add(duration);
        work.saturating_add(then)
    });
    ends.max().unwrap_or_default()
}

/// Tasks in one direction of time.
struct Sight<'a> {
    durations: &'a [Duration],
    lanes: Vec<usize>,
    /// What comes next after each task, in this direction.
    next: Vec<Vec<usize>>,
}

impl Sight<'_> {
    /// How much time is left beyond each task at least; `order` comes to each after all that are next to it.
    fn times(&self, order: impl Iterator<Item = usize>) -> Vec<Duration> {
        let mut times = vec![Duration::ZERO; self.next.len()];
        // Per task, those of its own node that lie beyond it.
        let mut own: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.next.len()];
        for task in order {
            let way = self.next[task].iter().map(|&next| self.durations[next].saturating_add(times[next]));
            let way = way.max().unwrap_or_default();
            let mut beyond = BTreeSet::new();
            for &next in self.next[task].iter().filter(|&&next| self.lanes[next] == self.lanes[task]) {
                beyond.insert(next);
                beyond.extend(own[next].iter().copied());
            }
            let work =
                one_by_one(beyond.iter().map(|&other| (self.durations[other], times[other])).collect());
            times[task] = way.max(work);
            own[task] = beyond;
        }
        times
    }
}
