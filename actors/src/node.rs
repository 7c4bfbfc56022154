//! One node of a live cluster: its mailbox makes sure that its machine does one task at a time.
//!
//! ```text
//!   Cluster ──Offer(task, rank)──► Node ──RequestSlot──► WorkerPool
//!                                  Node ◄──SlotGranted──
//!   Cluster ◄────────Begin(task)── Node        the cluster journals the attempt before it answers with the order
//!                                  Node ──Execute──► Provisioner
//!   Cluster ◄──Report(task, …)──── Node        and only when that is durable, the next task
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use actix::fut::{WrapFuture, ready};
use actix::{Actor, ActorFutureExt, Addr, AsyncContext, Context, Handler, Message, WeakAddr};
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_domain::task::{TaskOrder, TaskReport};
use cooperage_plugins::Context as TaskContext;
use slog::{Logger, debug, warn};
use tokio_util::sync::CancellationToken;

use crate::cluster::{Begin, Cluster, Report};
use crate::janitor::{Arm, Deadline, Disarm, Janitor, TimeUp};
use crate::provisioner::{Execute, Provisioner};
use crate::task_log::TaskLog;
use crate::worker_pool::{RequestSlot, Slot, SlotGranted, WorkerPool};

/// Whom a node talks to.
#[derive(Clone)]
pub struct Colleagues {
    /// Hands out worker slots of the cluster's tenant.
    pub pool: Addr<WorkerPool>,
    /// Carries tasks out.
    pub provisioner: Addr<Provisioner>,
    /// Keeps deadlines.
    pub janitor: Addr<Janitor>,
    /// Takes the output of tasks.
    pub log: TaskLog,
}

/// One node of a live cluster.
pub struct Node {
    id: NodeId,
    cluster_id: ClusterId,
    tenant: String,
    cluster: WeakAddr<Cluster>,
    colleagues: Colleagues,
    logger: Logger,
    /// Tasks that may start, with the length of the path behind each.
    waiting: BTreeMap<u32, i64>,
    current: Current,
}

/// What the node is doing. One thing, since it is one machine.
enum Current {
    Idle,
    /// A slot has been asked for.
    Queued,
    /// The cluster has been asked to begin a task; the slot is held.
    Beginning,
    /// A task is being executed, or its result is being recorded.
    Executing {
        task: u32,
        attempt: u32,
        cancel: CancellationToken,
        timed_out: bool,
    },
}

impl Node {
    /// A node with nothing to do.
    #[must_use]
    pub fn new(
        id: NodeId,
        cluster_id: ClusterId,
        tenant: String,
        cluster: WeakAddr<Cluster>,
        colleagues: Colleagues,
        logger: Logger,
    ) -> Self {
        Self {
            id,
            cluster_id,
            tenant,
            cluster,
            colleagues,
            logger,
            waiting: BTreeMap::new(),
            current: Current::Idle,
        }
    }

    /// The task with the longest path behind it; among equals the one planned first.
    fn first(&self) -> Option<(u32, i64)> {
        self.waiting
            .iter()
            .map(|(task, rank)| (*task, *rank))
            .max_by_key(|(task, rank)| (*rank, u32::MAX - task))
    }

    fn ask_for_slot(&mut self, ctx: &Context<Self>) {
        let Some((_, rank)) = self.first() else { return };
        match self.current {
            Current::Idle | Current::Queued => {}
            Current::Beginning | Current::Executing { .. } => return,
        }
        self.current = Current::Queued;
        self.colleagues.pool.do_send(RequestSlot {
            cluster: self.cluster_id,
            node: self.id.clone(),
            rank,
            reply: ctx.address().recipient(),
        });
    }

    fn begin(&mut self, task: u32, slot: Slot, ctx: &mut Context<Self>) {
        let Some(cluster) = self.cluster.upgrade() else { return };
        self.current = Current::Beginning;
        let asked = cluster.send(Begin { task });
        ctx.spawn(asked.into_actor(self).map(move |answer, node, ctx| match answer {
            Ok(Ok(order)) => node.execute(order, Some(slot), ctx),
            Ok(Err(reason)) => {
                debug!(node.logger, "task not begun"; "task" => task, "reason" => reason.to_string());
                drop(slot);
                node.rest(ctx);
            }
            Err(_) => drop(slot),
        }));
    }

    fn execute(&mut self, order: TaskOrder, slot: Option<Slot>, ctx: &mut Context<Self>) {
        let (task, attempt) = (order.task_id.number, order.attempt);
        let cancel = CancellationToken::new();
        self.current = Current::Executing { task, attempt, cancel: cancel.clone(), timed_out: false };
        let output = Arc::new(self.colleagues.log.of(order.task_id, attempt));
        let context = TaskContext { tenant: self.tenant.clone(), order, output, cancel };
        let result = self.colleagues.provisioner.send(Execute(context));
        ctx.spawn(result.into_actor(self).then(move |report, node, ctx| {
            let report = report.unwrap_or_else(|_| TaskReport::failure(1, "The provisioner is gone."));
            node.record(task, attempt, report, ctx);
            // The worker is free as soon as the result is on its way to the journal.
            drop(slot);
            ready(())
        }));
    }

    fn record(&mut self, task: u32, attempt: u32, report: TaskReport, ctx: &mut Context<Self>) {
        self.colleagues.janitor.do_send(Disarm(self.deadline(task, attempt)));
        let timed_out = matches!(self.current, Current::Executing { timed_out: true, .. });
        let report = if timed_out && !report.succeeded() { None } else { Some(report) };
        let Some(cluster) = self.cluster.upgrade() else { return };
        let recorded = cluster.send(Report { task, attempt, report });
        ctx.spawn(recorded.into_actor(self).map(move |answer, node, ctx| {
            if let Ok(Err(refusal)) = &answer {
                warn!(node.logger, "result refused"; "task" => task, "attempt" => attempt, "reason" => refusal.to_string());
            }
            node.rest(ctx);
        }));
    }

    fn rest(&mut self, ctx: &Context<Self>) {
        self.current = Current::Idle;
        self.ask_for_slot(ctx);
    }

    fn deadline(&self, task: u32, attempt: u32) -> Deadline {
        Deadline::Attempt { node: self.id.clone(), task, attempt }
    }
}

impl Actor for Node {
    type Context = Context<Self>;
}

/// A task of this node may start. Offering it again changes its rank.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Offer {
    /// Number of the task.
    pub task: u32,
    /// Length of the path behind it, in ms.
    pub rank: i64,
}

/// Tasks that are waiting may not start any more; a running one goes on.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Withdraw;

/// An attempt is open: see that it is under way, and give it up at its deadline.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Follow {
    /// What is to be done; `None` when this node has begun it itself.
    pub order: Option<Box<TaskOrder>>,
    /// Number of the task.
    pub task: u32,
    /// Number of the attempt.
    pub attempt: u32,
    /// When it is given up, in ms since 1970.
    pub deadline: i64,
}

impl Handler<Offer> for Node {
    type Result = ();

    fn handle(&mut self, offer: Offer, ctx: &mut Self::Context) {
        self.waiting.insert(offer.task, offer.rank);
        self.ask_for_slot(ctx);
    }
}

impl Handler<Withdraw> for Node {
    type Result = ();

    fn handle(&mut self, _: Withdraw, _: &mut Self::Context) {
        self.waiting.clear();
    }
}

impl Handler<SlotGranted> for Node {
    type Result = ();

    fn handle(&mut self, granted: SlotGranted, ctx: &mut Self::Context) {
        if !matches!(self.current, Current::Queued) {
            return;
        }
        let Some((task, _)) = self.first() else {
            self.current = Current::Idle;
            return;
        };
        self.waiting.remove(&task);
        self.begin(task, granted.slot, ctx);
    }
}

impl Handler<Follow> for Node {
    type Result = ();

    fn handle(&mut self, follow: Follow, ctx: &mut Self::Context) {
        let Follow { order, task, attempt, deadline } = follow;
        self.colleagues.janitor.do_send(Arm {
            deadline: self.deadline(task, attempt),
            at: deadline,
            whom: ctx.address().recipient(),
        });
        // After a restart the attempt is taken up without a slot: the worker it had is gone, the execution may not be.
        if let (Some(order), Current::Idle | Current::Queued) = (order, &self.current) {
            self.execute(*order, None, ctx);
        }
    }
}

impl Handler<TimeUp> for Node {
    type Result = ();

    fn handle(&mut self, TimeUp(deadline): TimeUp, _: &mut Self::Context) {
        let Deadline::Attempt { task: late, attempt: late_attempt, .. } = deadline else { return };
        let Current::Executing { task, attempt, cancel, timed_out } = &mut self.current else { return };
        if (*task, *attempt) == (late, late_attempt) {
            warn!(self.logger, "attempt timed out"; "task" => late, "attempt" => late_attempt);
            *timed_out = true;
            cancel.cancel();
        }
    }
}
