//! What a live cluster does with a report: secrets stay here, whoever reports them, and the end of the attempt is recorded.
//! The node is told at once that it is decided, and once more when it is durable.

use std::collections::BTreeMap;

use actix::{ActorFutureExt, Addr, AsyncContext, Handler, WrapFuture};
use cooperage_domain::cluster::{self, Command, outputs};
use cooperage_domain::task::TaskReport;
use serde_json::Value;
use slog::error;
use tokio::sync::oneshot;

use super::handler::{Answer, answer_later};
use super::message::{OperateError, Report};
use super::{Cluster, Done};
use crate::blocking;
use crate::console::Context;
use crate::journal::RecordError;
use crate::node::{Node, Recorded};

type Told = oneshot::Sender<Result<(), OperateError>>;

impl Handler<Report> for Cluster {
    type Result = Answer<()>;

    fn handle(&mut self, Report { task, attempt, report }: Report, ctx: &mut Self::Context) -> Self::Result {
        let (told, answer) = answer_later();
        let Some(report) = report else {
            self.end_attempt(task, attempt, None, told, ctx);
            return answer;
        };
        let (report, secret) = self.look_at(task, report);
        if secret.is_empty() {
            self.end_attempt(task, attempt, Some(report), told, ctx);
        } else {
            self.seal(task, attempt, report, secret, told, ctx);
        }
        answer
    }
}

impl Cluster {
    /// A report after a look at what it gives, and what of that is secret. Secret values are looked at now: what decides
    /// on the report does not see them.
    fn look_at(&self, task: u32, report: TaskReport) -> (TaskReport, BTreeMap<String, Value>) {
        let report = outputs::without_tokens(report);
        let service = self.state.as_deref().and_then(|state| {
            let name = state.latest_job()?.tasks.get(&task)?.service.as_ref()?;
            state.definitions.get(name)
        });
        let Some(service) = service else { return (report, BTreeMap::new()) };
        let report = outputs::checked(service, report);
        let secret = outputs::secret_outputs(service, &report.result);
        (report, secret)
    }

    /// Puts tokens in place of secret outputs once these are kept. The mailbox waits meanwhile, as for the journal. When
    /// they cannot be kept, this actor starts again and asks for the same report.
    fn seal(
        &mut self,
        task: u32,
        attempt: u32,
        mut report: TaskReport,
        secret: BTreeMap<String, Value>,
        told: Told,
        ctx: &mut Context<Self>,
    ) {
        let Some(state) = self.state.as_deref() else { return };
        let (vault, id) = (self.surroundings.colleagues.vault.clone(), self.id);
        let (tenant, in_use) = (state.account.tenant_id.clone(), outputs::in_use(state));
        let kept = blocking::spawn(move || vault.seal_outputs(&tenant, id, secret, in_use));
        ctx.wait(kept.into_actor(self).map(move |kept, actor, ctx| match kept {
            Ok(Ok(tokens)) => {
                report.result.extend(tokens);
                actor.end_attempt(task, attempt, Some(report), told, ctx);
            }
            failed => {
                let fault = failed.map_or_else(
                    |fault| fault.to_string(),
                    |kept| match kept {
                        Ok(_) => String::new(),
                        Err(fault) => fault.to_string(),
                    },
                );
                error!(actor.logger, "secret outputs were not kept"; "task" => task, "fault" => fault);
                actor.lose(&RecordError::Gone, ctx);
                let _ = told.send(Err(RecordError::Gone.into()));
            }
        }));
    }

    /// Decides on the end of an attempt and has it recorded; without a report its time was up.
    fn end_attempt(
        &mut self,
        task: u32,
        attempt: u32,
        report: Option<TaskReport>,
        told: Told,
        ctx: &mut Context<Self>,
    ) {
        let command = match report {
            Some(mut report) => {
                if let Some(known) = self.surroundings.colleagues.vault.known(self.id) {
                    known.redactor.report(&mut report);
                }
                Command::FinishAttempt { task, attempt, report }
            }
            None => Command::TimeOutAttempt { task, attempt },
        };
        let events = match self.decide(command) {
            Ok(events) => events,
            Err(fault) => {
                let _ = told.send(Err(fault));
                return;
            }
        };
        self.followed.remove(&(task, attempt));
        let node = self.node_of(task);
        let done: Done = Box::new(move |_, result, _| {
            if let (Ok(()), Some(node)) = (result, node) {
                node.do_send(Recorded { task, attempt });
            }
        });
        self.record(events, "worker".to_owned(), done, ctx);
        // The node goes on with its next task, whose begin is recorded behind this end.
        let _ = told.send(self.state.as_ref().map(|_| ()).ok_or(OperateError::Gone));
    }

    /// The actor of a task's node.
    fn node_of(&self, task: u32) -> Option<Addr<Node>> {
        let job = self.state.as_deref().and_then(cluster::Cluster::latest_job)?;
        self.nodes.get(&job.tasks.get(&task)?.node).cloned()
    }
}
