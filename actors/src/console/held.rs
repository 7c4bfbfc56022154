//! Messages that are set aside before it is their turn: while somebody looks, so that those that wait can be counted, and while
//! a hand is on the actor.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use actix::dev::{Envelope, EnvelopeProxy};
use actix::fut::ActorFuture;
use actix::{Actor, ActorContext, AsyncContext};
use tokio::time::{Sleep, sleep};

use super::context::Context;
use super::switch::{Fault, Pause};

/// What is set aside, oldest first. There is one of it while there is anything, or a hand is on the actor.
pub(super) struct Held<A: Actor> {
    pub(super) messages: VecDeque<Envelope<A>>,
    /// What goes wrong with the message that is handled now.
    pub(super) fault: Option<Fault>,
    /// Whether a message that was set aside is being handled.
    pub(super) is_releasing: bool,
}

impl<A: Actor> Default for Held<A> {
    fn default() -> Self {
        Self { messages: VecDeque::new(), fault: None, is_releasing: false }
    }
}

/// Hands out what was set aside when its turn has come.
#[derive(Default)]
pub(super) struct Release {
    pause: Option<(Pause, Pin<Box<Sleep>>)>,
    delay: Option<Pin<Box<Sleep>>>,
}

/// What is to be done about the message that is next.
enum Turn {
    /// It is handled, and this goes wrong with it.
    Handle(Option<Fault>),
    /// It waits.
    Wait,
    /// The actor ends.
    End,
}

impl Release {
    fn turn<A: Actor<Context = Context<A>>>(&mut self, ctx: &Context<A>, task: &mut TaskContext<'_>) -> Turn {
        let meter = Arc::clone(&ctx.meter);
        let switch = &meter.switch;
        if switch.is_to_stop() && ctx.may_stop() {
            return Turn::End;
        }
        if let Some(delay) = &mut self.delay {
            if delay.as_mut().poll(task).is_pending() {
                return Turn::Wait;
            }
            self.delay = None;
            return Turn::Handle(Some(Fault::Delay(std::time::Duration::ZERO)));
        }
        if !switch.is_set() {
            return Turn::Handle(None);
        }
        if !switch.is_to_stop() && self.is_paused(ctx, task) {
            return Turn::Wait;
        }
        if ctx.held_messages() == 0 {
            // What is to go wrong, or the stop, waits for a message.
            return Turn::Handle(None);
        }
        match switch.take_fault() {
            Some(Fault::Delay(pause)) => {
                self.delay = Some(Box::pin(sleep(pause)));
                self.turn(ctx, task)
            }
            fault => Turn::Handle(fault),
        }
    }

    /// Whether a pause is in force whose limit has not passed.
    fn is_paused<A: Actor<Context = Context<A>>>(
        &mut self,
        ctx: &Context<A>,
        task: &mut TaskContext<'_>,
    ) -> bool {
        let switch = &ctx.meter.switch;
        let Some(pause) = switch.in_force() else {
            self.pause = None;
            return false;
        };
        if self.pause.as_ref().is_none_or(|(known, _)| *known != pause) {
            self.pause = Some((pause, Box::pin(sleep(pause.limit))));
        }
        let passed = self.pause.as_mut().is_some_and(|(_, limit)| limit.as_mut().poll(task).is_ready());
        if passed {
            self.pause = None;
            switch.end(pause);
        }
        !passed
    }
}

impl<A: Actor<Context = Context<A>>> ActorFuture<A> for Release {
    type Output = ();

    fn poll(
        mut self: Pin<&mut Self>,
        actor: &mut A,
        ctx: &mut Context<A>,
        task: &mut TaskContext<'_>,
    ) -> Poll<()> {
        loop {
            if ctx.waiting() {
                return Poll::Pending;
            }
            let fault = match self.turn(ctx, task) {
                Turn::Handle(fault) => fault,
                Turn::Wait => return Poll::Pending,
                Turn::End => {
                    ctx.stop();
                    return Poll::Pending;
                }
            };
            let Some(mut envelope) = ctx.next_held(fault) else { return Poll::Ready(()) };
            envelope.handle(actor, ctx);
            ctx.handled_held();
        }
    }
}
