//! What stands between a server and its database: full disks, databases that are gone, and crashes at the worst moments.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cooperage_domain::cluster::Cluster;
use cooperage_schema::{Append, AppendError, Appended, Gate, Passage, Store, StoreError};

use super::outside::{Outside, State};
use crate::fault::{Fault, FaultKind};
use crate::seen::Seen;

/// The gate of one server.
pub struct SimulatedGate {
    outside: Arc<Outside>,
    /// The store behind it, to see who owns what, while its server lives.
    store: Mutex<Option<Store>>,
    crashes_after: Mutex<Option<i64>>,
}

/// That a store is open behind its gate. They hold each other until this is dropped.
pub struct Opened(Arc<SimulatedGate>);

impl Opened {
    pub fn new(gate: Arc<SimulatedGate>, store: Store) -> Self {
        *gate.store() = Some(store);
        Self(gate)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let store = self.0.store().take();
        drop(store);
    }
}

impl SimulatedGate {
    pub const fn new(outside: Arc<Outside>) -> Self {
        Self { outside, store: Mutex::new(None), crashes_after: Mutex::new(None) }
    }

    fn store(&self) -> MutexGuard<'_, Option<Store>> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn strike(&self, state: &mut State, faults: Vec<Fault>) {
        let now = state.now();
        for Fault { kind, ms, .. } in faults {
            state.coverage.fault(kind, 1);
            match kind {
                FaultKind::CrashBeforeCommit => {
                    state.dies = Some(ms);
                    self.outside.struck.notify_one();
                }
                FaultKind::CrashAfterCommit => *self.crashing() = Some(ms),
                FaultKind::ClockForward => state.skew += ms,
                FaultKind::ClockBack => state.skew -= ms,
                FaultKind::DiskFull => state.full_until = now + ms,
                FaultKind::DatabaseGone => state.gone_until = now + ms,
                FaultKind::TakeOver => {
                    state.taken_over = true;
                    self.outside.struck.notify_one();
                }
                _ => {}
            }
        }
    }

    fn crashing(&self) -> MutexGuard<'_, Option<i64>> {
        self.crashes_after.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whose the cluster is now.
    fn see_owner(&self, state: &mut State, append: &Append, accepted: bool) {
        let store = self.store().clone();
        let owner = store.and_then(|store| store.owner(append.cluster).ok().flatten());
        if let Some(owner) = owner
            && state.epochs.get(&append.cluster).is_none_or(|known| *known < owner.epoch)
        {
            state.epochs.insert(append.cluster, owner.epoch);
            state.checkers.see(&Seen::Claimed { cluster: append.cluster, epoch: owner.epoch });
        }
        state.checkers.see(&Seen::Written { cluster: append.cluster, epoch: append.epoch, accepted });
    }
}

impl Gate for SimulatedGate {
    fn before(&self, append: Option<&Append>) -> Passage {
        let mut state = self.outside.lock();
        if state.is_dying() {
            return Passage::Dead;
        }
        if append.is_some() {
            state.settle();
            state.appends += 1;
            let number = state.appends;
            let faults = if state.calm { None } else { state.faults.remove(&number) };
            self.strike(&mut state, faults.unwrap_or_default());
        }
        let now = state.now();
        if state.is_dying() {
            Passage::Dead
        } else if state.gone_until > now && !state.calm {
            Passage::Refused(StoreError::ConnectionLost { cause: "the database is gone".to_owned() })
        } else if state.full_until > now && !state.calm {
            Passage::Full
        } else {
            Passage::Open
        }
    }

    fn after(&self, append: &Append, result: &Result<Appended, AppendError>) -> bool {
        let mut state = self.outside.lock();
        self.see_owner(&mut state, append, result.is_ok());
        let known = state.clusters.get(&append.cluster).and_then(Option::as_ref).map_or(0, |it| it.sequence);
        // One whose acknowledgement was lost may come again.
        if result.is_ok() && known == append.expected_sequence {
            let texts: Vec<String> = append.events.iter().map(|event| event.json.clone()).collect();
            state.record(append.cluster, &texts);
            if let Some(snapshot) = &append.snapshot {
                match serde_json::from_str::<Cluster>(snapshot) {
                    Ok(snapshot) => state.checkers.see(&Seen::Recovered { state: &snapshot }),
                    Err(fault) => state.checkers.broken(format!("a snapshot cannot be read: {fault}")),
                }
            }
        }
        if let Some(ms) = self.crashing().take() {
            state.dies = Some(ms);
            self.outside.struck.notify_one();
            return false;
        }
        true
    }
}
