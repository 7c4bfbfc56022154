//! One node of a live cluster: its mailbox makes sure that its machine does one task at a time.
//!
//! ```text
//!   Cluster ──Offer(task, rank)──► Node ──RequestSlot──► WorkerPool
//!                                  Node ◄──SlotGranted──
//!   Cluster ◄────────Begin(task)── Node        the cluster journals the attempt before it answers with the order
//!                                  Node ──Execute──► Provisioner
//!   Cluster ◄──Report(task, …)──── Node        decided: the next task may be asked for, and is recorded behind it
//!   Cluster ──Recorded(task, …)──► Node        durable: the provisioner may forget the report
//! ```
//!
//! An attempt whose time is up is cancelled. A plugin that does not stop then is given up after a grace period, so that
//! its job can end; the provisioner starts nothing else on the machine until it does stop.

mod attempt;
mod message;

use std::collections::BTreeMap;
use std::time::Duration;

use actix::fut::WrapFuture;
use actix::{Actor, ActorFutureExt, Addr, AsyncContext, Handler, SpawnHandle, WeakAddr};
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_schema::Vault;
use slog::{Logger, debug};

pub use message::{Cease, Follow, Halt, Offer, Recorded, Retire, Withdraw};

use crate::cluster::{Begin, Cluster, NodeFailed};
use crate::console::Context;
use crate::handover::Handover;
use crate::janitor::Janitor;
use crate::provisioner::{Execution, Provisioner};
use crate::task_log::TaskLog;
use crate::worker_pool::{RequestSlot, Slot, SlotGranted, WithdrawRequest, WorkerPool};

/// Whom a node talks to.
#[derive(Clone)]
pub struct Colleagues {
    /// Hands out worker slots of the cluster's tenant.
    pub pool: Addr<WorkerPool>,
    /// Carries tasks out in this process.
    pub provisioner: Addr<Provisioner>,
    /// Hands tasks to workers elsewhere.
    pub handover: Handover,
    /// Keeps secret values of clusters, which only workers are given.
    pub vault: Vault,
    /// Keeps deadlines.
    pub janitor: Addr<Janitor>,
    /// Takes the output of tasks.
    pub log: TaskLog,
}

/// Which node an actor is.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The node.
    pub id: NodeId,
    /// Its cluster.
    pub cluster: ClusterId,
    /// Internal id of the tenant whose tasks it runs.
    pub tenant: String,
}

/// One node of a live cluster.
pub struct Node {
    identity: Identity,
    cluster: WeakAddr<Cluster>,
    colleagues: Colleagues,
    /// How long a cancelled plugin may take to stop.
    grace: Duration,
    logger: Logger,
    /// Tasks that may start.
    waiting: BTreeMap<u32, Offer>,
    /// The attempt that is to be stopped, which may be on its way here.
    halted: Option<(u32, u32)>,
    current: Current,
    /// Executions whose reports are not durable yet.
    unsettled: Vec<Execution>,
}

/// What the node is doing. One thing, since it is one machine.
enum Current {
    Idle,
    /// A slot has been asked for.
    Queued,
    /// The cluster has been asked to begin a task; the slot is held.
    Beginning,
    /// A task is being executed.
    Executing(Executing),
    /// A result is being decided on.
    Reporting,
}

/// The execution a node waits for.
struct Executing {
    execution: Execution,
    timed_out: bool,
    /// The wait for its report, which holds the slot.
    wait: SpawnHandle,
}

impl Node {
    /// A node with nothing to do.
    #[must_use]
    pub fn new(
        identity: Identity,
        cluster: WeakAddr<Cluster>,
        colleagues: Colleagues,
        grace: Duration,
        logger: Logger,
    ) -> Self {
        let (waiting, current) = (BTreeMap::new(), Current::Idle);
        Self {
            identity,
            cluster,
            colleagues,
            grace,
            logger,
            waiting,
            halted: None,
            current,
            unsettled: Vec::new(),
        }
    }

    /// The task with the longest path behind it; among equals the one planned first.
    fn first(&self) -> Option<Offer> {
        self.waiting.values().copied().max_by_key(|offer| (offer.rank, u32::MAX - offer.task))
    }

    fn ask_for_slot(&mut self, ctx: &Context<Self>) {
        let Some(Offer { rank, urgent, .. }) = self.first() else { return };
        match self.current {
            Current::Idle | Current::Queued => {}
            Current::Beginning | Current::Executing(_) | Current::Reporting => return,
        }
        self.current = Current::Queued;
        self.colleagues.pool.do_send(RequestSlot {
            cluster: self.identity.cluster,
            node: self.identity.id.clone(),
            rank,
            urgent,
            reply: ctx.address().downgrade().recipient(),
        });
    }

    fn begin(&mut self, task: u32, slot: Slot, ctx: &mut Context<Self>) {
        // Without its cluster this actor is a left-over; a new one takes the node up from the journal.
        let Some(cluster) = self.cluster.upgrade() else { return };
        self.current = Current::Beginning;
        let asked = cluster.send(Begin { task, worker: slot.worker().to_owned() });
        ctx.spawn(asked.into_actor(self).map(move |answer, node, ctx| match answer {
            Ok(Ok(begun)) => node.execute(begun, slot, ctx),
            Ok(Err(reason)) => {
                debug!(node.logger, "task not begun"; "task" => task, "reason" => reason.to_string());
                drop(slot);
                node.rest(ctx);
            }
            Err(_) => drop(slot),
        }));
    }

    fn rest(&mut self, ctx: &Context<Self>) {
        self.current = Current::Idle;
        self.ask_for_slot(ctx);
    }
}

impl Actor for Node {
    type Context = Context<Self>;
}

impl Drop for Node {
    /// When the cluster is still there, this end was not its wish: it fails with its node, and both start again.
    fn drop(&mut self) {
        if let Some(cluster) = self.cluster.upgrade() {
            cluster.do_send(NodeFailed { node: self.identity.id.clone() });
        }
    }
}

impl Handler<Offer> for Node {
    type Result = ();

    fn handle(&mut self, offer: Offer, ctx: &mut Self::Context) {
        self.waiting.insert(offer.task, offer);
        self.ask_for_slot(ctx);
    }
}

impl Handler<Withdraw> for Node {
    type Result = ();

    fn handle(&mut self, _: Withdraw, _: &mut Self::Context) {
        self.waiting.clear();
        if matches!(self.current, Current::Queued) {
            self.current = Current::Idle;
            let (cluster, node) = (self.identity.cluster, self.identity.id.clone());
            self.colleagues.pool.do_send(WithdrawRequest { cluster, node });
        }
    }
}

impl Handler<SlotGranted> for Node {
    type Result = ();

    /// A slot that is not needed any more goes back by being dropped.
    fn handle(&mut self, granted: SlotGranted, ctx: &mut Self::Context) {
        if !matches!(self.current, Current::Queued) {
            return;
        }
        let Some(Offer { task, .. }) = self.first() else {
            self.current = Current::Idle;
            return;
        };
        self.waiting.remove(&task);
        self.begin(task, granted.slot, ctx);
    }
}
