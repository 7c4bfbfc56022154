//! A run of a graph in simulated time, where a node does one task at a time and workers are few.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::plan::graph::Graph;

/// When a task runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Slot {
    /// When it starts.
    pub start: Duration,
    /// When it ends.
    pub end: Duration,
}

/// What waits for what, in one direction of time.
pub(super) struct Course {
    /// The node of each task, as a number.
    lanes: Vec<usize>,
    /// What each task releases.
    releases: Vec<Vec<usize>>,
    /// How many tasks each task waits for.
    awaits: Vec<usize>,
}

impl Course {
    /// From the first tasks to the last.
    pub(super) fn forward(graph: &Graph) -> Self {
        let awaits = graph.tasks().iter().map(|task| task.after.len()).collect();
        Self { lanes: graph.lanes(), releases: graph.successors(), awaits }
    }

    /// From the last tasks to the first.
    pub(super) fn backward(graph: &Graph) -> Self {
        let awaits = graph.successors().iter().map(Vec::len).collect();
        let releases = graph.tasks().iter().map(|task| task.after.clone()).collect();
        Self { lanes: graph.lanes(), releases, awaits }
    }
}

/// When each task runs, by index: when everything it waits for has ended and its node and a worker are free; of several
/// the most urgent goes first, then the lowest index. In O((V + E) log V).
pub(super) fn run(
    course: &Course,
    durations: &[Duration],
    urgency: &[Duration],
    workers: NonZeroUsize,
) -> Vec<Slot> {
    let nodes = course.lanes.iter().max().map_or(0, |lane| lane + 1);
    let run = Run {
        course,
        durations,
        urgency,
        missing: course.awaits.clone(),
        ready: vec![BinaryHeap::new(); nodes],
        busy: vec![false; nodes],
        offers: BinaryHeap::new(),
        running: BinaryHeap::new(),
        free_workers: workers.get(),
        slots: vec![None; course.awaits.len()],
    };
    run.slots()
}

/// What decides which task goes first: its urgency, then the index, lowest first.
type Claim = (Duration, Reverse<usize>);

struct Run<'a> {
    course: &'a Course,
    durations: &'a [Duration],
    urgency: &'a [Duration],
    /// How many tasks each task still waits for.
    missing: Vec<usize>,
    /// Per node the tasks that are ready.
    ready: Vec<BinaryHeap<Claim>>,
    /// Per node whether a task runs on it.
    busy: Vec<bool>,
    /// Tasks that were ready while their node was free. One may meanwhile have started, or its node be busy: it is
    /// passed over then, and its node offers its most urgent task again when it is free.
    offers: BinaryHeap<Claim>,
    /// What runs, by its end.
    running: BinaryHeap<Reverse<(Duration, usize)>>,
    free_workers: usize,
    slots: Vec<Option<Slot>>,
}

impl Run<'_> {
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
        let claim = (self.urgency[task], Reverse(task));
        let lane = self.course.lanes[task];
        self.ready[lane].push(claim);
        if !self.busy[lane] {
            self.offers.push(claim);
        }
    }

    fn start(&mut self, now: Duration) {
        while self.free_workers > 0
            && let Some((_, Reverse(task))) = self.offers.pop()
        {
            let lane = self.course.lanes[task];
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
        let lane = self.course.lanes[task];
        self.busy[lane] = false;
        let course = self.course;
        for &waiting in &course.releases[task] {
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
