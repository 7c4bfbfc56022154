//! What a live cluster does when it is told something: it decides, and answers when the decision is durable.

use std::sync::Arc;

use actix::{ActorContext, AsyncContext, Context, Handler, ResponseFuture};
use cooperage_domain::cluster::{self, Command, Event, Refusal, decide};
use cooperage_domain::task::TaskOrder;
use tokio::sync::oneshot;

use super::message::{Begin, Found, GetState, Operate, OperateError, Report};
use super::{Cluster, Done, unexpandable};
use crate::janitor::{Deadline, Disarm, TimeUp};
use crate::node::Follow;

type Answer<T> = ResponseFuture<Result<T, OperateError>>;

/// A place for the answer, which is given when the events are durable.
fn answer_later<T: 'static>() -> (oneshot::Sender<Result<T, OperateError>>, Answer<T>) {
    let (sender, receiver) = oneshot::channel();
    (sender, Box::pin(async { receiver.await.unwrap_or(Err(OperateError::Gone)) }))
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
        let Some(state) = self.state.clone() else { return Box::pin(async { Err(OperateError::Gone) }) };
        let events = match decide(&state, operate.command, self.surroundings.clock.now()) {
            Ok(events) => events,
            Err(refusal) => return Box::pin(async { Err(refusal.into()) }),
        };
        let (sender, answer) = answer_later();
        let done: Done = Box::new(move |actor, result, _| {
            let state = actor.state.clone().ok_or(OperateError::Gone);
            let _ = sender.send(result.map_err(OperateError::from).and(state));
        });
        self.record(events, operate.who, done, ctx);
        answer
    }
}

impl Handler<Begin> for Cluster {
    type Result = Answer<TaskOrder>;

    fn handle(&mut self, Begin { task }: Begin, ctx: &mut Self::Context) -> Self::Result {
        let Some(state) = self.state.clone() else { return Box::pin(async { Err(OperateError::Gone) }) };
        self.offered.remove(&task);
        let command = Command::StartAttempt { task, worker: "local".to_owned() };
        let events = match decide(&state, command, self.surroundings.clock.now()) {
            Ok(events) => events,
            Err(refusal) => return Box::pin(async { Err(refusal.into()) }),
        };
        if let Some(Event::AttemptStarted { attempt, .. }) = events.first() {
            self.followed.insert((task, *attempt));
        }
        let (sender, answer) = answer_later();
        let done: Done = Box::new(move |actor, result, ctx| {
            let _ = sender.send(result.map_err(OperateError::from).and_then(|()| actor.hand_out(task, ctx)));
        });
        self.record(events, "scheduler".to_owned(), done, ctx);
        answer
    }
}

impl Cluster {
    /// The order for a task whose attempt has just been recorded. One that cannot be given fails the attempt.
    fn hand_out(&self, task: u32, ctx: &Context<Self>) -> Result<TaskOrder, OperateError> {
        let (Some(state), Some(found)) =
            (&self.state, self.latest_job().and_then(|job| job.tasks.get(&task)))
        else {
            return Err(OperateError::Gone);
        };
        let attempt = found.open_attempt().map_or(1, |attempt| attempt.number);
        let deadline = Deadline::Attempt { node: found.node.clone(), task, attempt };
        match cluster::order(state, task, attempt) {
            Ok(order) => {
                let at = self.surroundings.clock.now().saturating_add(state.limits.task_timeout);
                if let Some(node) = self.nodes.get(&found.node) {
                    node.do_send(Follow { order: None, task, attempt, deadline: at });
                }
                Ok(order)
            }
            Err(fault) => {
                self.surroundings.colleagues.janitor.do_send(Disarm(deadline));
                ctx.address().do_send(Report { task, attempt, report: Some(unexpandable(&fault)) });
                Err(Refusal::NotReady { task, reason: "its configuration cannot be expanded" }.into())
            }
        }
    }
}

impl Handler<Report> for Cluster {
    type Result = Answer<()>;

    fn handle(&mut self, Report { task, attempt, report }: Report, ctx: &mut Self::Context) -> Self::Result {
        let Some(state) = self.state.clone() else { return Box::pin(async { Err(OperateError::Gone) }) };
        let command = match report {
            Some(report) => Command::FinishAttempt { task, attempt, report },
            None => Command::TimeOutAttempt { task, attempt },
        };
        self.followed.remove(&(task, attempt));
        let events = match decide(&state, command, self.surroundings.clock.now()) {
            Ok(events) => events,
            Err(refusal) => return Box::pin(async { Err(refusal.into()) }),
        };
        let (sender, answer) = answer_later();
        let done: Done = Box::new(move |_, result, _| {
            let _ = sender.send(result.map_err(OperateError::from));
        });
        self.record(events, "worker".to_owned(), done, ctx);
        answer
    }
}

impl Handler<GetState> for Cluster {
    type Result = actix::MessageResult<GetState>;

    fn handle(&mut self, _: GetState, _: &mut Self::Context) -> Self::Result {
        actix::MessageResult(self.state.clone())
    }
}

impl Handler<TimeUp> for Cluster {
    type Result = ();

    fn handle(&mut self, TimeUp(deadline): TimeUp, ctx: &mut Self::Context) {
        match deadline {
            Deadline::Pause { .. } => self.pursue(ctx),
            Deadline::Idle(_) if self.is_idle() => ctx.stop(),
            Deadline::Idle(_) | Deadline::Attempt { .. } | Deadline::Lease(_) => {}
        }
    }
}
