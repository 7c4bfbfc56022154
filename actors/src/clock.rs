//! The one place where the wall clock is read, so that time can be simulated.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

/// Tells the time in milliseconds since 1970.
pub trait Clock: Send + Sync + 'static {
    /// Now. Never less than what was told before.
    fn now(&self) -> i64;
}

/// A clock shared by actors.
pub type SharedClock = Arc<dyn Clock>;

/// The machine's clock. When that is set back while the process runs, this one goes on from where it was, so that pauses
/// still end; when that jumps ahead (or the machine slept), this one follows.
#[derive(Debug)]
pub struct WallClock {
    started: Instant,
    /// The most by which the machine's clock was ever ahead of the time since `started`, in ms.
    ahead: AtomicI64,
}

impl Default for WallClock {
    fn default() -> Self {
        Self { started: Instant::now(), ahead: AtomicI64::new(i64::MIN) }
    }
}

impl WallClock {
    /// The time now, if the machine's clock shows `wall` so many ms after the start.
    fn at(&self, wall: i64, elapsed: i64) -> i64 {
        let ahead = wall - elapsed;
        self.ahead.fetch_max(ahead, Ordering::Relaxed).max(ahead) + elapsed
    }
}

impl Clock for WallClock {
    #[allow(clippy::disallowed_methods)] // This is the one place.
    fn now(&self) -> i64 {
        let since_epoch =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let wall = i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX);
        self.at(wall, i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX))
    }
}

/// Nanoseconds since the first time that this was asked. For measurements only: nothing is decided by it.
pub(crate) fn ticks() -> u64 {
    static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(FIRST.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// A clock that only moves when told.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// Starts at `now`.
    #[must_use]
    pub const fn new(now: i64) -> Self {
        Self(AtomicI64::new(now))
    }

    /// Moves on by so many milliseconds.
    pub fn advance(&self, by: i64) {
        self.0.fetch_add(by, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_jumps_ahead_and_goes_on_when_set_back() {
        let clock = WallClock::default();
        assert_eq!(clock.at(1_000_000, 0), 1_000_000);
        assert_eq!(clock.at(1_000_010, 10), 1_000_010);
        assert_eq!(clock.at(5_000_020, 20), 5_000_020, "a jump ahead is followed");
        assert_eq!(clock.at(1_000_030, 30), 5_000_030, "a jump back is not, but time goes on");
        assert_eq!(clock.at(5_000_040, 40), 5_000_040);
    }
}
