//! A hand on an actor: pause it, have it stop, have something go wrong.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, OnceLock};
use std::task::Waker;
use std::time::Duration;

use super::lock;

/// What goes wrong with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is lost; who waits for its answer is told that there is none.
    Drop,
    /// It, and all behind it, are handled so much later.
    Delay(Duration),
    /// The actor panics over it.
    Crash,
}

/// Why an actor did not do as it was told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SwitchError {
    /// There is none at the path.
    #[error("no actor lives at {0}")]
    Unknown(String),
    /// It takes messages.
    #[error("the actor at {0} is not paused")]
    NotPaused(String),
    /// Nobody would start it again.
    #[error(
        "the actor at {path} is not {what}: only clusters and their nodes are started again from the journal"
    )]
    NotStartedAgain {
        /// Where it lives.
        path: String,
        /// What was to be done.
        what: &'static str,
    },
}

const PAUSED: u8 = 1;
const STOP: u8 = 2;
const FAULT: u8 = 4;

/// What an actor is to do otherwise than usual. While it is nothing, a message costs one look at it.
#[derive(Debug, Default)]
pub(super) struct Switch {
    bits: AtomicU8,
    orders: OnceLock<Box<Mutex<Orders>>>,
    /// That of the actor's task, which stays the same all its life.
    waker: Mutex<Option<Waker>>,
}

#[derive(Debug, Default)]
struct Orders {
    /// Tells pauses from each other, so that an old limit ends no new one.
    pauses: u64,
    limit: Duration,
    fault: Option<Fault>,
}

/// A pause that is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pause {
    pub(super) number: u64,
    pub(super) limit: Duration,
}

impl Switch {
    fn orders(&self) -> &Mutex<Orders> {
        self.orders.get_or_init(Box::default)
    }

    /// Whether anything is out of the usual.
    pub(super) fn is_set(&self) -> bool {
        self.bits.load(Ordering::Acquire) != 0
    }

    pub(super) fn is_paused(&self) -> bool {
        self.bits.load(Ordering::Acquire) & PAUSED != 0
    }

    pub(super) fn is_to_stop(&self) -> bool {
        self.bits.load(Ordering::Acquire) & STOP != 0
    }

    pub(super) fn pause(&self, limit: Duration) {
        let mut orders = lock(self.orders());
        orders.pauses += 1;
        orders.limit = limit;
        self.bits.fetch_or(PAUSED, Ordering::Release);
        drop(orders);
        self.wake();
    }

    /// Whether it was paused.
    pub(super) fn resume(&self) -> bool {
        let was = self.bits.fetch_and(!PAUSED, Ordering::AcqRel) & PAUSED != 0;
        self.wake();
        was
    }

    /// Ends a pause whose limit has passed, if that is still the one in force.
    pub(super) fn end(&self, pause: Pause) {
        let orders = lock(self.orders());
        if orders.pauses == pause.number {
            self.bits.fetch_and(!PAUSED, Ordering::AcqRel);
        }
    }

    pub(super) fn in_force(&self) -> Option<Pause> {
        let orders = lock(self.orders());
        self.is_paused().then_some(Pause { number: orders.pauses, limit: orders.limit })
    }

    pub(super) fn stop(&self) {
        self.bits.fetch_or(STOP, Ordering::Release);
        self.wake();
    }

    pub(super) fn inject(&self, fault: Fault) {
        let mut orders = lock(self.orders());
        orders.fault = Some(fault);
        self.bits.fetch_or(FAULT, Ordering::Release);
    }

    /// What is to go wrong with the message that is next.
    pub(super) fn take_fault(&self) -> Option<Fault> {
        let mut orders = lock(self.orders());
        self.bits.fetch_and(!FAULT, Ordering::AcqRel);
        orders.fault.take()
    }

    /// What is waiting to go wrong.
    pub(super) fn fault(&self) -> Option<Fault> {
        if self.bits.load(Ordering::Acquire) & FAULT == 0 { None } else { lock(self.orders()).fault }
    }

    /// Whom to wake when something changes.
    pub(super) fn register(&self, waker: &Waker) {
        *lock(&self.waker) = Some(waker.clone());
    }

    fn wake(&self) {
        if let Some(waker) = &*lock(&self.waker) {
            waker.wake_by_ref();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_an_old_pause_ends_no_new_one() {
        let switch = Switch::default();
        switch.pause(Duration::from_secs(1));
        let first = switch.in_force().unwrap();
        switch.pause(Duration::from_secs(2));
        switch.end(first);
        assert!(switch.is_paused());
        switch.end(switch.in_force().unwrap());
        assert!(!switch.is_paused() && !switch.resume());
    }

    #[test]
    fn a_fault_happens_once() {
        let switch = Switch::default();
        switch.inject(Fault::Crash);
        assert_eq!((switch.fault(), switch.take_fault()), (Some(Fault::Crash), Some(Fault::Crash)));
        assert_eq!((switch.fault(), switch.take_fault(), switch.is_set()), (None, None, false));
    }
}
