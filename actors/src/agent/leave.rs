//! Leaving in order: nothing new, everything that runs to its end, and a good-bye.

use actix::{ActorFutureExt, AsyncContext, Context, Handler, Message, ResponseFuture, WrapFuture};
use slog::{info, warn};
use tokio::sync::oneshot;

use super::{Agent, Standing};

/// Take no more, end what runs, and leave the server.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "Left")]
pub struct Leave;

/// It has left: every report has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left;

impl Handler<Leave> for Agent {
    type Result = ResponseFuture<Left>;

    fn handle(&mut self, _: Leave, ctx: &mut Self::Context) -> Self::Result {
        let (sender, left) = oneshot::channel();
        let first = self.leaving.is_none();
        self.leaving.get_or_insert_default().push(sender);
        if first {
            info!(self.office.logger, "no more tasks are taken"; "running" => self.running.len());
            // The server gives the work to others, and answers the requests that wait for tasks.
            self.register(ctx);
        }
        Box::pin(async { left.await.unwrap_or(Left) })
    }
}

impl Agent {
    /// Says good-bye when nothing is left: no task, and no request that may still bring one.
    pub(super) fn go_if_done(&mut self, ctx: &mut Context<Self>) {
        let taking = self.tenants.values().any(|tenant| tenant.taking.is_some());
        let asking = matches!(self.standing, Standing::Asking { .. });
        if self.leaving.is_none() || self.gone || taking || asking || !self.running.is_empty() {
            return;
        }
        self.gone = true;
        let asked = self.office.link.deregister();
        ctx.spawn(asked.into_actor(self).map(|answer, agent, _| {
            let logger = &agent.office.logger;
            match answer {
                Ok(()) => {
                    info!(logger, "all is reported, and the server knows that this provisioner is gone");
                }
                // It finds out by itself: the provisioner is silent from now on.
                Err(fault) => {
                    let fault = fault.to_string();
                    warn!(logger, "all is reported, but the server was not told good-bye"; "fault" => fault);
                }
            }
            for waiting in agent.leaving.take().into_iter().flatten() {
                // Who asked may have lost patience.
                let _ = waiting.send(Left);
            }
        }));
    }
}
