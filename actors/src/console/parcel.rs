//! A message on its way to an actor, with what led to it.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;

use actix::dev::{Envelope, EnvelopeProxy, MessageResponse, ToEnvelope};
use actix::{Actor, Handler, Message};
use tokio::sync::oneshot::{Sender, channel};

use super::cause::{Cause, within};
use super::context::{Context, kind};
use super::switch::Fault;
use super::tap::{Followed, Outcome};
use super::{Console, is_watched, subject};
use crate::clock::ticks;

/// Who sends what is sent on this thread now.
#[derive(Debug, Clone, Default)]
struct Origin {
    path: Option<Arc<str>>,
    during: Option<&'static str>,
}

thread_local! {
    static ORIGIN: RefCell<Origin> = const { RefCell::new(Origin { path: None, during: None }) };
}

/// Puts back who sent before.
pub(super) struct Sending(Origin);

impl Drop for Sending {
    fn drop(&mut self) {
        let before = std::mem::take(&mut self.0);
        ORIGIN.with_borrow_mut(|origin| *origin = before);
    }
}

fn sending(now: Origin) -> Sending {
    Sending(ORIGIN.with_borrow_mut(|origin| std::mem::replace(origin, now)))
}

/// While the answer lives, what is sent on this thread is sent by the actor at this path.
pub(super) fn sending_from(path: &Arc<str>) -> Sending {
    sending(Origin { path: Some(Arc::clone(path)), during: None })
}

/// What is noted when a message is sent while somebody looks.
struct Stamp {
    sent: u64,
    origin: Origin,
}

/// A message on its way.
struct Parcel<M: Message> {
    message: Option<M>,
    reply: Option<Sender<M::Result>>,
    cause: Option<Cause>,
    stamp: Option<Box<Stamp>>,
}

impl<A, M> ToEnvelope<A, M> for Context<A>
where
    A: Actor<Context = Self> + Handler<M>,
    M: Message + Send + 'static,
    M::Result: Send,
{
    fn pack(message: M, reply: Option<Sender<M::Result>>) -> Envelope<A> {
        let stamp = || Box::new(Stamp { sent: ticks(), origin: ORIGIN.with_borrow(Clone::clone) });
        let stamp = is_watched().then(stamp);
        Envelope::with_proxy(Box::new(Parcel {
            message: Some(message),
            reply,
            cause: Cause::current(),
            stamp,
        }))
    }
}

impl<A, M> EnvelopeProxy<A> for Parcel<M>
where
    A: Actor<Context = Context<A>> + Handler<M>,
    M: Message + Send + 'static,
    M::Result: Send,
{
    fn handle(&mut self, actor: &mut A, ctx: &mut Context<A>) {
        let Some(message) = self.message.take() else { return };
        let (reply, cause) = (self.reply.take(), self.cause.take());
        if ctx.sets_aside() {
            let parcel = Self { message: Some(message), reply, cause, stamp: self.stamp.take() };
            ctx.set_aside(Envelope::with_proxy(Box::new(parcel)));
            return;
        }
        ctx.meter.count();
        let fault = ctx.take_fault();
        if is_watched() || fault.is_some() {
            let stamp = self.stamp.take();
            Watched { message, reply, cause, stamp, fault }.handle(actor, ctx);
        } else if reply.as_ref().is_none_or(|reply| !reply.is_closed()) {
            within(cause, || A::handle(actor, message, ctx).handle(ctx, reply));
        }
    }
}

/// A message that is handled while somebody looks.
struct Watched<M: Message> {
    message: M,
    reply: Option<Sender<M::Result>>,
    cause: Option<Cause>,
    stamp: Option<Box<Stamp>>,
    fault: Option<Fault>,
}

impl<M> Watched<M>
where
    M: Message + Send + 'static,
    M::Result: Send,
{
    fn handle<A>(mut self, actor: &mut A, ctx: &mut Context<A>)
    where
        A: Actor<Context = Context<A>> + Handler<M>,
    {
        let begun = ticks();
        let mut told = self.begin(begun, ctx);
        let (console, path) = (ctx.meter.console.clone(), Arc::clone(&ctx.meter.path));
        let tell = told.is_followed.then_some(console);
        if let Some(outcome) = self.befalls() {
            told.end(tell.as_ref(), outcome);
            if outcome == Outcome::Crashed {
                panic!("made to break over {} by the console", told.message.kind);
            }
            return;
        }
        let (awaits, taken) = (self.reply.is_some(), Rc::default());
        if let Some(console) = &tell
            && let Some(reply) = self.reply.take()
        {
            let answer = Answer { message: told.message.clone(), begun, taken: Rc::clone(&taken) };
            self.reply = Some(answer.watched(reply, console.clone()));
        }
        let Self { message, reply, cause, .. } = self;
        let pair = (told.message.during, told.message.kind);
        let _sender = sending(Origin { path: Some(path), during: Some(told.message.kind) });
        let done = catch_unwind(AssertUnwindSafe(|| {
            within(cause, || A::handle(actor, message, ctx).handle(ctx, reply));
        }));
        told.message.taken_ns = ticks().saturating_sub(begun);
        taken.set(told.message.taken_ns);
        ctx.meter.note(pair, told.message.waited_ns, told.message.taken_ns);
        match done {
            // Who follows is told of it with its answer.
            Ok(()) if awaits => {}
            Ok(()) => told.end(tell.as_ref(), Outcome::Handled),
            Err(panic) => {
                told.end(tell.as_ref(), Outcome::Broke);
                resume_unwind(panic)
            }
        }
    }

    /// What is known of it before it is handled.
    fn begin<A: Actor<Context = Context<A>>>(&mut self, begun: u64, ctx: &Context<A>) -> Told {
        let stamp = self.stamp.take();
        let waited_ns = stamp.as_ref().map(|stamp| begun.saturating_sub(stamp.sent));
        let Origin { path: from, during } = stamp.map(|stamp| stamp.origin).unwrap_or_default();
        let to = Arc::clone(&ctx.meter.path);
        let cause = self.cause.as_ref().map(Cause::id);
        let is_followed = ctx.meter.console.0.is_followed(&to, from.as_deref(), cause);
        let message = Followed {
            to,
            from,
            during,
            kind: kind::<M>(),
            bytes: size_of::<M>(),
            subject: is_followed.then(|| subject::of(&self.message)).flatten(),
            cause: self.cause.clone(),
            waited_ns,
            taken_ns: 0,
            answered_ns: None,
            delayed: matches!(self.fault, Some(Fault::Delay(_))),
            outcome: Outcome::Handled,
        };
        Told { message, is_followed }
    }

    /// What happens to it instead of being handled.
    fn befalls(&self) -> Option<Outcome> {
        match self.fault {
            Some(Fault::Drop) => Some(Outcome::Dropped),
            Some(Fault::Crash) => Some(Outcome::Crashed),
            Some(Fault::Delay(_)) | None => {
                let abandoned = self.reply.as_ref().is_some_and(Sender::is_closed);
                abandoned.then_some(Outcome::Abandoned)
            }
        }
    }
}

/// What is told of a message.
struct Told {
    message: Followed,
    is_followed: bool,
}

impl Told {
    fn end(&mut self, console: Option<&Console>, outcome: Outcome) {
        self.message.outcome = outcome;
        if let Some(console) = console {
            console.0.tell(&self.message);
        }
    }
}

/// An answer that somebody follows.
struct Answer {
    message: Followed,
    begun: u64,
    /// How long the handler took, once it has: answers are told later than that.
    taken: Rc<Cell<u64>>,
}

impl Answer {
    /// Passes the answer on, and tells how long it took and whether it was a refusal.
    fn watched<R: Send + 'static>(mut self, reply: Sender<R>, console: Console) -> Sender<R> {
        let (sender, answer) = channel();
        actix::spawn(async move {
            let answer = answer.await;
            self.message.taken_ns = self.taken.get();
            self.message.answered_ns = Some(ticks().saturating_sub(self.begun));
            self.message.outcome = match &answer {
                Ok(answer) if subject::is_refusal(answer) => Outcome::Refused,
                Ok(_) => Outcome::Answered,
                Err(_) => Outcome::Unanswered,
            };
            console.0.tell(&self.message);
            if let Ok(answer) = answer {
                // Nobody may be waiting any more.
                let _ = reply.send(answer);
            }
        });
        sender
    }
}
