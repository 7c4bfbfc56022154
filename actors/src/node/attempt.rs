//! One attempt on a node, from its order to its durable result.

use std::future::pending;
use std::sync::Arc;

use actix::fut::{WrapFuture, ready};
use actix::{ActorContext, ActorFutureExt, AsyncContext, Handler};
use cooperage_domain::task::{TaskOrder, TaskReport};
use cooperage_plugins::Context as TaskContext;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use slog::{info, warn};
use tokio_util::sync::CancellationToken;

use super::message::{Cease, Follow, Halt, Recorded, Retire};
use super::{Current, Executing, Node};
use crate::cluster::{Begun, OperateError, Report};
use crate::console::Context;
use crate::handover::HandOver;
use crate::janitor::{Arm, Deadline, Disarm, TimeUp};
use crate::provisioner::{Cancel, Execute, Execution, Forget};
use crate::worker_pool::{Slot, Worker};

impl Node {
    pub(super) fn execute(&mut self, begun: Begun, mut slot: Slot, ctx: &mut Context<Self>) {
        let Begun { order, deadline, .. } = begun;
        let execution = Execution { task: order.task_id, attempt: order.attempt };
        let arm = Arm { deadline: self.deadline(execution), at: deadline, whom: ctx.address().recipient() };
        self.colleagues.janitor.do_send(arm);
        let result = self.have_done(order, slot.worker_mut());
        let wait = ctx.spawn(result.into_actor(self).then(move |report, node, ctx| {
            // It may just have been given up.
            if let Current::Executing(current) = &node.current
                && current.execution == execution
            {
                let failed_late = current.timed_out && !report.succeeded();
                node.report(execution, (!failed_late).then_some(report), ctx);
            }
            // The worker is free as soon as the result is on its way to the journal.
            drop(slot);
            ready(())
        }));
        self.current = Current::Executing(Executing { execution, timed_out: false, wait });
        self.halt_if_asked(ctx);
    }

    /// Stops what runs when that is the attempt that was to be stopped.
    fn halt_if_asked(&mut self, ctx: &mut Context<Self>) {
        let Current::Executing(current) = &self.current else { return };
        let execution = current.execution;
        if self.halted == Some((execution.task.number, execution.attempt)) {
            info!(self.logger, "attempt is stopped with its job"; "task" => execution.task.number,
                "attempt" => execution.attempt);
            self.cancel(execution);
            ctx.run_later(self.grace, move |node, ctx| node.give_up(execution, ctx));
        }
    }

    /// The report of whoever carries the order out: a plugin of this process, or a worker elsewhere.
    fn have_done(&self, mut order: TaskOrder, worker: &mut Worker) -> LocalBoxFuture<'static, TaskReport> {
        let secrets = self.colleagues.vault.known(self.identity.cluster).unwrap_or_default();
        secrets.secrets.reveal(&mut order);
        let execution = Execution { task: order.task_id, attempt: order.attempt };
        match worker {
            Worker::Local => {
                let redactor = secrets.redactor.clone();
                let output = Arc::new(self.colleagues.log.of(execution.task, execution.attempt, redactor));
                let (tenant, cancel) = (self.identity.tenant.clone(), CancellationToken::new());
                let execute = Execute(TaskContext { tenant, order, output, cancel });
                let carried_out = self.colleagues.provisioner.send(execute);
                let report = async {
                    match carried_out.await {
                        Ok(report) => report,
                        // The process ends. How far the execution came is seen when it is taken up again: nothing is told of it.
                        Err(_) => pending().await,
                    }
                };
                report.boxed_local()
            }
            Worker::Elsewhere { name, waits } => {
                let (worker, tenant) = (name.clone(), self.identity.tenant.clone());
                let order = waits.take().map(|waits| (order, waits));
                let hand_over = HandOver { execution, worker, tenant, order };
                self.colleagues.handover.hand_over(hand_over).boxed_local()
            }
        }
    }

    /// Has the end of an attempt recorded; `None` when its time was up.
    fn report(&mut self, execution: Execution, report: Option<TaskReport>, ctx: &mut Context<Self>) {
        let Some(cluster) = self.cluster.upgrade() else { return };
        self.colleagues.janitor.do_send(Disarm(self.deadline(execution)));
        self.current = Current::Reporting;
        self.unsettled.push(execution);
        let (task, attempt) = (execution.task.number, execution.attempt);
        let recorded = cluster.send(Report { task, attempt, report });
        ctx.spawn(recorded.into_actor(self).map(move |answer, node, ctx| {
            match answer {
                Ok(Ok(())) => {}
                Ok(Err(OperateError::Refused(refusal))) => {
                    warn!(node.logger, "result refused"; "task" => task, "attempt" => attempt,
                        "reason" => refusal.to_string());
                    node.settle(execution);
                }
                Ok(Err(OperateError::NotRecorded(fault))) if fault.is_fenced() => node.settle(execution),
                // The cluster starts again and asks for the same execution: its report is kept. (A report is made for no
                // state in particular, so that none has moved, and begins no job, so that nobody refuses it.)
                Ok(Err(
                    OperateError::NotRecorded(_)
                    | OperateError::NotLetIn(_)
                    | OperateError::Gone
                    | OperateError::Moved { .. },
                ))
                | Err(_) => return,
            }
            node.rest(ctx);
        }));
    }

    /// The plugin was cancelled and has not stopped.
    fn give_up(&mut self, execution: Execution, ctx: &mut Context<Self>) {
        let Current::Executing(current) = &self.current else { return };
        if current.execution != execution {
            return;
        }
        warn!(self.logger, "attempt given up: its plugin does not stop, and its machine is blocked until it does";
            "task" => execution.task.number, "attempt" => execution.attempt);
        // With the wait its slot goes back: what stays blocked is the machine, not a worker.
        ctx.cancel_future(current.wait);
        self.report(execution, None, ctx);
    }

    /// Nobody wants this execution any more: a plugin stops what it can, a worker elsewhere is not heard any more.
    fn cancel(&self, execution: Execution) {
        self.colleagues.provisioner.do_send(Cancel(execution));
        self.colleagues.handover.give_up(execution);
    }

    /// Nobody will ask for this execution again.
    fn settle(&mut self, execution: Execution) {
        self.unsettled.retain(|other| *other != execution);
        self.colleagues.provisioner.do_send(Forget(execution));
        self.colleagues.handover.settle(execution);
    }

    fn deadline(&self, Execution { task, attempt }: Execution) -> Deadline {
        Deadline::Attempt { node: self.identity.id.clone(), task: task.number, attempt }
    }
}

impl Handler<Follow> for Node {
    type Result = ();

    /// Asked of a node that has just started, so that it is not busy; if it were, its own attempt would be this one.
    fn handle(&mut self, Follow(begun): Follow, ctx: &mut Self::Context) {
        if matches!(self.current, Current::Idle | Current::Queued) {
            info!(self.logger, "taking up an attempt"; "task" => begun.order.task_id.number,
                "attempt" => begun.order.attempt);
            let slot = Slot::taken_up(&self.colleagues.pool, self.identity.cluster, &begun.worker);
            self.execute(*begun, slot, ctx);
        }
    }
}

impl Handler<Halt> for Node {
    type Result = ();

    /// What runs is stopped if it can be; how far it came is reported as ever.
    fn handle(&mut self, Halt { task, attempt }: Halt, ctx: &mut Self::Context) {
        self.halted = Some((task, attempt));
        self.halt_if_asked(ctx);
    }
}

impl Handler<TimeUp> for Node {
    type Result = ();

    fn handle(&mut self, TimeUp(deadline): TimeUp, ctx: &mut Self::Context) {
        let Current::Executing(current) = &mut self.current else { return };
        let execution = current.execution;
        let Deadline::Attempt { task, attempt, .. } = deadline else { return };
        if (execution.task.number, execution.attempt) == (task, attempt) {
            warn!(self.logger, "attempt timed out"; "task" => task, "attempt" => attempt);
            current.timed_out = true;
            self.cancel(execution);
            ctx.run_later(self.grace, move |node, ctx| node.give_up(execution, ctx));
        }
    }
}

impl Handler<Recorded> for Node {
    type Result = ();

    fn handle(&mut self, Recorded { task, attempt }: Recorded, _: &mut Self::Context) {
        let is_it = |it: &&Execution| (it.task.number, it.attempt) == (task, attempt);
        if let Some(execution) = self.unsettled.iter().find(is_it).copied() {
            self.settle(execution);
        }
    }
}

impl Handler<Cease> for Node {
    type Result = ();

    fn handle(&mut self, _: Cease, ctx: &mut Self::Context) {
        match &self.current {
            Current::Executing(Executing { execution, .. }) => {
                let execution = *execution;
                self.cancel(execution);
                self.settle(execution);
            }
            Current::Idle | Current::Queued | Current::Beginning | Current::Reporting => {}
        }
        for execution in std::mem::take(&mut self.unsettled) {
            self.settle(execution);
        }
        ctx.stop();
    }
}

impl Handler<Retire> for Node {
    type Result = ();

    fn handle(&mut self, _: Retire, ctx: &mut Self::Context) {
        ctx.stop();
    }
}
