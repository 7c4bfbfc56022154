//! The actors as somebody sees them who looks: which there are, what each does, and a hand on them.
//!
//! ```text
//!   anybody ──message──► Parcel ───────────────► the actor's handler          one place that every message passes
//!                          │  └──► Held ──► ─┘
//!                          │       while somebody looks, or a Switch is set: paused, to be stopped, faults
//!                          └── Tap: who follows messages        Meter: counters
//! ```
//!
//! Every actor of a server lives in a [`Context`], whose envelopes are parcels (`parcel.rs`). While nobody looks a message costs
//! a counter and a look at a switch; no clock is read. Who looks holds a [`Look`]: then parcels are stamped, those that wait are
//! counted, and what takes time is measured. What a message says is never shown: its kind, its size, who it is about and how it went are.

mod cause;
mod context;
mod held;
mod histogram;
mod life;
mod meter;
mod parcel;
mod subject;
mod switch;
mod tap;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

pub(crate) use cause::within;
pub use cause::{Cause, caused};
pub use context::{Context, Live};
pub use histogram::{BUCKETS, Histogram, bound_us};
pub use meter::{ActorSample, ActorState, Latency};
pub use switch::{Fault, SwitchError};
pub use tap::{Filter, Followed, Outcome, Tail};

use meter::{Ending, Meter};
use tap::Tap;

/// Ends of actors that are remembered at most.
const MOST_SCARS: usize = 4096;

/// How many look, at any server of this process. While it is 0 nothing is measured that takes a look at a clock.
static LOOKING: AtomicUsize = AtomicUsize::new(0);

/// Whether anybody looks.
fn is_watched() -> bool {
    LOOKING.load(Ordering::Relaxed) != 0
}

/// As long as it lives, what takes time is measured.
#[derive(Debug)]
pub struct Look(());

impl Look {
    fn new() -> Self {
        LOOKING.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Look {
    fn drop(&mut self) {
        LOOKING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What became of the actors at a path that ended otherwise than in order.
#[derive(Debug, Clone, Default)]
struct Scar {
    ends: u32,
    last_error: Option<String>,
}

/// The actors of one server.
#[derive(Debug, Clone, Default)]
pub struct Console(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    numbers: AtomicU64,
    /// By number.
    roster: Mutex<HashMap<u64, Arc<Meter>>>,
    scars: Mutex<HashMap<Arc<str>, Scar>>,
    taps: RwLock<Vec<Tap>>,
}

/// What is counted stays right when somebody broke off over it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Console {
    /// Has everything measured while the answer lives.
    #[must_use]
    pub fn look(&self) -> Look {
        Look::new()
    }

    /// How the actors at and below a path stand; `/` is above all.
    #[must_use]
    pub fn sample(&self, under: &str) -> Vec<ActorSample> {
        let mut meters: Vec<Arc<Meter>> = {
            let roster = lock(&self.0.roster);
            roster.values().filter(|meter| is_within(&meter.path, under)).map(Arc::clone).collect()
        };
        meters.sort_unstable_by(|a, b| (&a.path, a.number).cmp(&(&b.path, b.number)));
        meters.iter().map(|meter| meter.sample()).collect()
    }

    /// How many actors live.
    #[must_use]
    pub fn len(&self) -> usize {
        lock(&self.0.roster).len()
    }

    /// Whether none lives.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counts, until the answer is dropped, how long messages to an actor wait and take, by what led to what.
    #[must_use]
    pub fn examine(&self, path: &str) -> Option<Examination> {
        let meter = self.find(path)?;
        meter.examine();
        Some(Examination { meter, _look: Look::new() })
    }

    /// Follows messages, until the answer is dropped.
    #[must_use]
    pub fn follow(&self, filter: Filter) -> Tail {
        tap::follow(&self.0, filter)
    }

    /// Has an actor take no messages, until it is resumed or `limit` has passed.
    ///
    /// # Errors
    /// When there is none at the path.
    pub fn pause(&self, path: &str, limit: Duration) -> Result<(), SwitchError> {
        self.meter(path)?.switch.pause(limit);
        Ok(())
    }

    /// Has an actor take messages again.
    ///
    /// # Errors
    /// When there is none at the path, or it is not paused.
    pub fn resume(&self, path: &str) -> Result<(), SwitchError> {
        let is_paused = self.meter(path)?.switch.resume();
        if is_paused { Ok(()) } else { Err(SwitchError::NotPaused(path.to_owned())) }
    }

    /// Stops a cluster's actors as soon as what they decided is durable; the registry starts them again from the journal.
    /// The answer is the path of what is stopped: a node ends with its cluster.
    ///
    /// # Errors
    /// When there is none at the path, or nobody would start it again.
    pub fn restart(&self, path: &str) -> Result<Arc<str>, SwitchError> {
        let meter = self.meter(path)?;
        if !meter.is_started_again() {
            return Err(SwitchError::NotStartedAgain { path: path.to_owned(), what: "restarted" });
        }
        let cluster = path.find("/nodes/").map_or(path, |end| &path[..end]);
        let meter = self.meter(cluster)?;
        meter.switch.stop();
        Ok(Arc::clone(&meter.path))
    }

    /// Has something go wrong with the next message to an actor.
    ///
    /// # Errors
    /// When there is none at the path, or it is to crash and nobody would start it again.
    pub fn inject(&self, path: &str, fault: Fault) -> Result<(), SwitchError> {
        let meter = self.meter(path)?;
        if matches!(fault, Fault::Crash) && !meter.is_started_again() {
            return Err(SwitchError::NotStartedAgain { path: path.to_owned(), what: "crashed" });
        }
        meter.switch.inject(fault);
        Ok(())
    }

    fn meter(&self, path: &str) -> Result<Arc<Meter>, SwitchError> {
        self.find(path).ok_or_else(|| SwitchError::Unknown(path.to_owned()))
    }

    /// The newest actor at a path: an earlier one may not have ended yet.
    fn find(&self, path: &str) -> Option<Arc<Meter>> {
        let roster = lock(&self.0.roster);
        let here = roster.values().filter(|meter| *meter.path == *path);
        here.max_by_key(|meter| meter.number).map(Arc::clone)
    }

    fn enter(&self, path: Arc<str>, kind: &'static str) -> Arc<Meter> {
        let number = self.0.numbers.fetch_add(1, Ordering::Relaxed);
        let scar = {
            let scars = lock(&self.0.scars);
            if scars.is_empty() { Scar::default() } else { scars.get(&path).cloned().unwrap_or_default() }
        };
        let meter = Arc::new(Meter::new(self.clone(), number, path, kind, scar.ends, scar.last_error));
        lock(&self.0.roster).insert(number, Arc::clone(&meter));
        meter
    }

    fn leave(&self, meter: &Meter, ending: Ending) {
        lock(&self.0.roster).remove(&meter.number);
        let mut scars = lock(&self.0.scars);
        let last_error = match ending {
            Ending::InOrder => {
                scars.remove(&meter.path);
                return;
            }
            Ending::Restarted => meter.last_error(),
            Ending::Failed(fault) => Some(fault),
        };
        if scars.len() < MOST_SCARS || scars.contains_key(&meter.path) {
            let scar = scars.entry(Arc::clone(&meter.path)).or_default();
            *scar = Scar { ends: scar.ends + 1, last_error };
        }
    }
}

/// One actor, looked at closely.
#[derive(Debug)]
pub struct Examination {
    meter: Arc<Meter>,
    _look: Look,
}

impl Examination {
    /// What was measured since somebody looked closely, by what led to what.
    #[must_use]
    pub fn latencies(&self) -> Vec<Latency> {
        self.meter.latencies()
    }
}

impl Drop for Examination {
    fn drop(&mut self) {
        self.meter.leave_alone();
    }
}

/// Whether a path is another one or below it.
fn is_within(path: &str, above: &str) -> bool {
    above == "/" || path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_within_what_is_above_it() {
        for (path, above, within) in [
            ("/clusters/1", "/", true),
            ("/clusters/1", "/clusters", true),
            ("/clusters/1", "/clusters/1", true),
            ("/clusters/10", "/clusters/1", false),
            ("/clusters/1/nodes/a", "/clusters/1", true),
            ("/clusters", "/clusters/1", false),
        ] {
            assert_eq!(is_within(path, above), within, "{path} in {above}");
        }
    }

    #[test]
    fn those_that_failed_are_counted_until_they_end_in_order() {
        let console = Console::default();
        let enter = || console.enter(Arc::from("/clusters/1"), "Cluster");
        console.leave(&enter(), Ending::Failed("it broke".to_owned()));
        let second = enter();
        let seen = second.sample();
        assert_eq!((seen.restarts, seen.last_error.as_deref()), (1, Some("it broke")));
        console.leave(&second, Ending::Restarted);
        let third = enter();
        let seen = third.sample();
        assert_eq!(
            (seen.restarts, seen.last_error.as_deref()),
            (2, Some("it broke")),
            "a restart is no error"
        );
        console.leave(&third, Ending::InOrder);
        assert_eq!(enter().sample().restarts, 0);
    }

    #[test]
    fn of_two_at_one_path_the_newest_is_meant_and_nobody_else_below() {
        let console = Console::default();
        for path in ["/clusters/1", "/clusters/1/nodes/a", "/clusters/10", "/registry"] {
            console.enter(Arc::from(path), "Cluster");
        }
        console.enter(Arc::from("/clusters/1"), "Cluster");
        let paths = |under| console.sample(under).iter().map(|it| it.path.to_string()).collect::<Vec<_>>();
        assert_eq!(paths("/clusters/1"), ["/clusters/1", "/clusters/1", "/clusters/1/nodes/a"]);
        assert_eq!((paths("/").len(), paths("/clusters").len(), paths("/none").len()), (5, 4, 0));
        console.pause("/clusters/1", Duration::from_secs(1)).unwrap();
        let states: Vec<_> = console.sample("/clusters/1").iter().map(|it| it.state).collect();
        assert_eq!(states, [ActorState::Running, ActorState::Paused, ActorState::Running]);
        assert!(matches!(console.resume("/registry"), Err(SwitchError::NotPaused(_))));
        assert!(matches!(console.pause("/x", Duration::ZERO), Err(SwitchError::Unknown(_))));
    }
}
