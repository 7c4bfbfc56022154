//! What actors live in: actix's own parts, with an intake that can be looked into and stopped.

use std::sync::Arc;

use actix::dev::channel::{AddressReceiver, channel};
use actix::dev::{AsyncContextParts, ContextFut, ContextParts, Mailbox};
use actix::fut::ActorFuture;
use actix::{Actor, ActorContext, ActorState, Addr, ArbiterHandle, AsyncContext, SpawnHandle};

use super::cause::{Cause, Spawned};
use super::intake::Intake;
use super::life::Life;
use super::meter::Meter;
use super::switch::Fault;
use super::{Console, Shared};

/// Senders that wait for an answer are let in at once up to so many, as with actix's own context.
const CAPACITY: usize = 16;

/// What an actor lives in.
pub struct Context<A: Actor<Context = Self>> {
    parts: ContextParts<A>,
    pub(super) meter: Arc<Meter>,
    pub(super) console: Arc<Shared>,
    /// What goes wrong with the message that is handled now.
    pub(super) fault: Option<Fault>,
    failure: Option<String>,
    finishes_first: bool,
}

impl<A: Actor<Context = Self>> Context<A> {
    /// Ends the actor because of a failure.
    pub(crate) fn fail(&mut self, reason: impl Into<String>) {
        self.failure = Some(reason.into());
        self.stop();
    }

    /// Says whether the actor, told to stop, must take more messages before it may.
    pub(crate) const fn finish_first(&mut self, finishes_first: bool) {
        self.finishes_first = finishes_first;
    }

    pub(super) const fn may_stop(&self) -> bool {
        !self.finishes_first
    }

    pub(super) const fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    /// The life of an actor to be. Its messages come through an intake of its own, so that actix's mailbox stays empty.
    fn life(
        console: &Console,
        meter: Arc<Meter>,
        receiver: AddressReceiver<A>,
        make: impl FnOnce() -> A,
    ) -> Life<A> {
        let mut parts = ContextParts::new(receiver.sender_producer());
        parts.spawn(Intake::new(receiver));
        let shared = Arc::clone(&console.0);
        let ctx = Self {
            parts,
            meter: Arc::clone(&meter),
            console: shared,
            fault: None,
            failure: None,
            finishes_first: false,
        };
        Life::new(console.clone(), meter, ContextFut::new(ctx, make(), Mailbox::default()))
    }
}

/// Starts actors where they can be seen.
pub trait Live: Actor<Context = Context<Self>> {
    /// Starts it on this thread, at a path.
    fn live(self, console: &Console, path: impl Into<Arc<str>>) -> Addr<Self> {
        let (sender, receiver) = channel(CAPACITY);
        let meter = console.enter(path.into(), kind::<Self>());
        actix::spawn(Context::life(console, meter, receiver, || self));
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
            actix::spawn(Context::life(&console, meter, receiver, make));
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
