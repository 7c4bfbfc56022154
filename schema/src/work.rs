//! Writes that are neither appends nor output: any work on the writing connection, with its result.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::answer::Answer;
use crate::engine::Engine;
use crate::error::StoreError;

/// Work that is done inside the transaction of a batch, and answered after its commit.
pub(crate) trait Work: Send {
    /// Does it, in a savepoint of its own: when it fails, nothing of it stays and its neighbours are untouched.
    fn run(&mut self, engine: &mut Engine) -> Result<(), StoreError>;

    /// Answers it: `outcome` is what [`Work::run`] or the commit said.
    fn finish(self: Box<Self>, outcome: Result<(), StoreError>);
}

/// A closure, what it gave, and who wants it.
pub(crate) struct Closure<F, T> {
    work: Option<F>,
    value: Option<T>,
    answer: Answer<T, StoreError>,
}

impl<F, T> Closure<F, T> {
    pub(crate) const fn new(work: F, answer: Answer<T, StoreError>) -> Self {
        Self { work: Some(work), value: None, answer }
    }
}

impl<F, T> Work for Closure<F, T>
where
    F: FnOnce(&mut Engine) -> Result<T, StoreError> + Send,
    T: Send,
{
    fn run(&mut self, engine: &mut Engine) -> Result<(), StoreError> {
        let Some(work) = self.work.take() else { return Ok(()) };
        let guarded = |engine: &mut Engine| {
            catch_unwind(AssertUnwindSafe(|| work(engine)))
                .unwrap_or_else(|panic| Err(StoreError::Panicked { cause: panic_message(&*panic) }))
        };
        self.value = Some(engine.savepoint(guarded)?);
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: Result<(), StoreError>) {
        let value = self.value;
        // Without a fault there is a value: `run` came first.
        self.answer.give(outcome.and_then(|()| value.ok_or(StoreError::Closed)));
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without text".to_owned())
}
