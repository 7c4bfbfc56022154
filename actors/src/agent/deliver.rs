//! Reports and output on their way to the server.

use std::sync::Arc;
use std::time::Duration;

use actix::{ActorFutureExt, Addr, AsyncContext, Context, WrapFuture};
use cooperage_domain::task::TaskReport;
use cooperage_domain::worker_protocol::{Extension, Finished, LinesTaken, OutputBatch, OutputPart};
use slog::{Logger, info, warn};

use super::lines::{Lines, cost};
use super::link::{LinkFault, ServerLink};
use super::standing::Forgotten;
use super::{Agent, id_of, pause};
use crate::provisioner::{Execution, Forget};

/// How often the last lines of a task are offered to a server that does not know the task (yet).
const MAX_UNKNOWN: u32 = 12;
/// Pause between two such offers.
const BETWEEN: Duration = Duration::from_millis(250);
/// Bytes of output that are enough for one request.
const ENOUGH: usize = 1024 * 1024;

impl Agent {
    /// Passes on what tasks printed meanwhile: of each something in turn.
    pub(super) fn pass_on(&mut self, ctx: &mut Context<Self>) {
        if self.passing_on
            || !self.is_registered()
            || !self.speaks(Extension::Output)
            || self.running.is_empty()
        {
            return;
        }
        let mut executions: Vec<&Execution> = self.running.keys().collect();
        let begin = self.passed_on % executions.len();
        executions.rotate_left(begin);
        let (mut outputs, mut bytes, mut looked_at) = (Vec::new(), 0, 0);
        for execution in executions {
            if bytes >= ENOUGH {
                break;
            }
            looked_at += 1;
            let Some((running, (first, lines))) =
                self.running.get(execution).and_then(|running| Some((running, running.lines.next()?)))
            else {
                continue;
            };
            bytes += lines.iter().map(|line| cost(&line.text)).sum::<usize>();
            let worker_id = Self::worker_id(&running.tenant, running.slot);
            outputs.push(OutputPart { execution: id_of(*execution), worker_id, first, lines });
        }
        self.passed_on = begin + looked_at;
        if outputs.is_empty() {
            return;
        }
        self.passing_on = true;
        let batch = OutputBatch { provisioner_id: self.office.id.clone(), outputs };
        let asked = self.office.link.output(batch);
        ctx.spawn(asked.into_actor(self).map(move |answer, agent, ctx| {
            agent.passing_on = false;
            // What did not arrive is passed on the next time; beats find out whether the server is away.
            let taken = answer.unwrap_or_default();
            for LinesTaken { execution, next } in &taken {
                let execution = Execution { task: execution.task_id, attempt: execution.attempt };
                if let Some(running) = agent.running.get(&execution) {
                    running.lines.taken(*next);
                }
            }
            if bytes >= ENOUGH && !taken.is_empty() {
                agent.pass_on(ctx);
            }
        }));
    }

    /// Offers a report until it has arrived or is refused; then the slot is free.
    pub(super) fn deliver(&mut self, execution: Execution, report: TaskReport, ctx: &mut Context<Self>) {
        let Some(running) = self.running.get(&execution) else { return };
        let delivery = Delivery {
            link: Arc::clone(&self.office.link),
            lines: self.speaks(Extension::Output).then(|| Arc::clone(&running.lines)),
            agent: ctx.address(),
            logger: self.office.logger.clone(),
            finished: Finished {
                provisioner_id: self.office.id.clone(),
                worker_id: Self::worker_id(&running.tenant, running.slot),
                tenant_id: running.tenant.clone(),
                task_id: execution.task.to_string(),
                attempt: Some(execution.attempt),
                report,
            },
            execution,
        };
        ctx.spawn(delivery.run().into_actor(self).map(move |(), agent, ctx| agent.delivered(execution, ctx)));
    }

    fn delivered(&mut self, execution: Execution, ctx: &mut Context<Self>) {
        self.office.provisioner.do_send(Forget(execution));
        let Some(running) = self.running.remove(&execution) else { return };
        if let Some(tenant) = self.tenants.get_mut(&running.tenant) {
            tenant.slots.release(running.slot);
        }
        self.take(&running.tenant, ctx);
        self.go_if_done(ctx);
    }
}

/// One report on its way.
struct Delivery {
    link: Arc<dyn ServerLink>,
    /// The last lines, which go first; `None` when the server does not take output.
    lines: Option<Arc<Lines>>,
    agent: Addr<Agent>,
    logger: Logger,
    finished: Finished,
    execution: Execution,
}

impl Delivery {
    async fn run(self) {
        if let Some(lines) = &self.lines {
            self.pass_on(lines).await;
        }
        let mut failures = 0;
        loop {
            match self.link.finish(self.finished.clone()).await {
                Ok(()) => {
                    let status = self.finished.report.status;
                    info!(self.logger, "task reported"; "task" => &self.finished.task_id, "status" => status);
                    return;
                }
                Err(LinkFault::Refused(reason)) => {
                    warn!(self.logger, "a report is not wanted any more"; "task" => &self.finished.task_id,
                        "attempt" => self.execution.attempt, "reason" => reason);
                    return;
                }
                Err(fault) => self.wait(&fault, &mut failures).await,
            }
        }
    }

    /// The last lines arrive before the report, after which nobody would take them.
    async fn pass_on(&self, lines: &Lines) {
        let (mut failures, mut unknown) = (0, 0);
        while let Some((first, waiting)) = lines.next() {
            let (execution, worker_id) = (id_of(self.execution), self.finished.worker_id.clone());
            let outputs = vec![OutputPart { execution, worker_id, first, lines: waiting }];
            let provisioner_id = self.finished.provisioner_id.clone();
            match self.link.output(OutputBatch { provisioner_id, outputs }).await {
                Ok(taken) if taken.is_empty() => {
                    unknown += 1;
                    if unknown == MAX_UNKNOWN {
                        return;
                    }
                    tokio::time::sleep(BETWEEN).await;
                }
                Ok(taken) => taken.iter().for_each(|taken| lines.taken(taken.next)),
                Err(LinkFault::Refused(_)) => return,
                Err(fault) => self.wait(&fault, &mut failures).await,
            }
        }
    }

    async fn wait(&self, fault: &LinkFault, failures: &mut u32) {
        if *fault == LinkFault::Forgotten {
            self.agent.do_send(Forgotten);
        }
        *failures += 1;
        tokio::time::sleep(pause(*failures)).await;
    }
}
