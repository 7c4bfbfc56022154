//! Which of several ready tasks goes first.
//!
//! The longest way from a task to the end says most about it, but not that the tasks on that way will have to wait for nodes
//! and workers. So the graph is run in thought, forwards and backwards in turn: how early a task ends in the run backwards
//! says how long before the end it must begin as things are, which makes a better order for the run forwards, and so on
//! (forward-backward improvement: Tormos and Lova, "A competitive heuristic solution technique for resource-constrained
//! project scheduling", Annals of Operations Research 102, 2001). The best order that was met is kept.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::plan::graph::Graph;
use crate::plan::run::{Course, Slot, run};
use crate::plan::schedule;

/// How many tasks are run in thought at most; the order of a large graph is close to the best already.
const EFFORT: usize = 100_000;
/// After so many turns that brought nothing better it is left at that.
const PATIENCE: usize = 6;

/// How urgent each task is: among ready ones the most urgent goes first. Times, which say how long before the end of the
/// run a task has to begin.
///
/// # Panics
/// If there are fewer `durations` than tasks.
#[must_use]
pub fn urgency(graph: &Graph, durations: &[Duration], workers: NonZeroUsize) -> Vec<Duration> {
    let durations = &durations[..graph.len()];
    let ranks = schedule::ranks(graph, durations);
    let turns = EFFORT / graph.len().max(1) / 2;
    let bound = schedule::lower_bound(graph, durations, workers);
    let forward = Course::forward(graph);
    let mut slots = run(&forward, durations, &ranks, workers);
    let mut best = (makespan(&slots), ranks);
    if turns == 0 || best.0 <= bound {
        return best.1;
    }
    let backward = Course::backward(graph);
    let mut idle = 0;
    for _ in 0..turns {
        let back = run(&backward, durations, &ends(&slots), workers);
        let urgency = ends(&back);
        slots = run(&forward, durations, &urgency, workers);
        idle += 1;
        if makespan(&slots) < best.0 {
            best = (makespan(&slots), urgency);
            idle = 0;
        }
        if best.0 <= bound || idle == PATIENCE {
            break;
        }
    }
    best.1
}

fn ends(slots: &[Slot]) -> Vec<Duration> {
    slots.iter().map(|slot| slot.end).collect()
}

fn makespan(slots: &[Slot]) -> Duration {
    slots.iter().map(|slot| slot.end).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::id::NodeId;
    use crate::plan::UnitId;
    use crate::task::TaskName;

    /// Tasks on a few nodes, each after some of those before it.
    fn drawn(random: &mut Rng) -> (Graph, Vec<Duration>) {
        let count = random.usize(4..30);
        let unit = |random: &mut Rng, task: usize| {
            let node = NodeId(format!("node-{}", random.u32(..4)));
            (UnitId::service(node, format!("service-{task:02}")), TaskName::Install)
        };
        let tasks = (0..count).map(|task| unit(random, task)).collect();
        let after = (0..count).map(|task| (0..task).filter(|_| random.u8(..5) == 0).collect()).collect();
        let durations = (0..count).map(|_| Duration::from_secs(random.u64(1..20))).collect();
        (Graph::new(tasks, after).unwrap(), durations)
    }

    #[test]
    fn no_order_is_worse_than_by_the_longest_way_and_some_are_better() {
        let mut random = Rng::with_seed(11);
        let mut better = 0;
        for _ in 0..300 {
            let (graph, durations) = drawn(&mut random);
            let workers = NonZeroUsize::new(random.usize(1..5)).unwrap();
            let taken =
                |urgency: &[Duration]| makespan(&run(&Course::forward(&graph), &durations, urgency, workers));
            let (ours, simple) =
                (taken(&urgency(&graph, &durations, workers)), taken(&schedule::ranks(&graph, &durations)));
            assert!(ours <= simple, "{ours:?} > {simple:?}: {graph:?} {durations:?}");
            assert!(ours >= schedule::lower_bound(&graph, &durations, workers));
            better += usize::from(ours < simple);
        }
        assert!(better > 30, "{better} of 300");
    }
}
