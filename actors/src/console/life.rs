//! An actor's life, from its start to whatever end, as its server's scheduler sees it.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use actix::Actor;
use actix::dev::ContextFut;

use super::context::Context;
use super::meter::{Ending, Meter};
use super::{is_watched, parcel};
use crate::clock::ticks;

/// Runs an actor; measures how busy it is when somebody looks, and notes how it ended.
pub(super) struct Life<A: Actor<Context = Context<A>>> {
    meter: Arc<Meter>,
    is_known: bool,
    work: ContextFut<A, Context<A>>,
}

impl<A: Actor<Context = Context<A>>> Life<A> {
    pub(super) const fn new(meter: Arc<Meter>, work: ContextFut<A, Context<A>>) -> Self {
        Self { meter, is_known: false, work }
    }
}

impl<A: Actor<Context = Context<A>>> Future for Life<A> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<()> {
        let this = self.get_mut();
        if !this.is_known {
            // An actor is polled by one task all its life.
            this.meter.switch.register(task.waker());
            this.is_known = true;
        }
        if this.meter.switch.is_set() {
            this.work.ctx().attend();
        }
        let begun = is_watched().then(ticks);
        let _sender = begun.map(|_| parcel::sending_from(&this.meter.path));
        let done = catch_unwind(AssertUnwindSafe(|| Pin::new(&mut this.work).poll(task)));
        if let Some(begun) = begun {
            this.meter.was_busy(ticks().saturating_sub(begun));
        }
        match done {
            Ok(done) => done,
            Err(panic) => {
                this.meter.note_failure(words(&*panic));
                resume_unwind(panic)
            }
        }
    }
}

impl<A: Actor<Context = Context<A>>> Drop for Life<A> {
    fn drop(&mut self) {
        let ending = match self.meter.take_failure() {
            Some(fault) => Ending::Failed(fault),
            None if self.meter.switch.is_to_stop() => Ending::Restarted,
            None => Ending::InOrder,
        };
        self.meter.console.leave(&self.meter, ending);
    }
}

/// What a panic says.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.map_or_else(|| "it panicked".to_owned(), |text| format!("it panicked: {text}"))
}
