//! What a live cluster does when it is told something: it decides, and answers when the decision is durable.

use std::sync::Arc;

use actix::{AsyncContext, Handler, ResponseFuture};
use cooperage_domain::cluster::{self, Command, Event, Refusal, decide};
use slog::error;
use tokio::sync::oneshot;

use super::message::{Begin, Begun, Found, GetState, NodeFailed, Operate, OperateAt, OperateError, Report};
use super::pursue::unexpandable;
use super::recording::Seen;
use super::{Cluster, Done};
use crate::console::Context;
use crate::janitor::{Deadline, TimeUp};
use crate::journal::RecordError;
use crate::registry::Ending;

pub(super) type Answer<T> = ResponseFuture<Result<T, OperateError>>;

/// A place for the answer, which is given when the events are durable.
pub(super) fn answer_later<T: 'static>() -> (oneshot::Sender<Result<T, OperateError>>, Answer<T>) {
    let (sender, receiver) = oneshot::channel();
    (sender, Box::pin(async { receiver.await.unwrap_or(Err(OperateError::Gone)) }))
}

fn answer_now<T: 'static>(fault: OperateError) -> Answer<T> {
    Box::pin(async { Err(fault) })
}

impl Cluster {
    /// Decides on the present state, which nobody holds afterwards: it is changed in place.
    pub(super) fn decide(&self, command: Command) -> Result<Vec<Event>, OperateError> {
        let state = self.state.as_deref().ok_or(OperateError::Gone)?;
        Ok(decide(state, command, self.surroundings.clock.now())?)
    }
}

impl Handler<Found> for Cluster {
    type Result = Answer<()>;

    fn handle(&mut self, found: Found, ctx: &mut Self::Context) -> Self::Result {
        let (sender, answer) = answer_later();
        let done: Done = Box::new(move |_, result, _| {
            // Nobody may be waiting any more.
            let _ = sender.send(result.map_err(OperateError::from));
        });
        self.record(found.events, found.who, done, ctx);
        answer
    }
}

impl Handler<Operate> for Cluster {
    type Result = Answer<Arc<cluster::Cluster>>;

    fn handle(&mut self, operate: Operate, ctx: &mut Self::Context) -> Self::Result {
        let events = match self.decide(operate.command) {
            Ok(events) => events,
            Err(fault) => return answer_now(fault),
        };
        // Those who wanted nothing that is not so hear of the state all the same.
        let (sender, recorded) = oneshot::channel();
        let done: Done = Box::new(move |_, result, _| {
            let _ = sender.send(result);
        });
        self.record(events, operate.who, done, ctx);
        let shown = self.show();
        Box::pin(async move {
            recorded.await.unwrap_or(Err(RecordError::Gone))?;
            shown.await.ok().flatten().ok_or(OperateError::Gone)
        })
    }
}

impl Handler<OperateAt> for Cluster {
    type Result = Answer<Arc<cluster::Cluster>>;

    /// Nothing comes between the look at the state and the decision: the mailbox is one message after the other.
    fn handle(&mut self, at: OperateAt, ctx: &mut Self::Context) -> Self::Result {
        match self.state.as_deref().map(|state| state.sequence) {
            None => answer_now(OperateError::Gone),
            Some(now) if !at.sequences.contains(&now) => answer_now(OperateError::Moved { now }),
            Some(_) => self.handle(at.operate, ctx),
        }
    }
}

impl Handler<Begin> for Cluster {
    type Result = Answer<Begun>;

    fn handle(&mut self, Begin { task, worker }: Begin, ctx: &mut Self::Context) -> Self::Result {
        self.offered.remove(&task);
        let events = match self.decide(Command::StartAttempt { task, worker }) {
            Ok(events) => events,
            Err(fault) => {
                self.put_back(task, ctx);
                return answer_now(fault);
            }
        };
        if let Some(Event::AttemptStarted { attempt, .. }) = events.first() {
            self.followed.insert((task, *attempt));
            self.leave_queue(task);
        }
        let (sender, answer) = answer_later();
        let done: Done = Box::new(move |actor, result, ctx| {
            let begun = result.map_err(OperateError::from).and_then(|()| actor.hand_out(task, ctx));
            let _ = sender.send(begun);
        });
        self.record(events, "scheduler".to_owned(), done, ctx);
        answer
    }
}

impl Cluster {
    /// The order for a task whose attempt has just been recorded. One that cannot be given fails the attempt.
    fn hand_out(&mut self, task: u32, ctx: &Context<Self>) -> Result<Begun, OperateError> {
        let state = self.state.as_deref().ok_or(OperateError::Gone)?;
        let found = state.latest_job().and_then(|job| job.tasks.get(&task));
        let begun = found.and_then(|task| task.open_attempt()).ok_or(OperateError::Gone)?;
        let attempt = begun.number;
        let deadline = begun.started.saturating_add(state.time_of(found.ok_or(OperateError::Gone)?));
        match cluster::order_among(state, task, attempt, self.told.of(state)) {
            Ok(order) => Ok(Begun { order, deadline, worker: begun.worker.clone() }),
            Err(fault) => {
                ctx.address().do_send(Report { task, attempt, report: Some(unexpandable(&fault)) });
                Err(Refusal::NotReady { task, reason: "its configuration cannot be expanded" }.into())
            }
        }
    }

    /// A task was not begun. If it only came too early it is offered again: at the end of its pause, or, when its node
    /// turned out to be busy, at the end of what the node is doing.
    fn put_back(&mut self, task: u32, ctx: &Context<Self>) {
        let job = self.state.as_deref().and_then(cluster::Cluster::latest_job);
        let node = job.and_then(|job| job.tasks.get(&task)).map(|task| &task.node);
        let busy =
            |node| job.is_some_and(|job| job.tasks_of(node).any(|other| other.open_attempt().is_some()));
        if node.is_some_and(|node| !busy(node)) {
            self.offer_again(task, ctx);
        }
    }
}

impl Handler<GetState> for Cluster {
    type Result = ResponseFuture<Seen>;

    /// Nobody sees what is not durable.
    fn handle(&mut self, _: GetState, _: &mut Self::Context) -> Self::Result {
        let shown = self.show();
        Box::pin(async { shown.await.ok().flatten() })
    }
}

impl Handler<NodeFailed> for Cluster {
    type Result = ();

    fn handle(&mut self, failed: NodeFailed, ctx: &mut Self::Context) {
        error!(self.logger, "a node's actor failed, and its cluster's with it"; "node" => failed.node.to_string());
        ctx.fail(format!("the actor of node {} failed", failed.node));
    }
}

impl Handler<TimeUp> for Cluster {
    type Result = ();

    fn handle(&mut self, TimeUp(deadline): TimeUp, ctx: &mut Self::Context) {
        match deadline {
            Deadline::Pause { task, .. } => self.offer_again(task, ctx),
            Deadline::Queue { task, .. } => self.overdue(task, ctx),
            Deadline::Straggler { task, attempt, .. } => self.straggles(task, attempt),
            Deadline::Idle(_) if self.is_idle() => self.end(Ending::Rest, ctx),
            Deadline::Idle(_)
            | Deadline::Attempt { .. }
            | Deadline::Lease(_)
            | Deadline::Probes
            | Deadline::LeaseWarning(_)
            | Deadline::Heartbeat(_) => {}
        }
    }
}
