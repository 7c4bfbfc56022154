//! Taking tasks for free slots, and having them carried out.

use std::sync::Arc;
use std::time::Duration;

use actix::{ActorFutureExt, AsyncContext, Context, WrapFuture};
use cooperage_domain::task::{TaskOrder, TaskReport};
use cooperage_domain::worker_protocol::{
    Extension, LONGEST_WAIT_SECONDS, MOST_WORKERS, TakeBatch, TakenTask,
};
use cooperage_plugins::Context as TaskContext;
use futures::FutureExt;
use slog::{info, warn};
use tokio_util::sync::CancellationToken;

use super::lines::Lines;
use super::link::{LinkFault, Reply};
use super::{Agent, Running, pause};
use crate::provisioner::{Execute, Execution};

/// Pause after an answer without tasks of a server that waits for some by itself.
const BETWEEN_WAITS: Duration = Duration::from_millis(50);
/// Pause after an answer without a task of a server that does not wait, as in Coopr.
const BETWEEN_POLLS: Duration = Duration::from_secs(1);

impl Agent {
    /// Asks for tasks for a tenant's free slots, unless that is being done.
    pub(super) fn take(&mut self, tenant: &str, ctx: &mut Context<Self>) {
        if !self.is_registered() || self.leaving.is_some() {
            return;
        }
        let batch = self.speaks(Extension::TakeBatch);
        let Some(found) =
            self.tenants.get_mut(tenant).filter(|found| found.is_ready() && found.taking.is_none())
        else {
            return;
        };
        let free = found.slots.free(if batch { MOST_WORKERS } else { 1 });
        if free.is_empty() {
            return;
        }
        found.taking = Some(free.len());
        let asked = self.ask(tenant, &free, batch);
        let tenant = tenant.to_owned();
        ctx.spawn(asked.into_actor(self).map(move |answer, agent, ctx| {
            agent.taken(tenant, &free, answer, batch, ctx);
        }));
    }

    /// Ends the wait of a request for more slots than there are now. What it has got already still comes.
    pub(super) fn recall(&mut self, tenant: &str, ctx: &mut Context<Self>) {
        let asked =
            self.tenants.get(tenant).and_then(|found| Some((found.taking?, found.slots.free(MOST_WORKERS))));
        let too_many = asked.is_some_and(|(taking, free)| taking > free.len());
        if too_many && self.is_registered() && self.speaks(Extension::TakeBatch) {
            // Should it not arrive, the wait ends by itself.
            let asked = self.ask(tenant, &[], true);
            ctx.spawn(asked.map(drop).into_actor(self));
        }
    }

    fn ask(&self, tenant: &str, free: &[u32], batch: bool) -> Reply<Vec<TakenTask>> {
        let worker_ids: Vec<String> = free.iter().map(|slot| Self::worker_id(tenant, *slot)).collect();
        if batch {
            return self.office.link.take_batch(TakeBatch {
                provisioner_id: self.office.id.clone(),
                tenant_id: tenant.to_owned(),
                worker_ids,
                wait_seconds: LONGEST_WAIT_SECONDS,
            });
        }
        let worker_id = worker_ids.concat();
        let asked = self.office.link.take(tenant.to_owned(), worker_id.clone());
        asked.map(|task| Ok(task?.map(|task| TakenTask { worker_id, task }).into_iter().collect())).boxed()
    }

    fn taken(
        &mut self,
        tenant: String,
        free: &[u32],
        answer: Result<Vec<TakenTask>, LinkFault>,
        batch: bool,
        ctx: &mut Context<Self>,
    ) {
        let Some(found) = self.tenants.get_mut(&tenant) else { return };
        found.taking = None;
        let failures = if answer.is_ok() { 0 } else { found.take_failures.saturating_add(1) };
        found.take_failures = failures;
        let wait = match answer {
            Ok(tasks) => {
                let none = tasks.is_empty();
                for taken in tasks {
                    self.accept(&tenant, free, taken, ctx);
                }
                self.reached(ctx);
                match (none, batch) {
                    (false, _) => Duration::ZERO,
                    (true, true) => BETWEEN_WAITS,
                    (true, false) => BETWEEN_POLLS,
                }
            }
            Err(LinkFault::Forgotten) => {
                self.forgotten(ctx);
                Duration::ZERO
            }
            Err(fault) => {
                self.unreached(&fault);
                pause(failures)
            }
        };
        self.watch(ctx);
        self.go_if_done(ctx);
        if wait.is_zero() {
            self.take(&tenant, ctx);
        } else {
            ctx.run_later(wait, move |agent, ctx| agent.take(&tenant, ctx));
        }
    }

    /// A slot has a task. It begins when the tenant's resources are there.
    fn accept(&mut self, tenant: &str, free: &[u32], taken: TakenTask, ctx: &mut Context<Self>) {
        let TakenTask { worker_id, task: order } = taken;
        let Some(slot) = free.iter().copied().find(|slot| Self::worker_id(tenant, *slot) == worker_id) else {
            let task = order.task_id.to_string();
            warn!(self.office.logger, "a task for a worker that did not ask"; "worker" => worker_id, "task" => task);
            return;
        };
        let execution = Execution { task: order.task_id, attempt: order.attempt };
        let Some(found) = self.tenants.get_mut(tenant) else { return };
        found.slots.occupy(slot);
        info!(self.office.logger, "task taken"; "task" => order.task_id.to_string(), "attempt" => order.attempt,
            "name" => order.task_name.as_str(), "worker" => worker_id);
        let running = Running { tenant: tenant.to_owned(), slot, lines: Arc::default(), cancelled: false };
        self.running.insert(execution, running);
        if found.is_ready() {
            self.execute(execution, order, ctx);
        } else {
            found.waiting.push(order);
        }
    }

    /// Has a task of a slot carried out.
    pub(super) fn execute(&mut self, execution: Execution, order: TaskOrder, ctx: &mut Context<Self>) {
        let Some(running) = self.running.get(&execution) else { return };
        let (tenant, output): (_, Arc<Lines>) = (running.tenant.clone(), Arc::clone(&running.lines));
        let context = TaskContext { tenant, order, output, cancel: CancellationToken::new() };
        let report = self.office.provisioner.send(Execute(context));
        ctx.spawn(report.into_actor(self).map(move |report, agent, ctx| {
            let broken = |fault| TaskReport::failure(1, format!("The provisioner broke off: {fault}."));
            agent.deliver(execution, report.unwrap_or_else(broken), ctx);
        }));
    }
}
