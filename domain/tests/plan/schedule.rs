//! Ranks, predictions and stages on graphs small enough to work out by hand.

use std::num::NonZeroUsize;
use std::time::Duration;

use cooperage_domain::plan::Slot;
use cooperage_domain::plan::predict::stage_makespan;
use cooperage_domain::plan::schedule::{critical_path, durations, ranks};
use cooperage_domain::plan::{Graph, PlannedTask, UnitId, predict};
use cooperage_domain::task::TaskName;

use crate::sketch::node_id;

const MANY: NonZeroUsize = NonZeroUsize::MAX;
const ONE: NonZeroUsize = NonZeroUsize::MIN;

/// A graph of tasks `(node, seconds, after)`, given in topological order, and how long each takes.
fn graph(tasks: &[(&str, u64, &[usize])]) -> (Graph, impl Fn(&PlannedTask) -> Duration) {
    let units = tasks
        .iter()
        .enumerate()
        .map(|(at, (node, ..))| (UnitId::service(node_id(node), at.to_string()), TaskName::Start));
    let graph =
        Graph::new(units.collect(), tasks.iter().map(|(.., after)| after.to_vec()).collect()).unwrap();
    let seconds: Vec<u64> = tasks.iter().map(|&(_, seconds, _)| seconds).collect();
    (graph, move |task: &PlannedTask| {
        Duration::from_secs(seconds[task.service.as_ref().unwrap().parse::<usize>().unwrap()])
    })
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn slot(start: u64, end: u64) -> Slot {
    Slot { start: secs(start), end: secs(end) }
}

#[test]
fn a_rank_is_the_longest_way_to_the_end_with_the_task_itself() {
    let (graph, of) = graph(&[("a", 1, &[]), ("b", 5, &[0]), ("c", 2, &[0]), ("d", 3, &[1, 2])]);
    let durations = durations(&graph, of);
    let ranks = ranks(&graph, &durations);
    assert_eq!(ranks, [secs(9), secs(8), secs(5), secs(3)]);
    assert_eq!(critical_path(&graph, &ranks), [0, 1, 3]);
}

#[test]
fn the_longest_way_goes_first_when_workers_are_few() {
    // The first task is short and leads nowhere, the second has a long way behind it.
    let (graph, of) = graph(&[("a", 2, &[]), ("b", 1, &[]), ("b", 9, &[1])]);
    let prediction = predict(&graph, &of, ONE);
    assert_eq!(prediction.slots, [slot(10, 12), slot(0, 1), slot(1, 10)]);
    let prediction = predict(&graph, &of, MANY);
    assert_eq!(prediction.slots, [slot(0, 2), slot(0, 1), slot(1, 10)]);
    assert_eq!((prediction.makespan, prediction.lower_bound), (secs(10), secs(10)));
}

#[test]
fn a_node_runs_one_task_at_a_time_the_most_urgent_first() {
    let (graph, of) = graph(&[("a", 1, &[]), ("a", 2, &[]), ("a", 3, &[]), ("b", 3, &[1])]);
    let prediction = predict(&graph, of, MANY);
    assert_eq!(prediction.slots, [slot(5, 6), slot(0, 2), slot(2, 5), slot(2, 5)]);
    assert_eq!(prediction.lower_bound, secs(6));
}

#[test]
fn a_busy_node_leaves_the_worker_to_others() {
    let (graph, of) = graph(&[("a", 4, &[]), ("a", 4, &[]), ("b", 1, &[])]);
    let two = NonZeroUsize::new(2).unwrap();
    assert_eq!(predict(&graph, of, two).slots, [slot(0, 4), slot(4, 8), slot(0, 1)]);
}

#[test]
fn stages_wait_for_their_slowest_task() {
    let (graph, of) = graph(&[("a", 9, &[]), ("b", 1, &[]), ("a", 1, &[0]), ("b", 9, &[1])]);
    assert_eq!(predict(&graph, &of, MANY).makespan, secs(10));
    assert_eq!(stage_makespan(&graph, &of, MANY), secs(18));
    assert_eq!(stage_makespan(&graph, &of, ONE), secs(20));
}

#[test]
fn nothing_takes_no_time() {
    let prediction = predict(&Graph::default(), |_| secs(1), ONE);
    assert_eq!((prediction.makespan, prediction.lower_bound), (Duration::ZERO, Duration::ZERO));
    assert!(prediction.slots.is_empty() && prediction.critical_path.is_empty());
    assert_eq!(stage_makespan(&Graph::default(), |_| secs(1), ONE), Duration::ZERO);
}
