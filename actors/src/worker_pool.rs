//! A tenant's workers: so many slots, handed out fairly.
//!
//! ```text
//!   Node ──RequestSlot──► WorkerPool ──SlotGranted(slot)──► Node … the slot is dropped ──Release──► WorkerPool
//! ```
//!
//! A free slot goes to the cluster that holds the fewest; within a cluster to the task with the longest path behind it.

use std::collections::HashMap;

use actix::{Actor, Addr, AsyncContext, Context, Handler, Message, Recipient};
use cooperage_domain::id::{ClusterId, NodeId};

/// Hands out a tenant's worker slots.
#[derive(Debug)]
pub struct WorkerPool {
    slots: usize,
    held: HashMap<ClusterId, usize>,
    waiting: Vec<RequestSlot>,
}

impl WorkerPool {
    /// A pool of so many slots.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        Self { slots, held: HashMap::new(), waiting: Vec::new() }
    }

    fn in_use(&self) -> usize {
        self.held.values().sum()
    }

    /// Index of the request that is next: of the cluster with the fewest slots, the longest path, the oldest.
    fn next(&self) -> Option<usize> {
        let order = |request: &RequestSlot| {
            let held = self.held.get(&request.cluster).copied().unwrap_or(0);
            (held, std::cmp::Reverse(request.rank))
        };
        self.waiting
            .iter()
            .enumerate()
            .min_by_key(|(age, request)| (order(request), *age))
            .map(|(index, _)| index)
    }

    fn grant(&mut self, pool: &Addr<Self>) {
        while self.in_use() < self.slots {
            let Some(index) = self.next() else { return };
            let request = self.waiting.remove(index);
            *self.held.entry(request.cluster).or_default() += 1;
            // A slot that cannot be delivered comes back when it is dropped.
            let slot = Slot { pool: pool.clone(), cluster: request.cluster };
            request.reply.do_send(SlotGranted { slot });
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
    /// Whom to give the slot.
    pub reply: Recipient<SlotGranted>,
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

impl Drop for Slot {
    fn drop(&mut self) {
        self.pool.do_send(Release { cluster: self.cluster });
    }
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
    /// Slots handed out.
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
        self.waiting.retain(|other| other.node != request.node);
        self.waiting.push(request);
        self.grant(&ctx.address());
    }
}

impl Handler<Release> for WorkerPool {
    type Result = ();

    fn handle(&mut self, release: Release, ctx: &mut Self::Context) {
        if let Some(held) = self.held.get_mut(&release.cluster) {
            *held -= 1;
            if *held == 0 {
                self.held.remove(&release.cluster);
            }
        }
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
            in_use: self.in_use(),
            waiting: self.waiting.len(),
        })
    }
}
