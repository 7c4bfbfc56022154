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
//!
//! It is no actor: nodes and requests of workers live on different threads, and meet here without a third one between them.
//! Each step is short, and is done under one lock.

mod output;
mod watching;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cooperage_domain::id::TaskId;
use cooperage_domain::task::{TaskOrder, TaskReport};
use tokio::sync::oneshot;

pub use output::AcceptLines;
pub use watching::Holding;

use crate::provisioner::Execution;
use crate::worker_pool::Waiting;
use watching::Watchers;

/// Code of an attempt that no worker carried out.
const NOT_CARRIED_OUT: i64 = -1;

/// Tasks in the hands of workers elsewhere. Cheap to clone: all clones know the same.
#[derive(Clone, Default)]
pub struct Handover(Arc<Mutex<Hands>>);

/// Who holds what.
#[derive(Default)]
struct Hands {
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

impl Hands {
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

/// Give this order to a worker that waits for one, and wait for its report.
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
#[derive(Debug)]
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

/// The worker does not hold the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the worker does not hold this task: it was given to another one, has ended, or timed out")]
pub struct NotHeld;

impl Handover {
    fn hands(&self) -> MutexGuard<'_, Hands> {
        // Nobody panics while holding it: entries are only put in, looked at and taken out.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the order to its worker at once; what is given back waits for the report.
    pub fn hand_over(&self, hand: HandOver) -> impl Future<Output = TaskReport> + Send + use<> {
        let waits = self.hands().hand_over(hand);
        async move {
            let silent = |_| TaskReport::failure(NOT_CARRIED_OUT, "The worker did not report in time.");
            waits.await.unwrap_or_else(silent)
        }
    }

    /// Takes a report; what is given back ends when it is durable. One that comes again while the first is being recorded
    /// waits with it.
    pub fn finish(&self, finish: Finish) -> impl Future<Output = Result<(), NotHeld>> + Send + use<> {
        let durable = self.hands().finish(finish);
        async move { durable?.await.map_err(|_| NotHeld) }
    }

    /// These workers of a tenant (by internal id) have no task. What was given to them and never arrived, one execution
    /// each, is to be given again.
    #[must_use]
    pub fn undelivered(&self, tenant: &str, workers: &[String]) -> Vec<(String, Execution)> {
        let hands = self.hands();
        let undelivered = |worker: &String| Some((worker.clone(), hands.undelivered(tenant, worker)?));
        workers.iter().filter_map(undelivered).collect()
    }

    /// The report is durable, or nobody wants it any more.
    pub fn settle(&self, execution: Execution) {
        let mut hands = self.hands();
        if !hands.held.get(&execution.task).is_some_and(|held| held.is(execution)) {
            return;
        }
        for finishing in hands.remove(execution.task).into_iter().flat_map(|held| held.finishing) {
            // The worker may have gone away meanwhile.
            let _ = finishing.send(());
        }
    }

    /// Nobody waits for this report any more: what the worker says later is refused.
    pub fn give_up(&self, execution: Execution) {
        let mut hands = self.hands();
        let open = |held: &Held| held.is(execution) && held.report.is_none();
        if hands.held.get(&execution.task).is_some_and(open)
            && let Some(held) = hands.remove(execution.task)
        {
            hands.watchers.tell(&held.worker, execution);
        }
    }
}

impl Hands {
    /// Where the report comes, or is already.
    fn hand_over(&mut self, hand: HandOver) -> oneshot::Receiver<TaskReport> {
        let HandOver { execution, worker, tenant, order } = hand;
        let (sender, receiver) = oneshot::channel();
        let known = self.held.get_mut(&execution.task).filter(|held| held.is(execution));
        if let Some(held) = known {
            // Asked again after its cluster failed: the report may be here already.
            match held.report.clone() {
                Some(report) => {
                    // The other end is here.
                    let _ = sender.send(report);
                    return receiver;
                }
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
            && let Some(waits) = self.remove(execution.task).and_then(|held| held.waits)
        {
            let text = "The worker went away before it was given the task.";
            // The other end is here.
            let _ = waits.send(TaskReport::failure(NOT_CARRIED_OUT, text));
        }
        receiver
    }

    fn undelivered(&self, tenant: &str, worker: &str) -> Option<Execution> {
        let tasks = self.by_worker.get(worker)?.iter();
        let mut held = tasks.filter_map(|task| Some((task, self.held.get(task)?)));
        let (task, held) = held.find(|(_, held)| held.report.is_none() && held.tenant == tenant)?;
        Some(Execution { task: *task, attempt: held.attempt })
    }

    /// Where it is told that the report is durable.
    fn finish(&mut self, finish: Finish) -> Result<oneshot::Receiver<()>, NotHeld> {
        let held = self.held.get_mut(&finish.task).filter(|held| {
            let same = finish.attempt.is_none_or(|attempt| attempt == held.attempt);
            // Who does not say which attempt it was may mean one that is long over.
            let first = held.report.is_none() || finish.attempt.is_some();
            same && first && held.worker == finish.worker
        });
        let held = held.ok_or(NotHeld)?;
        let (sender, receiver) = oneshot::channel();
        held.finishing.push(sender);
        if held.report.is_none() {
            held.report = Some(finish.report.clone());
            if let Some(waits) = held.waits.take() {
                // Whoever waited may be starting again, and asks for it then.
                let _ = waits.send(finish.report);
            }
        }
        Ok(receiver)
    }
}
