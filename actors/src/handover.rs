//! Tasks in the hands of workers elsewhere: handed over when one asks for work, and held until its report is durable.
//!
//! ```text
//!   worker ──take──► WorkerPool ──slot──► Node ──HandOver(order)──► Handover ──order──► worker
//!   worker ──Finish(report)──► Handover ──report──► Node … durable … ──Settle──► Handover ──► worker: it is recorded
//! ```
//!
//! After a restart of the server the journal says which attempts workers hold; they are expected again, so that a report
//! that comes then is as good as before.

use std::collections::HashMap;

use actix::{Actor, Context, Handler, Message, ResponseFuture};
use cooperage_domain::id::TaskId;
use cooperage_domain::task::{TaskOrder, TaskReport};
use tokio::sync::oneshot;

use crate::provisioner::Execution;

/// Code of an attempt that no worker carried out.
const NOT_CARRIED_OUT: i64 = -1;

/// Tasks in the hands of workers elsewhere.
#[derive(Default)]
pub struct Handover {
    held: HashMap<TaskId, Held>,
}

/// A task in the hands of a worker, or one whose report is not durable yet.
struct Held {
    attempt: u32,
    worker: String,
    report: Option<TaskReport>,
    /// Whom to give the report.
    waits: Option<oneshot::Sender<TaskReport>>,
    /// Whom to tell that it is durable.
    finishing: Option<oneshot::Sender<()>>,
}

impl Actor for Handover {
    type Context = Context<Self>;
}

/// Give this order to a worker that waits for one, and wait for its report.
#[derive(Message)]
#[rtype(result = "TaskReport")]
pub struct HandOver {
    /// Which execution.
    pub execution: Execution,
    /// Who carries it out.
    pub worker: String,
    /// The order and where the worker waits for it; `None` when the worker has it already.
    pub order: Option<(TaskOrder, oneshot::Sender<TaskOrder>)>,
}

/// A worker is done.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), NotHeld>")]
pub struct Finish {
    /// With which task.
    pub task: TaskId,
    /// Who says so.
    pub worker: String,
    /// What it reports.
    pub report: TaskReport,
}

/// The report is durable, or nobody wants it any more.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Settle(pub Execution);

/// The worker does not hold the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the worker does not hold this task: it was given to another one, has ended, or timed out")]
pub struct NotHeld;

/// Nobody waits for this report any more: what the worker says later is refused.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct GiveUp(pub Execution);

impl Handler<HandOver> for Handover {
    type Result = ResponseFuture<TaskReport>;

    fn handle(&mut self, hand: HandOver, _: &mut Self::Context) -> Self::Result {
        let HandOver { execution, worker, order } = hand;
        let (sender, receiver) = oneshot::channel();
        let known = self.held.get_mut(&execution.task).filter(|held| held.attempt == execution.attempt);
        if let Some(held) = known {
            // Asked again after its cluster failed: the report may be here already.
            match held.report.clone() {
                Some(report) => return Box::pin(async { report }),
                None => held.waits = Some(sender),
            }
        } else {
            let held = Held {
                attempt: execution.attempt,
                worker,
                report: None,
                waits: Some(sender),
                finishing: None,
            };
            self.held.insert(execution.task, held);
        }
        if let Some((order, to)) = order
            && to.send(order).is_err()
        {
            self.held.remove(&execution.task);
            let text = "The worker went away before it was given the task.";
            return Box::pin(async move { TaskReport::failure(NOT_CARRIED_OUT, text) });
        }
        Box::pin(async move {
            let silent = |_| TaskReport::failure(NOT_CARRIED_OUT, "The worker did not report in time.");
            receiver.await.unwrap_or_else(silent)
        })
    }
}

impl Handler<Finish> for Handover {
    type Result = ResponseFuture<Result<(), NotHeld>>;

    /// Answers when the report is durable.
    fn handle(&mut self, finish: Finish, _: &mut Self::Context) -> Self::Result {
        let held = self.held.get_mut(&finish.task);
        let Some(held) = held.filter(|held| held.worker == finish.worker && held.report.is_none()) else {
            return Box::pin(async { Err(NotHeld) });
        };
        let (sender, receiver) = oneshot::channel();
        held.report = Some(finish.report.clone());
        held.finishing = Some(sender);
        if let Some(waits) = held.waits.take() {
            // Whoever waited may be starting again, and asks for it then.
            let _ = waits.send(finish.report);
        }
        Box::pin(async move { receiver.await.map_err(|_| NotHeld) })
    }
}

impl Handler<Settle> for Handover {
    type Result = ();

    fn handle(&mut self, Settle(execution): Settle, _: &mut Self::Context) {
        let settled = self.held.get(&execution.task).is_some_and(|held| held.attempt == execution.attempt);
        if !settled {
            return;
        }
        if let Some(finishing) = self.held.remove(&execution.task).and_then(|held| held.finishing) {
            // The worker may have gone away meanwhile.
            let _ = finishing.send(());
        }
    }
}

impl Handler<GiveUp> for Handover {
    type Result = ();

    fn handle(&mut self, GiveUp(execution): GiveUp, _: &mut Self::Context) {
        let open = |held: &Held| held.attempt == execution.attempt && held.report.is_none();
        if self.held.get(&execution.task).is_some_and(open) {
            self.held.remove(&execution.task);
        }
    }
}
