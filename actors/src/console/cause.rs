//! What led to what: the id of the request that something is done for, handed on from message to message.
//!
//! Whoever sends a message while a cause is current sends the cause with it, and it is current again while the message is
//! handled, and whenever what was spawned then goes on.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use actix::Actor;
use actix::fut::ActorFuture;

thread_local! {
    static CURRENT: RefCell<Option<Cause>> = const { RefCell::new(None) };
}

/// The id of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause(Arc<str>);

impl Cause {
    /// The request of this id.
    #[must_use]
    pub fn new(id: &str) -> Self {
        Self(Arc::from(id))
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0
    }

    /// What is being done now is done for it, if it is known.
    #[must_use]
    pub fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }
}

/// Puts back what was current before, after a panic too.
struct Restore(Option<Cause>);

impl Drop for Restore {
    fn drop(&mut self) {
        let before = self.0.take();
        CURRENT.with_borrow_mut(|current| *current = before);
    }
}

/// Does something for a cause.
pub(crate) fn within<T>(cause: Option<Cause>, work: impl FnOnce() -> T) -> T {
    let before = CURRENT.with_borrow_mut(|current| std::mem::replace(current, cause));
    let _restore = Restore(before);
    work()
}

/// Does something for a cause, however often it has to wait.
pub fn caused<F: Future>(cause: Option<Cause>, work: F) -> impl Future<Output = F::Output> {
    let mut work = Box::pin(work);
    std::future::poll_fn(move |task| within(cause.clone(), || work.as_mut().poll(task)))
}

/// What an actor has spawned for a cause.
pub(super) struct Spawned<A: Actor> {
    pub(super) cause: Cause,
    pub(super) work: Pin<Box<dyn ActorFuture<A, Output = ()>>>,
}

impl<A: Actor> ActorFuture<A> for Spawned<A> {
    type Output = ();

    fn poll(
        mut self: Pin<&mut Self>,
        actor: &mut A,
        ctx: &mut A::Context,
        task: &mut TaskContext<'_>,
    ) -> Poll<()> {
        let cause = Some(self.cause.clone());
        within(cause, || self.work.as_mut().poll(actor, ctx, task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_current_before_is_so_again_after_a_panic_too() {
        within(Some(Cause::new("outer")), || {
            let broke = std::panic::catch_unwind(|| within(Some(Cause::new("inner")), || panic!("broke")));
            assert!(broke.is_err());
            assert_eq!(Cause::current().unwrap().id(), "outer");
        });
        assert_eq!(Cause::current(), None);
    }

    #[tokio::test]
    async fn it_is_current_whenever_the_work_goes_on_and_at_no_other_time() {
        let work = async {
            tokio::task::yield_now().await;
            Cause::current()
        };
        let (within, without) = tokio::join!(caused(Some(Cause::new("r1")), work), async {
            tokio::task::yield_now().await;
            Cause::current()
        });
        assert_eq!((within, without), (Some(Cause::new("r1")), None));
    }
}
