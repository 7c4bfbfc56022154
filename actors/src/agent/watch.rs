//! Learning which running tasks nobody waits for any more.

use std::time::Duration;

use actix::{ActorFutureExt, AsyncContext, Context, WrapFuture};
use cooperage_domain::worker_protocol::{Extension, LONGEST_WAIT_SECONDS, RunningTask, Watch};
use slog::info;

use super::link::LinkFault;
use super::{Agent, id_of, pause};
use crate::provisioner::{Cancel, Execution};

/// Pause between two requests that wait.
const BETWEEN_WAITS: Duration = Duration::from_millis(100);

impl Agent {
    /// Asks as long as something runs, unless that is being done.
    pub(super) fn watch(&mut self, ctx: &mut Context<Self>) {
        if self.watching || !self.is_registered() || !self.speaks(Extension::Cancel) {
            return;
        }
        let wanted = self.running.iter().filter(|(_, running)| !running.cancelled);
        let running: Vec<_> = wanted
            .map(|(execution, running)| RunningTask {
                execution: id_of(*execution),
                worker_id: Self::worker_id(&running.tenant, running.slot),
            })
            .collect();
        if running.is_empty() {
            return;
        }
        self.watching = true;
        let provisioner_id = self.office.id.clone();
        let asked =
            self.office.link.watch(Watch { provisioner_id, running, wait_seconds: LONGEST_WAIT_SECONDS });
        ctx.spawn(asked.into_actor(self).map(|answer, agent, ctx| {
            agent.watching = false;
            let failures = if answer.is_ok() { 0 } else { agent.watch_failures.saturating_add(1) };
            agent.watch_failures = failures;
            let wait = match answer {
                Ok(unwanted) => {
                    for id in unwanted.cancel {
                        agent.cancel(Execution { task: id.task_id, attempt: id.attempt });
                    }
                    BETWEEN_WAITS
                }
                Err(LinkFault::Forgotten) => {
                    agent.forgotten(ctx);
                    BETWEEN_WAITS
                }
                Err(fault) => {
                    agent.unreached(&fault);
                    pause(failures)
                }
            };
            ctx.run_later(wait, Self::watch);
        }));
    }

    fn cancel(&mut self, execution: Execution) {
        let Some(running) = self.running.get_mut(&execution).filter(|running| !running.cancelled) else {
            return;
        };
        running.cancelled = true;
        info!(self.office.logger, "a task is cancelled, since the server gave it up";
            "task" => execution.task.to_string(), "attempt" => execution.attempt);
        self.office.provisioner.do_send(Cancel(execution));
    }
}
