//! What came of a run.

use serde::Serialize;

use crate::checkers::Violation;
use crate::coverage::Coverage;

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The first invariant that did not hold.
    pub violation: Option<Violation>,
    /// What was covered.
    pub coverage: Coverage,
    /// A hash of everything that became durable, in its order: the same for the same run.
    pub trace: u64,
}

/// Hashes texts as they come.
#[derive(Debug, Clone, Copy)]
pub struct Trace(u64);

impl Default for Trace {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Trace {
    /// One more text.
    pub fn add(&mut self, text: &str) {
        // FNV-1a.
        self.0 =
            text.bytes().fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
    }

    /// The hash so far.
    #[must_use]
    pub const fn sum(self) -> u64 {
        self.0
    }
}
