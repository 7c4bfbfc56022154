//! A tenant's workers: so many slots, handed out fairly.
//!
//! ```text
//!   Node ──RequestSlot──► WorkerPool ──SlotGranted(slot)──► Node … the slot is dropped ──Release──► WorkerPool
//! ```
//!
//! A free slot goes to the cluster that holds the fewest; within a cluster to the task with the longest path behind it. A
//! slot is a value: whoever holds it loses it by ending, in whatever way, and it is free again.
//!
//! A task that runs needs a permit of the installation's [`RunningLimit`] besides.
//!
//! Workers of this process go first. Workers elsewhere ask (`Take`), or wait here until there is something (`Park`).

mod fair_queue;
mod parked;
mod running_limit;
mod standing;

use actix::{Actor, Addr, AsyncContext, Handler, Message, WeakRecipient};
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_domain::task::TaskOrder;
use tokio::sync::oneshot;

pub use parked::{Dismiss, Park};
pub use running_limit::{RESERVED, RunningLimit};
pub use standing::{GetStanding, Standing};

use crate::console::{Cause, Context, within};
use fair_queue::{FairQueue, Wish};
use parked::Parked;
use running_limit::{Permit, Permitted, Purpose};

/// Name of the workers of this process.
pub const LOCAL_WORKER: &str = "local";

/// Hands out a tenant's worker slots.
#[derive(Debug)]
pub struct WorkerPool {
    /// Workers of this process.
    slots: usize,
    /// Workers elsewhere that hold a task.
    elsewhere: usize,
    queue: FairQueue<Asker>,
    /// Workers elsewhere that wait for a task.
    parked: Parked,
    /// Shared with the pools of other tenants.
    limit: RunningLimit,
    /// Internal id of the tenant, by which pools are told apart.
    tenant: String,
    /// Of tasks that ran before this process did.
    taken_up: Vec<Permit>,
}

impl WorkerPool {
    /// A pool of so many slots.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        let (queue, parked) = (FairQueue::default(), Parked::default());
        Self {
            slots,
            elsewhere: 0,
            queue,
            parked,
            limit: RunningLimit::default(),
            tenant: String::new(),
            taken_up: Vec::new(),
        }
    }

    /// The pool of a tenant, by internal id, that keeps a limit together with the pools of others.
    #[must_use]
    pub fn within(self, limit: RunningLimit, tenant: &str) -> Self {
        Self { limit, tenant: tenant.to_owned(), ..self }
    }

    fn grant(&mut self, pool: &Addr<Self>) {
        while self.queue.waiting() > 0 && (self.has_local() || self.parked.has_any()) {
            let Some(permit) = self.permit(pool) else { return };
            self.grant_with(pool, permit);
        }
    }

    const fn has_local(&self) -> bool {
        self.queue.held() - self.elsewhere < self.slots
    }

    /// A permit for one more task; without one, the pool is told when there is one.
    fn permit(&self, pool: &Addr<Self>) -> Option<Permit> {
        let take = |purpose| self.limit.take(&self.tenant, purpose, pool.clone().recipient());
        take(Purpose::Any).or_else(|| if self.queue.has_urgent() { take(Purpose::Urgent) } else { None })
    }

    /// Uses a permit, if there is a worker and a request for it.
    fn grant_with(&mut self, pool: &Addr<Self>, permit: Permit) {
        if self.queue.waiting() == 0 {
            return;
        }
        if self.has_local() {
            self.grant_to(pool, permit, || Worker::Local);
        } else if let Some((name, place)) = self.parked.next() {
            self.elsewhere += 1;
            let waits = Some(Waiting { place, asks_again: true });
            if !self.grant_to(pool, permit, || Worker::Elsewhere { name, waits }) {
                self.elsewhere -= 1;
            }
        }
    }

    /// Gives a worker to the request that is next, if there is one.
    fn grant_to(&mut self, pool: &Addr<Self>, permit: Permit, worker: impl FnOnce() -> Worker) -> bool {
        let next = match permit.purpose {
            Purpose::Any => self.queue.next(),
            Purpose::Urgent => self.queue.next_urgent(),
        };
        let Some((cluster, asker)) = next else { return false };
        let slot = Slot { pool: pool.clone(), cluster, worker: worker(), permit: Some(permit) };
        // A slot that cannot be delivered comes back when it is dropped.
        if let Some(node) = asker.node.upgrade() {
            within(asker.cause, || node.do_send(SlotGranted { slot }));
        }
        true
    }
}

impl Actor for WorkerPool {
    type Context = Context<Self>;
}

/// Who asked for a slot, and for which request. Granting goes on with that, whoever gave the slot back.
#[derive(Debug)]
struct Asker {
    node: WeakRecipient<SlotGranted>,
    cause: Option<Cause>,
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
    /// Whether the task gives a machine back, so that it may use the permits that are kept for such tasks.
    pub urgent: bool,
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
    /// The pool itself keeps those of tasks that were taken up.
    permit: Option<Permit>,
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
        Self { pool: pool.clone(), cluster, worker, permit: None }
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
        let (elsewhere, taken_up) = (self.worker.is_elsewhere(), self.permit.is_none());
        self.pool.do_send(Release { cluster: self.cluster, elsewhere, taken_up });
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
    taken_up: bool,
}

/// The number of slots changed.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Resize {
    /// How many there are now. Slots already handed out stay until they are dropped.
    pub slots: usize,
}

/// How a pool stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
        let wish = Wish { rank: request.rank, urgent: request.urgent };
        let asker = Asker { node: request.reply, cause: Cause::current() };
        self.queue.ask(request.cluster, request.node, wish, asker);
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
        self.taken_up.push(self.limit.taken_up(&self.tenant));
        self.elsewhere += usize::from(taken_up.elsewhere);
    }
}

impl Handler<Release> for WorkerPool {
    type Result = ();

    fn handle(&mut self, release: Release, ctx: &mut Self::Context) {
        self.queue.release(release.cluster);
        if release.taken_up {
            self.taken_up.pop();
        }
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
        let Some(permit) = self.permit(&ctx.address()) else { return false };
        self.elsewhere += 1;
        let waits = Some(Waiting { place: take.waits, asks_again: false });
        let granted = self.grant_to(&ctx.address(), permit, || Worker::Elsewhere { name: take.name, waits });
        self.elsewhere -= usize::from(!granted);
        granted
    }
}

impl Handler<Permitted> for WorkerPool {
    type Result = ();

    fn handle(&mut self, Permitted(permit): Permitted, ctx: &mut Self::Context) {
        self.grant_with(&ctx.address(), permit);
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
