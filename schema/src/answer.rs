//! A reply that is always given.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::StoreError;

type Callback<T, E> = Box<dyn FnOnce(Result<T, E>) + Send>;

/// Where a result goes. When it is dropped unused (the store was closed before the work's turn came), it says so.
pub(crate) struct Answer<T, E: From<StoreError>>(Option<Callback<T, E>>);

impl<T, E: From<StoreError>> Answer<T, E> {
    pub(crate) fn new(callback: impl FnOnce(Result<T, E>) + Send + 'static) -> Self {
        Self(Some(Box::new(callback)))
    }

    /// Hands the result over.
    pub(crate) fn give(mut self, result: Result<T, E>) {
        self.call(result);
    }

    fn call(&mut self, result: Result<T, E>) {
        if let Some(callback) = self.0.take() {
            // A caller's panic is the caller's: it must not end the writer, nor the answers of its neighbours.
            let _ = catch_unwind(AssertUnwindSafe(|| callback(result)));
        }
    }
}

impl<T, E: From<StoreError>> Drop for Answer<T, E> {
    fn drop(&mut self) {
        self.call(Err(StoreError::Closed.into()));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn dropping_it_answers_that_the_store_is_closed() {
        let (sender, receiver) = channel::<Result<u8, StoreError>>();
        drop(Answer::new(move |result| sender.send(result).unwrap()));
        assert_eq!(receiver.recv(), Ok(Err(StoreError::Closed)));
    }

    #[test]
    fn giving_it_answers_once() {
        let (sender, receiver) = channel::<Result<u8, StoreError>>();
        Answer::new(move |result| sender.send(result).unwrap()).give(Ok(7));
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [Ok(7)]);
    }
}
