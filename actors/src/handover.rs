//! Tasks in the hands of workers elsewhere: handed over when one asks for work, and held until its report is durable.
//!
//! ```text
//!   worker ──take──► WorkerPool ──slot──► Node ──HandOver(order)──► Handover ──order──► worker
//!   worker ──Finish(report)──► Handover ──report──► Node … durable … ──Settle──► Handover ──► worker: it is recorded
//! ```
//!
//! After a restart of the server the journal says which attempts workers hold; they are expected again, so that a report
//! that comes then is as good as before.
//!
//! A worker that asks for a task although it holds one has never received it: the answer was lost. It is offered the same
//! execution again. Reports may come twice, and so may output: both are counted once.

mod output;
mod watching;

use std::collections::{BTreeSet, HashMap};

use actix::{Actor, Context, Handler, Message, ResponseFuture};
use cooperage_domain::id::TaskId;
use cooperage_domain::task::{TaskOrder, TaskReport};
use tokio::sync::oneshot;

pub use output::AcceptLines;
pub use watching::{AwaitGiveUp, FindUnheld, Holding};

use crate::provisioner::Execution;
use crate::worker_pool::Waiting;
use watching::Watchers;

/// Code of an attempt that no worker carried out.
const NOT_CARRIED_OUT: i64 = -1;

/// Tasks in the hands of workers elsewhere.
#[derive(Default)]
pub struct Handover {
    held: HashMap<TaskId, Held>,
    /// The same by worker, which usually holds one.
    by_worker: HashMap<String, BTreeSet<TaskId>>,
    watchers: Watchers,
}

/// A task in the hands of a worker, or one whose report is not durable yet.
struct Held {
    attempt: u32,
    worker: String,
    /// Internal id of the tenant whose task it is.
    tenant: String,
    report: Option<TaskReport>,
    /// Whom to give the report.
    waits: Option<oneshot::Sender<TaskReport>>,
    /// Whom to tell that it is durable.
    finishing: Vec<oneshot::Sender<()>>,
    /// Number of the line of output that comes next.
    next_line: u64,
}

impl Held {
    const fn is(&self, execution: Execution) -> bool {
        self.attempt == execution.attempt
    }
}

impl Handover {
    fn insert(&mut self, execution: Execution, held: Held) {
        self.remove(execution.task);
        self.by_worker.entry(held.worker.clone()).or_default().insert(execution.task);
        self.held.insert(execution.task, held);
    }

    fn remove(&mut self, task: TaskId) -> Option<Held> {
        let held = self.held.remove(&task)?;
        if let Some(tasks) = self.by_worker.get_mut(&held.worker) {
            tasks.remove(&task);
            if tasks.is_empty() {
                self.by_worker.remove(&held.worker);
            }
        }
        Some(held)
    }

    /// This execution, if a worker of that name holds it.
    fn held_by(&self, execution: Execution, worker: &str) -> Option<&Held> {
        self.held.get(&execution.task).filter(|held| held.is(execution) && held.worker == worker)
    }
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
    /// Internal id of the tenant whose task it is.
    pub tenant: String,
    /// The order and where the worker waits for it; `None` when the worker has it already, or will ask for it.
    pub order: Option<(TaskOrder, Waiting)>,
}

/// A worker is done.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), NotHeld>")]
pub struct Finish {
    /// With which task.
    pub task: TaskId,
    /// With which attempt; whichever is open for workers that do not say.
    pub attempt: Option<u32>,
    /// Who says so.
    pub worker: String,
    /// What it reports.
    pub report: TaskReport,
}

/// These workers have no task. What was given to them and never arrived, one execution each, is to be given again.
#[derive(Debug, Message)]
#[rtype(result = "Vec<(String, Execution)>")]
pub struct FindUndelivered {
    /// Internal id of the tenant they work for.
    pub tenant: String,
    /// Their names.
    pub workers: Vec<String>,
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
        let HandOver { execution, worker, tenant, order } = hand;
        let (sender, receiver) = oneshot::channel();
        let known = self.held.get_mut(&execution.task).filter(|held| held.is(execution));
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
                tenant,
                report: None,
                waits: Some(sender),
                finishing: Vec::new(),
                next_line: 0,
            };
            self.insert(execution, held);
        }
        if let Some((order, Waiting { place, asks_again })) = order
            && place.send(order).is_err()
            && !asks_again
        {
            self.remove(execution.task);
            let text = "The worker went away before it was given the task.";
            return Box::pin(async move { TaskReport::failure(NOT_CARRIED_OUT, text) });
        }
        Box::pin(async move {
            let silent = |_| TaskReport::failure(NOT_CARRIED_OUT, "The worker did not report in time.");
            receiver.await.unwrap_or_else(silent)
        })
    }
}

impl Handler<FindUndelivered> for Handover {
    type Result = actix::MessageResult<FindUndelivered>;

    fn handle(&mut self, find: FindUndelivered, _: &mut Self::Context) -> Self::Result {
        let FindUndelivered { tenant, workers } = find;
        let undelivered = |worker: String| {
            let tasks = self.by_worker.get(&worker)?.iter();
            let mut held = tasks.filter_map(|task| Some((task, self.held.get(task)?)));
            let (task, held) = held.find(|(_, held)| held.report.is_none() && held.tenant == tenant)?;
            Some((worker, Execution { task: *task, attempt: held.attempt }))
        };
        actix::MessageResult(workers.into_iter().filter_map(undelivered).collect())
    }
}

impl Handler<Finish> for Handover {
    type Result = ResponseFuture<Result<(), NotHeld>>;

    /// Answers when the report is durable. One that comes again while the first is being recorded waits with it.
    fn handle(&mut self, finish: Finish, _: &mut Self::Context) -> Self::Result {
        let held = self.held.get_mut(&finish.task).filter(|held| {
            let same = finish.attempt.is_none_or(|attempt| attempt == held.attempt);
            // Who does not say which attempt it was may mean one that is long over.
            let first = held.report.is_none() || finish.attempt.is_some();
            same && first && held.worker == finish.worker
        });
        let Some(held) = held else { return Box::pin(async { Err(NotHeld) }) };
        let (sender, receiver) = oneshot::channel();
        held.finishing.push(sender);
        if held.report.is_none() {
            held.report = Some(finish.report.clone());
            if let Some(waits) = held.waits.take() {
                // Whoever waited may be starting again, and asks for it then.
                let _ = waits.send(finish.report);
            }
        }
        Box::pin(async move { receiver.await.map_err(|_| NotHeld) })
    }
}

impl Handler<Settle> for Handover {
    type Result = ();

    fn handle(&mut self, Settle(execution): Settle, _: &mut Self::Context) {
        if !self.held.get(&execution.task).is_some_and(|held| held.is(execution)) {
            return;
        }
        for finishing in self.remove(execution.task).into_iter().flat_map(|held| held.finishing) {
            // The worker may have gone away meanwhile.
            let _ = finishing.send(());
        }
    }
}

impl Handler<GiveUp> for Handover {
    type Result = ();

    fn handle(&mut self, GiveUp(execution): GiveUp, _: &mut Self::Context) {
        let open = |held: &Held| held.is(execution) && held.report.is_none();
        if self.held.get(&execution.task).is_some_and(open)
            && let Some(held) = self.remove(execution.task)
        {
            self.watchers.tell(&held.worker, execution);
        }
    }
}
