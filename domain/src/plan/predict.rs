//! Foretelling a run: when each task starts and ends if all takes as long as expected.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::plan::graph::{Graph, PlannedTask};
use crate::plan::schedule;
use crate::plan::stages::stages;

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
}

/// When a task runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Slot {
    /// When it starts.
    pub start: Duration,
    /// When it ends.
    pub end: Duration,
}

/// Foretells a run of `graph` by so many workers. A task starts when everything it waits for has ended and its node and
/// a worker are free; of several the one with the highest [rank](schedule::ranks) goes first, then the lowest index.
/// In O((V + E) log V).
pub fn predict(
    graph: &Graph,
    duration: impl FnMut(&PlannedTask) -> Duration,
    workers: NonZeroUsize,
) -> Prediction {
    let durations = schedule::durations(graph, duration);
    let ranks = schedule::ranks(graph, &durations);
    let slots = Run::new(graph, &durations, &ranks, workers).slots();
    Prediction {
        makespan: slots.iter().map(|slot| slot.end).max().unwrap_or_default(),
        critical_path: schedule::critical_path(graph, &ranks),
        lower_bound: schedule::lower_bound(graph, &durations, workers),
        slots,
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

/// What decides which task goes first: the rank, then the index, lowest first.
type Urgency = (Duration, Reverse<usize>);

/// A run in simulated time.
struct Run<'a> {
    durations: &'a [Duration],
    ranks: &'a [Duration],
    /// The node of each task, as a number.
    lanes: Vec<usize>,
    successors: Vec<Vec<usize>>,
    /// How many tasks each task still waits for.
    missing: Vec<usize>,
    /// Per node the tasks that are ready.
    ready: Vec<BinaryHeap<Urgency>>,
    /// Per node whether a task runs on it.
    busy: Vec<bool>,
    /// Tasks that were ready while their node was free. One may meanwhile have started, or its node be busy: it is
    /// passed over then, and its node offers its most urgent task again when it is free.
    offers: BinaryHeap<Urgency>,
    /// What runs, by its end.
    running: BinaryHeap<Reverse<(Duration, usize)>>,
    free_workers: usize,
    slots: Vec<Option<Slot>>,
}

impl<'a> Run<'a> {
    fn new(graph: &Graph, durations: &'a [Duration], ranks: &'a [Duration], workers: NonZeroUsize) -> Self {
        let lanes = graph.lanes();
        let nodes = lanes.iter().max().map_or(0, |lane| lane + 1);
        Self {
            durations,
            ranks,
            lanes,
            successors: graph.successors(),
            missing: graph.tasks().iter().map(|task| task.after.len()).collect(),
            ready: vec![BinaryHeap::new(); nodes],
            busy: vec![false; nodes],
            offers: BinaryHeap::new(),
            running: BinaryHeap::new(),
            free_workers: workers.get(),
            slots: vec![None; graph.len()],
        }
    }

    fn slots(mut self) -> Vec<Slot> {
        for task in 0..self.missing.len() {
            if self.missing[task] == 0 {
                self.make_ready(task);
            }
        }
        self.start(Duration::ZERO);
        while let Some(Reverse((now, task))) = self.running.pop() {
            self.end(task);
            // Everything that ends now frees its worker before any is given to a new task.
            while let Some(&Reverse((at, task))) = self.running.peek()
                && at == now
            {
                self.running.pop();
                self.end(task);
            }
            self.start(now);
        }
        self.slots.into_iter().flatten().collect()
    }

    fn make_ready(&mut self, task: usize) {
        let urgency = (self.ranks[task], Reverse(task));
        let lane = self.lanes[task];
        self.ready[lane].push(urgency);
        if !self.busy[lane] {
            self.offers.push(urgency);
        }
    }

    fn start(&mut self, now: Duration) {
        while self.free_workers > 0
            && let Some((_, Reverse(task))) = self.offers.pop()
        {
            let lane = self.lanes[task];
            if self.busy[lane] || self.slots[task].is_some() {
                continue;
            }
            let end = now.saturating_add(self.durations[task]);
            self.slots[task] = Some(Slot { start: now, end });
            self.running.push(Reverse((end, task)));
            self.busy[lane] = true;
            self.free_workers -= 1;
        }
    }

    fn end(&mut self, task: usize) {
        self.free_workers += 1;
        let lane = self.lanes[task];
        self.busy[lane] = false;
        for waiting in std::mem::take(&mut self.successors[task]) {
            self.missing[waiting] -= 1;
            if self.missing[waiting] == 0 {
                self.make_ready(waiting);
            }
        }
        while let Some(&(_, Reverse(next))) = self.ready[lane].peek() {
            if self.slots[next].is_none() {
                self.offers.extend(self.ready[lane].peek());
                break;
            }
            self.ready[lane].pop();
        }
    }
}
