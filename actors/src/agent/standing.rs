//! How the agent stands with its server: registered, alive, and with which capacity.

use actix::{ActorFutureExt, AsyncContext, Context, Handler, Message, WrapFuture};
use slog::{debug, info, warn};

use super::link::LinkFault;
use super::{Agent, Standing, pause};

/// From now on it can bring so many workers.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct SetCapacity(pub u32);

/// The server said that it does not know this provisioner.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub(super) struct Forgotten;

impl Agent {
    /// Tells the server who and how large this is, until it has understood.
    pub(super) fn register(&mut self, ctx: &mut Context<Self>) {
        if self.gone {
            return;
        }
        if let Standing::Asking { again } = &mut self.standing {
            *again = true;
            return;
        }
        self.standing = Standing::Asking { again: false };
        // Who registers has no workers until the server says so; it does that before it answers, or soon after.
        for tenant in self.tenants.values_mut() {
            tenant.slots.resize(0);
        }
        let asked = self.office.link.register(self.capacity, self.leaving.is_some());
        ctx.spawn(asked.into_actor(self).map(|answer, agent, ctx| {
            let again = matches!(agent.standing, Standing::Asking { again: true });
            agent.standing = Standing::Unknown;
            match answer {
                Ok(granted) => {
                    let names = granted.iter().map(|one| format!("{one:?}")).collect::<Vec<_>>().join(" ");
                    info!(agent.office.logger, "registered"; "id" => &agent.office.id,
                        "capacity" => agent.capacity, "leaving" => agent.leaving.is_some(), "extensions" => names);
                    (agent.failures, agent.away) = (0, false);
                    agent.standing = Standing::Registered;
                    agent.granted = granted;
                    if again {
                        agent.register(ctx);
                    } else {
                        agent.work_on(ctx);
                    }
                }
                Err(fault) => {
                    agent.unreached(&fault);
                    agent.failures = agent.failures.saturating_add(1);
                    ctx.run_later(pause(agent.failures), |agent, ctx| {
                        if agent.standing == Standing::Unknown {
                            agent.register(ctx);
                        }
                    });
                    agent.go_if_done(ctx);
                }
            }
        }));
    }

    /// Everything that waits for the server to know this provisioner.
    fn work_on(&mut self, ctx: &mut Context<Self>) {
        let tenants: Vec<String> = self.tenants.keys().cloned().collect();
        for tenant in tenants {
            self.recall(&tenant, ctx);
            self.take(&tenant, ctx);
        }
        self.watch(ctx);
        self.go_if_done(ctx);
    }

    pub(super) fn beat(&mut self, ctx: &mut Context<Self>) {
        if !self.is_registered() {
            return;
        }
        let asked = self.office.link.beat(self.usage());
        ctx.spawn(asked.into_actor(self).map(|answer, agent, ctx| match answer {
            Ok(()) => agent.reached(ctx),
            Err(LinkFault::Forgotten) => agent.forgotten(ctx),
            Err(fault) => agent.unreached(&fault),
        }));
    }

    /// The server answered. Whoever paused because it did not need not wait any longer.
    pub(super) fn reached(&mut self, ctx: &mut Context<Self>) {
        if std::mem::take(&mut self.away) {
            info!(self.office.logger, "the server answers again");
            self.work_on(ctx);
        }
    }

    /// The server did not answer, or did not do what it was asked.
    pub(super) fn unreached(&mut self, fault: &LinkFault) {
        let fault = fault.to_string();
        if std::mem::replace(&mut self.away, true) {
            debug!(self.office.logger, "the server still does not do what it is asked"; "fault" => fault);
        } else {
            warn!(self.office.logger, "the server does not do what it is asked; tasks go on, and it is asked again";
                "fault" => fault);
        }
    }

    /// The server does not know this provisioner any more.
    pub(super) fn forgotten(&mut self, ctx: &mut Context<Self>) {
        if self.is_registered() && !self.gone {
            info!(
                self.office.logger,
                "the server does not know this provisioner; it is registered again (if that goes \
                on and on, the server cannot reach it: see provisioner.listen and provisioner.advertise)"
            );
            self.register(ctx);
        }
    }
}

impl Handler<Forgotten> for Agent {
    type Result = ();

    fn handle(&mut self, _: Forgotten, ctx: &mut Self::Context) {
        self.forgotten(ctx);
    }
}

impl Handler<SetCapacity> for Agent {
    type Result = ();

    fn handle(&mut self, SetCapacity(capacity): SetCapacity, ctx: &mut Self::Context) {
        if self.capacity != capacity {
            info!(self.office.logger, "the capacity changes"; "from" => self.capacity, "to" => capacity);
            self.capacity = capacity;
            self.register(ctx);
        }
    }
}
