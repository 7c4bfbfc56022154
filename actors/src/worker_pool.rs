//! A tenant's workers: so many slots, handed out fairly.
//!
//! ```text
//!   Node ──RequestSlot──► WorkerPool ──SlotGranted(slot)──► Node … the slot is dropped ──Release──► WorkerPool
//! ```
//!
//! A free slot goes to the cluster that holds the fewest; within a cluster to the task with the longest path behind it. A
//! slot is a value: whoever holds it loses it by ending, in whatever way, and it is free again.

mod fair_queue;

use actix::{Actor, Addr, AsyncContext, Context, Handler, Message, WeakRecipient};
use cooperage_domain::id::{ClusterId, NodeId};

use fair_queue::FairQueue;

/// Hands out a tenant's worker slots.
#[derive(Debug)]
pub struct WorkerPool {
    slots: usize,
    queue: FairQueue<WeakRecipient<SlotGranted>>,
}

impl WorkerPool {
    /// A pool of so many slots.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        Self { slots, queue: FairQueue::default() }
    }

    fn grant(&mut self, pool: &Addr<Self>) {
        while self.queue.held() < self.slots {
            let Some((cluster, reply)) = self.queue.next() else { return };
            let slot = Slot { pool: pool.clone(), cluster };
            // A slot that cannot be delivered comes back when it is dropped.
            if let Some(node) = reply.upgrade() {
                node.do_send(SlotGranted { slot });
            }
        }
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
}

impl Slot {
    /// The worker of an execution that was under way before this process asked for one. It counts even when there are not
    /// so many, so that nothing new starts before enough of them have ended.
    pub(crate) fn taken_up(pool: &Addr<WorkerPool>, cluster: ClusterId) -> Self {
        pool.do_send(TakenUp { cluster });
        Self { pool: pool.clone(), cluster }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.pool.do_send(Release { cluster: self.cluster });
    }
}

#[derive(Debug, Message)]
#[rtype(result = "()")]
struct TakenUp {
    cluster: ClusterId,
}

#[derive(Debug, Message)]
#[rtype(result = "()")]
struct Release {
    cluster: ClusterId,
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
    }
}

impl Handler<Release> for WorkerPool {
    type Result = ();

    fn handle(&mut self, release: Release, ctx: &mut Self::Context) {
        self.queue.release(release.cluster);
        self.grant(&ctx.address());
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
