//! The one place where the wall clock is read, so that time can be simulated.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Tells the time in milliseconds since 1970.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> i64;
}

/// A clock shared by actors.
pub type SharedClock = Arc<dyn Clock>;

/// The machine's clock. Never goes backwards within a process: when the machine's clock is set back, it stands still.
#[derive(Debug, Default)]
pub struct WallClock {
    latest: AtomicI64,
}

impl Clock for WallClock {
    #[allow(clippy::disallowed_methods)] // This is the one place.
    fn now(&self) -> i64 {
        let since_epoch =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX);
        self.latest.fetch_max(now, Ordering::Relaxed).max(now)
    }
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
