//! What the agent does for a tenant: so many slots, with these plugin resources.

use std::time::Duration;

use actix::{ActorFutureExt, AsyncContext, Context, Handler, Message, WrapFuture};
use cooperage_domain::task::TaskOrder;
use cooperage_domain::worker_protocol::Resources;
use cooperage_domain::worker_slots::WorkerSlots;
use slog::{error, info};

use super::link::Prepared;
use super::{Agent, pause};
use crate::provisioner::{Execution, UsePlugins};

/// A tenant that this provisioner works for.
#[derive(Default)]
pub(super) struct Tenant {
    pub(super) slots: WorkerSlots,
    /// Whether a request for tasks is out, and for how many slots.
    pub(super) taking: Option<usize>,
    /// Failures in a row to take tasks.
    pub(super) take_failures: u32,
    /// Tasks that were taken and wait for the resources.
    pub(super) waiting: Vec<TaskOrder>,
    resources: Resources,
    /// Counts changes of what is wanted, by which an answer that is not wanted any more is known.
    wanted: u64,
    /// What of it is there.
    ready: u64,
    failures: u32,
}

impl Tenant {
    /// Whether its resources are as they should be, or as near as can be.
    pub(super) const fn is_ready(&self) -> bool {
        self.wanted > 0 && self.ready == self.wanted
    }
}

/// Bring so many workers for a tenant, with these plugin resources. Returns at once; the rest happens meanwhile.
#[derive(Debug, Clone, Message)]
#[rtype(result = "()")]
pub struct Assign {
    /// Internal id.
    pub tenant: String,
    /// How many.
    pub workers: u32,
    /// All plugin resources in use.
    pub resources: Resources,
}

/// Bring no workers for a tenant any more; what runs goes on to its end. Whether there was such a tenant.
#[derive(Debug, Clone, Message)]
#[rtype(result = "bool")]
pub struct Dismiss {
    /// Internal id.
    pub tenant: String,
}

impl Handler<Assign> for Agent {
    type Result = ();

    fn handle(&mut self, assign: Assign, ctx: &mut Self::Context) {
        let Assign { tenant, workers, resources } = assign;
        let found = self.tenants.entry(tenant.clone()).or_default();
        info!(self.office.logger, "workers are wanted"; "tenant" => &tenant, "workers" => workers);
        found.slots.resize(workers);
        if found.wanted == 0 || found.resources != resources {
            found.resources = resources;
            found.wanted += 1;
            found.failures = 0;
            self.prepare(&tenant, ctx);
        } else {
            self.recall(&tenant, ctx);
            self.take(&tenant, ctx);
        }
    }
}

impl Handler<Dismiss> for Agent {
    type Result = bool;

    fn handle(&mut self, Dismiss { tenant }: Dismiss, ctx: &mut Self::Context) -> bool {
        let Some(found) = self.tenants.get_mut(&tenant) else { return false };
        found.slots.resize(0);
        if found.slots.is_idle() && found.taking.is_none() {
            self.tenants.remove(&tenant);
        } else {
            self.recall(&tenant, ctx);
        }
        true
    }
}

impl Agent {
    /// Gets the resources a tenant's tasks need from now on.
    fn prepare(&mut self, tenant: &str, ctx: &mut Context<Self>) {
        let Some(found) = self.tenants.get(tenant) else { return };
        let (wanted, resources) = (found.wanted, found.resources.clone());
        let prepared = self.office.supplies.prepare(tenant.to_owned(), resources);
        let tenant = tenant.to_owned();
        ctx.spawn(prepared.into_actor(self).map(move |prepared, agent, ctx| {
            agent.prepared(&tenant, wanted, prepared, ctx);
        }));
    }

    fn prepared(&mut self, tenant: &str, wanted: u64, prepared: Prepared, ctx: &mut Context<Self>) {
        let Some(found) = self.tenants.get_mut(tenant).filter(|found| found.wanted == wanted) else {
            return;
        };
        found.ready = wanted;
        let plugins = UsePlugins { tenant: tenant.to_owned(), plugins: prepared.plugins };
        self.office.provisioner.do_send(plugins);
        for fault in &prepared.faults {
            error!(self.office.logger, "a plugin resource cannot be used"; "tenant" => tenant, "fault" => fault);
        }
        if !prepared.faults.is_empty() {
            found.failures += 1;
            // Never in a hurry: who works without it may have to be told by somebody first.
            let again = pause(found.failures).max(Duration::from_secs(1));
            let tenant = tenant.to_owned();
            ctx.run_later(again, move |agent, ctx| {
                if agent.tenants.get(&tenant).is_some_and(|found| found.wanted == wanted) {
                    agent.prepare(&tenant, ctx);
                }
            });
        }
        for order in std::mem::take(&mut found.waiting) {
            let execution = Execution { task: order.task_id, attempt: order.attempt };
            self.execute(execution, order, ctx);
        }
        self.take(tenant, ctx);
    }
}
