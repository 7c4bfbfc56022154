//! What actors live in: actix's own parts, with messages that can be set aside before it is their turn.

use std::sync::Arc;

use actix::dev::channel::{AddressReceiver, channel};
use actix::dev::{AsyncContextParts, ContextFut, ContextParts, Envelope, Mailbox};
use actix::fut::ActorFuture;
use actix::{Actor, ActorContext, ActorState, Addr, ArbiterHandle, AsyncContext, SpawnHandle};

use super::cause::{Cause, Spawned};
use super::held::{Held, Release};
use super::life::Life;
use super::meter::Meter;
use super::switch::Fault;
use super::{Console, is_watched};

/// Senders that wait for an answer are let in at once up to so many, as with actix's own context.
const CAPACITY: usize = 16;

/// What an actor lives in.
pub struct Context<A: Actor<Context = Self>> {
    parts: ContextParts<A>,
    pub(super) meter: Arc<Meter>,
    held: Option<Box<Held<A>>>,
    finishes_first: bool,
}

impl<A: Actor<Context = Self>> Context<A> {
    /// Ends the actor because of a failure.
    pub(crate) fn fail(&mut self, reason: impl Into<String>) {
        self.meter.note_failure(reason.into());
        self.stop();
    }

    /// Says whether the actor, told to stop, must take more messages before it may.
    pub(crate) const fn finish_first(&mut self, finishes_first: bool) {
        self.finishes_first = finishes_first;
    }

    pub(super) const fn may_stop(&self) -> bool {
        !self.finishes_first
    }

    /// Whether a message that comes now is set aside.
    pub(super) fn sets_aside(&self) -> bool {
        match &self.held {
            Some(held) => !held.is_releasing,
            None => is_watched() || self.meter.switch.is_set(),
        }
    }

    pub(super) fn set_aside(&mut self, message: Envelope<A>) {
        self.attend();
        if let Some(held) = &mut self.held {
            held.messages.push_back(message);
            self.meter.set_waiting(held.messages.len());
        }
    }

    /// Sees to it that what is out of the usual is done.
    pub(super) fn attend(&mut self) {
        if self.held.is_none() {
            self.held = Some(Box::default());
            self.parts.spawn(Release::default());
        }
    }

    pub(super) fn held_messages(&self) -> usize {
        self.held.as_ref().map_or(0, |held| held.messages.len())
    }

    /// The next message that was set aside, with what goes wrong with it. When there is none, nothing is set aside any more.
    pub(super) fn next_held(&mut self, fault: Option<Fault>) -> Option<Envelope<A>> {
        let held = self.held.as_mut()?;
        let Some(next) = held.messages.pop_front() else {
            self.held = None;
            return None;
        };
        (held.fault, held.is_releasing) = (fault, true);
        self.meter.set_waiting(held.messages.len());
        Some(next)
    }

    pub(super) fn handled_held(&mut self) {
        if let Some(held) = &mut self.held {
            held.is_releasing = false;
        }
    }

    /// What goes wrong with the message that is handled now.
    pub(super) fn take_fault(&mut self) -> Option<Fault> {
        self.held.as_mut().and_then(|held| held.fault.take())
    }

    /// The life of an actor to be.
    fn life(meter: Arc<Meter>, receiver: AddressReceiver<A>, make: impl FnOnce() -> A) -> Life<A> {
        let mailbox = Mailbox::new(receiver);
        let parts = ContextParts::new(mailbox.sender_producer());
        let ctx = Self { parts, meter: Arc::clone(&meter), held: None, finishes_first: false };
        Life::new(meter, ContextFut::new(ctx, make(), mailbox))
    }
}

/// Starts actors where they can be seen.
pub trait Live: Actor<Context = Context<Self>> {
    /// Starts it on this thread, at a path.
    fn live(self, console: &Console, path: impl Into<Arc<str>>) -> Addr<Self> {
        let (sender, receiver) = channel(CAPACITY);
        let meter = console.enter(path.into(), kind::<Self>());
        actix::spawn(Context::life(meter, receiver, || self));
        Addr::new(sender)
    }

    /// Makes and starts it on another thread, at a path.
    fn live_on(
        arbiter: &ArbiterHandle,
        console: &Console,
        path: impl Into<Arc<str>>,
        make: impl FnOnce() -> Self + Send + 'static,
    ) -> Addr<Self> {
        let (sender, receiver) = channel(CAPACITY);
        let (console, path) = (console.clone(), path.into());
        arbiter.spawn_fn(move || {
            let meter = console.enter(path, kind::<Self>());
            actix::spawn(Context::life(meter, receiver, make));
        });
        Addr::new(sender)
    }
}

impl<A: Actor<Context = Context<A>>> Live for A {}

/// The last word of a type's name.
pub(super) fn kind<T>() -> &'static str {
    let name = std::any::type_name::<T>();
    name.rsplit("::").next().unwrap_or(name)
}

impl<A: Actor<Context = Self>> ActorContext for Context<A> {
    fn stop(&mut self) {
        self.parts.stop();
    }

    fn terminate(&mut self) {
        self.parts.terminate();
    }

    fn state(&self) -> ActorState {
        self.parts.state()
    }
}

impl<A: Actor<Context = Self>> AsyncContext<A> for Context<A> {
    fn address(&self) -> Addr<A> {
        self.parts.address()
    }

    /// What is spawned for a cause goes on for it.
    fn spawn<F: ActorFuture<A, Output = ()> + 'static>(&mut self, work: F) -> SpawnHandle {
        match Cause::current() {
            None => self.parts.spawn(work),
            Some(cause) => self.parts.spawn(Spawned { cause, work: Box::pin(work) }),
        }
    }

    fn wait<F: ActorFuture<A, Output = ()> + 'static>(&mut self, work: F) {
        self.parts.wait(work);
    }

    fn waiting(&self) -> bool {
        self.parts.waiting()
    }

    fn cancel_future(&mut self, handle: SpawnHandle) -> bool {
        self.parts.cancel_future(handle)
    }
}

impl<A: Actor<Context = Self>> AsyncContextParts<A> for Context<A> {
    fn parts(&mut self) -> &mut ContextParts<A> {
        &mut self.parts
    }
}
