//! How messages come to an actor, one after the other.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use actix::dev::channel::AddressReceiver;
use actix::dev::{Envelope, EnvelopeProxy};
use actix::fut::ActorFuture;
use actix::{Actor, ActorContext, AsyncContext};
use futures::Stream;
use tokio::time::{Sleep, sleep};

use super::context::Context;
use super::switch::{Fault, Pause};

/// Messages that are taken out of the channel before it is their turn; more wait there, and are not counted.
const MOST_HELD: usize = 100_000;

/// What waits for an actor, oldest first.
pub(super) struct Intake<A: Actor> {
    receiver: AddressReceiver<A>,
    held: VecDeque<Envelope<A>>,
    pause: Option<(Pause, Pin<Box<Sleep>>)>,
    delay: Option<Pin<Box<Sleep>>>,
    is_registered: bool,
}

/// What is to be done about the message that is next.
enum Turn {
    /// It is handled.
    Handle,
    /// It waits.
    Wait,
    /// The actor ends.
    End,
}

impl<A: Actor<Context = Context<A>>> Intake<A> {
    pub(super) const fn new(receiver: AddressReceiver<A>) -> Self {
        Self { receiver, held: VecDeque::new(), pause: None, delay: None, is_registered: false }
    }

    /// Takes out what has come. Whether anybody may send more.
    fn gather(&mut self, ctx: &Context<A>, task: &mut TaskContext<'_>) -> bool {
        let before = self.held.len();
        while self.held.len() < MOST_HELD {
            match Pin::new(&mut self.receiver).poll_next(task) {
                Poll::Ready(Some(envelope)) => self.held.push_back(envelope),
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
        if self.held.len() != before {
            ctx.meter.set_waiting(self.held.len());
        }
        self.receiver.connected()
    }

    /// What is out of the usual.
    fn turn(&mut self, ctx: &mut Context<A>, task: &mut TaskContext<'_>) -> Turn {
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
            return Turn::Handle;
        }
        if !switch.is_to_stop() && self.is_paused(ctx, task) {
            return Turn::Wait;
        }
        if self.held.is_empty() {
            return Turn::Wait;
        }
        match switch.take_fault() {
            Some(Fault::Delay(pause)) => {
                ctx.fault = Some(Fault::Delay(pause));
                self.delay = Some(Box::pin(sleep(pause)));
                self.turn(ctx, task)
            }
            fault => {
                ctx.fault = fault;
                Turn::Handle
            }
        }
    }

    /// Whether a pause is in force whose limit has not passed.
    fn is_paused(&mut self, ctx: &Context<A>, task: &mut TaskContext<'_>) -> bool {
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

impl<A: Actor<Context = Context<A>>> ActorFuture<A> for Intake<A> {
    type Output = ();

    fn poll(
        mut self: Pin<&mut Self>,
        actor: &mut A,
        ctx: &mut Context<A>,
        task: &mut TaskContext<'_>,
    ) -> Poll<()> {
        if !self.is_registered {
            // An actor is polled by one task all its life.
            ctx.meter.switch.register(task.waker());
            self.is_registered = true;
        }
        let mut is_open = self.gather(ctx, task);
        loop {
            if self.held.is_empty() {
                is_open = self.gather(ctx, task);
            }
            if ctx.waiting() {
                return Poll::Pending;
            }
            if ctx.meter.switch.is_set() || self.delay.is_some() {
                match self.turn(ctx, task) {
                    Turn::Handle => {}
                    Turn::Wait => return Poll::Pending,
                    Turn::End => {
                        ctx.stop();
                        return Poll::Pending;
                    }
                }
            }
            let Some(mut envelope) = self.held.pop_front() else {
                return if is_open { Poll::Pending } else { Poll::Ready(()) };
            };
            ctx.meter.set_waiting(self.held.len());
            ctx.meter.count();
            envelope.handle(actor, ctx);
        }
    }
}
