//! Lines that a worker elsewhere sends while its task runs, each counted once.

use super::Handover;
use crate::provisioner::Execution;

/// Lines of an execution have come.
#[derive(Debug, Clone)]
pub struct AcceptLines {
    /// Which execution.
    pub execution: Execution,
    /// Who carries it out.
    pub worker: String,
    /// Number of the first line, from 0.
    pub first: u64,
    /// How many there are.
    pub lines: u64,
}

impl Handover {
    /// How many of these lines were there already, and the number of the line that comes next; `None` when the worker does
    /// not hold the task, or not yet again after a restart.
    #[must_use]
    pub fn accept_lines(&self, accept: &AcceptLines) -> Option<(u64, u64)> {
        let AcceptLines { execution, worker, first, lines } = accept;
        let mut hands = self.hands();
        hands.held_by(*execution, worker)?;
        let held = hands.held.get_mut(&execution.task)?;
        // After a restart of the server the count begins with whatever comes first.
        let known = held.next_line.saturating_sub(*first).min(*lines);
        held.next_line = held.next_line.max(first.saturating_add(*lines));
        Some((known, held.next_line))
    }
}
