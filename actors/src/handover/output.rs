//! Lines that a worker elsewhere sends while its task runs, each counted once.

use actix::{Handler, Message};

use super::Handover;
use crate::provisioner::Execution;

/// Lines of an execution have come. How many of them were there already, and the number of the line that comes next;
/// `None` when the worker does not hold the task, or not yet again after a restart.
#[derive(Debug, Clone, Message)]
#[rtype(result = "Option<(u64, u64)>")]
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

impl Handler<AcceptLines> for Handover {
    type Result = Option<(u64, u64)>;

    fn handle(&mut self, accept: AcceptLines, _: &mut Self::Context) -> Self::Result {
        let AcceptLines { execution, worker, first, lines } = accept;
        self.held_by(execution, &worker)?;
        let held = self.held.get_mut(&execution.task)?;
        // After a restart of the server the count begins with whatever comes first.
        let known = held.next_line.saturating_sub(first).min(lines);
        held.next_line = held.next_line.max(first.saturating_add(lines));
        Some((known, held.next_line))
    }
}
