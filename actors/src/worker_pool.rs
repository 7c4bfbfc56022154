//! A tenant's workers: so many slots, handed out fairly.
//!
//! ```text
//!   Node ──RequestSlot──► WorkerPool ──SlotGranted(slot)──► Node … the slot is dropped ──Release──► WorkerPool
//! ```
//!
//! A free slot goes to the cluster that holds the fewest; within a cluster to the task with the longest path behind it. A
//! slot is a value: whoever holds it loses it by ending, in whatever way, and it is free again.
//!
//! Workers of this process go first. Workers elsewhere ask (`Take`), or wait here until there is something (`Park`).

mod fair_queue;
mod parked;

use actix::{Actor, Addr, AsyncContext, Context, Handler, Message, WeakRecipient};
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_domain::task::TaskOrder;
use tokio::sync::oneshot;

pub use parked::{Dismiss, Park};

use fair_queue::FairQueue;
use parked::Parked;

/// Name of the workers of this process.
pub const LOCAL_WORKER: &str = "local";

/// Hands out a tenant's worker slots.
#[derive(Debug)]
pub struct WorkerPool {
    /// Workers of this process.
    slots: usize,
    /// Workers elsewhere that hold a task.
    elsewhere: usize,
    queue: FairQueue<WeakRecipient<SlotGranted>>,
    /// Workers elsewhere that wait for a task.
    parked: Parked,
}

impl WorkerPool {
    /// A pool of so many slots.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        Self { slots, elsewhere: 0, queue: FairQueue::default(), parked: Parked::default() }
    }

    fn grant(&mut self, pool: &Addr<Self>) {
        while self.queue.held() - self.elsewhere < self.slots {
            if !self.grant_to(pool, || Worker::Local) {
                return;
            }
        }
        while self.queue.waiting() > 0 {
            let Some((name, place)) = self.parked.next() else { return };
            self.elsewhere += 1;
            let waits = Some(Waiting { place, asks_again: true });
            self.grant_to(pool, || Worker::Elsewhere { name, waits });
        }
    }

    /// Gives a worker to the request that is next, if there is one.
    fn grant_to(&mut self, pool: &Addr<Self>, worker: impl FnOnce() -> Worker) -> bool {
        let Some((cluster, reply)) = self.queue.next() else { return false };
        let slot = Slot { pool: pool.clone(), cluster, worker: worker() };
        // A slot that cannot be delivered comes back when it is dropped.
        if let Some(node) = reply.upgrade() {
            node.do_send(SlotGranted { slot });
        }
        true
    }
}

impl Actor for WorkerPool {
    type Context = Context<Self>;
}

/// A node has a task that could run.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct RequestSlot {
    /// The node's cluster.
    pub cluster: ClusterId,
    /// The node; a second request of it replaces the first.
    pub node: NodeId,
    /// Length of the path behind the task, in ms.
    pub rank: i64,
    /// Whom to give the slot. Weak, so that waiting here keeps nobody alive.
    pub reply: WeakRecipient<SlotGranted>,
}

/// A node has nothing to run any more.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct WithdrawRequest {
    /// The node's cluster.
    pub cluster: ClusterId,
    /// The node.
    pub node: NodeId,
}

/// A worker is yours until you drop it.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct SlotGranted {
    /// The worker.
    pub slot: Slot,
}

/// A worker, held. Dropping it gives it back.
#[derive(Debug)]
pub struct Slot {
    pool: Addr<WorkerPool>,
    cluster: ClusterId,
    worker: Worker,
}

/// Who carries a task out.
#[derive(Debug)]
pub enum Worker {
    /// A worker of this process.
    Local,
    /// A worker elsewhere.
    Elsewhere {
        /// Its name: its provisioner's id, a dot, its own id.
        name: String,
        /// Where it waits for its order; `None` when it has it.
        waits: Option<Waiting>,
    },
}

/// Where a worker elsewhere waits for its order.
#[derive(Debug)]
pub struct Waiting {
    /// The place.
    pub place: oneshot::Sender<TaskOrder>,
    /// Whether the worker asks again for an order that did not arrive; otherwise the attempt has failed then.
    pub asks_again: bool,
}

/// A worker elsewhere asks for a task. Whether one may be coming; if its node then has none, the wait ends without.
#[derive(Debug, Message)]
#[rtype(result = "bool")]
pub struct Take {
    /// Its name.
    pub name: String,
    /// Where it waits for its order.
    pub waits: oneshot::Sender<TaskOrder>,
}

impl Slot {
    /// The worker of an execution that was under way before this process asked for one. It counts even when there are not
    /// so many, so that nothing new starts before enough of them have ended.
    pub(crate) fn taken_up(pool: &Addr<WorkerPool>, cluster: ClusterId, worker: &str) -> Self {
        let worker = match worker {
            LOCAL_WORKER => Worker::Local,
            name => Worker::Elsewhere { name: name.to_owned(), waits: None },
        };
        pool.do_send(TakenUp { cluster, elsewhere: worker.is_elsewhere() });
        Self { pool: pool.clone(), cluster, worker }
    }

    /// Name of the worker.
    pub(crate) fn worker(&self) -> &str {
        match &self.worker {
            Worker::Local => LOCAL_WORKER,
            Worker::Elsewhere { name, .. } => name,
        }
    }

    /// The worker, to give it its order.
    pub(crate) const fn worker_mut(&mut self) -> &mut Worker {
        &mut self.worker
    }
}

impl Worker {
    const fn is_elsewhere(&self) -> bool {
        matches!(self, Self::Elsewhere { .. })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.pool.do_send(Release { cluster: self.cluster, elsewhere: self.worker.is_elsewhere() });
    }
}

#[derive(Debug, Message)]
#[rtype(result = "()")]
struct TakenUp {
    cluster: ClusterId,
    elsewhere: bool,
}

#[derive(Debug, Message)]
#[rtype(result = "()")]
struct Release {
    cluster: ClusterId,
    elsewhere: bool,
}

/// The number of slots changed.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Resize {
    /// How many there are now. Slots already handed out stay until they are dropped.
    pub slots: usize,
}

/// How a pool stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolUse {
    /// Slots there are.
    pub slots: usize,
    /// Slots handed out; more than there are after slots were taken away, or after a restart.
    pub in_use: usize,
    /// Requests that wait.
    pub waiting: usize,
}

/// Asks how a pool stands.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "PoolUse")]
pub struct GetPoolUse;

impl Handler<RequestSlot> for WorkerPool {
    type Result = ();

    fn handle(&mut self, request: RequestSlot, ctx: &mut Self::Context) {
        self.queue.ask(request.cluster, request.node, request.rank, request.reply);
        self.grant(&ctx.address());
    }
}

impl Handler<WithdrawRequest> for WorkerPool {
    type Result = ();

    fn handle(&mut self, request: WithdrawRequest, _: &mut Self::Context) {
        self.queue.withdraw(request.cluster, &request.node);
    }
}

impl Handler<TakenUp> for WorkerPool {
    type Result = ();

    fn handle(&mut self, taken_up: TakenUp, _: &mut Self::Context) {
        self.queue.hold(taken_up.cluster);
        self.elsewhere += usize::from(taken_up.elsewhere);
    }
}

impl Handler<Release> for WorkerPool {
    type Result = ();

    fn handle(&mut self, release: Release, ctx: &mut Self::Context) {
        self.queue.release(release.cluster);
        self.elsewhere -= usize::from(release.elsewhere).min(self.elsewhere);
        self.grant(&ctx.address());
    }
}

impl Handler<Take> for WorkerPool {
    type Result = bool;

    fn handle(&mut self, take: Take, ctx: &mut Self::Context) -> bool {
        if self.queue.waiting() == 0 {
            return false;
        }
        self.elsewhere += 1;
        let waits = Some(Waiting { place: take.waits, asks_again: false });
        self.grant_to(&ctx.address(), || Worker::Elsewhere { name: take.name, waits })
    }
}

impl Handler<Resize> for WorkerPool {
    type Result = ();

    fn handle(&mut self, resize: Resize, ctx: &mut Self::Context) {
        self.slots = resize.slots;
        self.grant(&ctx.address());
    }
}

impl Handler<GetPoolUse> for WorkerPool {
    type Result = actix::MessageResult<GetPoolUse>;

    fn handle(&mut self, _: GetPoolUse, _: &mut Self::Context) -> Self::Result {
        actix::MessageResult(PoolUse {
            slots: self.slots,
            in_use: self.queue.held(),
            waiting: self.queue.waiting(),
        })
    }
}
