//! How many tasks may run at once in the whole installation, shared by the worker pools of all tenants.
//!
//! ```text
//!   WorkerPool ──take──► RunningLimit … there is none ──► it is noted who wants one
//!   a permit is dropped ──► whoever waits and holds the fewest ──Permitted(permit)──► WorkerPool
//! ```
//!
//! A permit is a value: dropped, in whatever way, it goes to somebody who waits. So none is lost, and nobody waits while one
//! is free.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actix::{Message, Recipient};

/// Permits beyond the limit, for tasks that give machines back: they make room, so they must not wait for it.
pub const RESERVED: usize = 2;

/// How many tasks may run at once, for all tenants together.
#[derive(Debug, Clone, Default)]
pub struct RunningLimit(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// 0 is any number.
    most: usize,
    running: usize,
    /// By tenant, how many it holds.
    held: HashMap<String, usize>,
    waiting: HashMap<String, Waiter>,
    asked: u64,
}

/// A pool that wants a permit.
#[derive(Debug, Clone)]
struct Waiter {
    age: u64,
    whom: Recipient<Permitted>,
    any: bool,
    urgent: bool,
}

/// What a permit is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Any task.
    Any,
    /// A task that gives a machine back.
    Urgent,
}

/// One task may run, until this is dropped.
#[derive(Debug)]
pub(super) struct Permit {
    limit: RunningLimit,
    tenant: String,
    /// What it may be used for.
    pub(super) purpose: Purpose,
}

/// A permit that a pool has waited for.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct Permitted(pub(super) Permit);

impl RunningLimit {
    /// At most so many tasks; 0 is any number.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self(Arc::new(Mutex::new(State { most, ..State::default() })))
    }

    /// How many run, and how many may; 0 is any number.
    #[must_use]
    pub fn standing(&self) -> (usize, usize) {
        let state = self.state();
        (state.running, state.most)
    }

    /// A permit, or a place among those that wait for one.
    pub(super) fn take(&self, tenant: &str, purpose: Purpose, whom: Recipient<Permitted>) -> Option<Permit> {
        let mut state = self.state();
        if state.has_room(purpose) {
            state.count(tenant);
            return Some(self.permit(tenant, purpose));
        }
        state.asked += 1;
        let age = state.asked;
        let waiter = Waiter { age, whom, any: false, urgent: false };
        let waiter = state.waiting.entry(tenant.to_owned()).or_insert(waiter);
        match purpose {
            Purpose::Any => waiter.any = true,
            Purpose::Urgent => waiter.urgent = true,
        }
        None
    }

    /// A permit for what runs already, even beyond the limit.
    pub(super) fn taken_up(&self, tenant: &str) -> Permit {
        self.state().count(tenant);
        self.permit(tenant, Purpose::Any)
    }

    fn permit(&self, tenant: &str, purpose: Purpose) -> Permit {
        Permit { limit: self.clone(), tenant: tenant.to_owned(), purpose }
    }

    /// Plain numbers: a thread that panicked while it held the lock left them whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    const fn has_room(&self, purpose: Purpose) -> bool {
        let most = match purpose {
            Purpose::Any => self.most,
            Purpose::Urgent => self.most.saturating_add(RESERVED),
        };
        self.most == 0 || self.running < most
    }

    fn count(&mut self, tenant: &str) {
        self.running += 1;
        *self.held.entry(tenant.to_owned()).or_default() += 1;
    }

    /// One permit less is held; whoever gets it next, if there is somebody: the one that holds the fewest, among equals the
    /// one that has waited longest.
    fn release(&mut self, tenant: &str) -> Option<(String, Waiter, Purpose)> {
        self.running = self.running.saturating_sub(1);
        if let Some(held) = self.held.get_mut(tenant) {
            *held = held.saturating_sub(1);
            if *held == 0 {
                self.held.remove(tenant);
            }
        }
        let purpose = if self.has_room(Purpose::Any) { Purpose::Any } else { Purpose::Urgent };
        if !self.has_room(purpose) {
            return None;
        }
        let wants = |waiter: &Waiter| purpose == Purpose::Any || waiter.urgent;
        let key = |(tenant, waiter): &(&String, &Waiter)| {
            (self.held.get(*tenant).copied().unwrap_or(0), waiter.age)
        };
        let next = self.waiting.iter().filter(|(_, waiter)| wants(waiter)).min_by_key(key);
        let next = next.map(|(tenant, _)| tenant.clone())?;
        let waiter = self.waiting.remove(&next)?;
        self.count(&next);
        // One that waits for urgent tasks only keeps to them.
        let purpose = if waiter.any { purpose } else { Purpose::Urgent };
        Some((next, waiter, purpose))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let next = self.limit.state().release(&self.tenant);
        // Outside of the lock: a pool that is gone drops what it is sent, and the next one gets it.
        if let Some((tenant, waiter, purpose)) = next {
            waiter.whom.do_send(Permitted(self.limit.permit(&tenant, purpose)));
        }
    }
}
