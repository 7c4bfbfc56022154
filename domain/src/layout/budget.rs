//! A bound on the work of one search, so that an entangled template is refused instead of searched for ever.

use super::reason::{Reason, ReasonKind};

/// Steps the search for a new cluster's layout may take: about a second, and far beyond what known
/// templates need.
pub const SEARCH_LIMIT: u32 = 250_000;

/// The steps that are left.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    limit: u32,
    left: u32,
}

/// All steps are used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exhausted {
    /// How many they were.
    limit: u32,
}

impl Budget {
    pub(super) fn new(limit: u32) -> Self {
        Self { limit, left: limit }
    }

    /// One step.
    pub(super) fn step(&mut self) -> Result<(), Exhausted> {
        self.left = self.left.checked_sub(1).ok_or(Exhausted { limit: self.limit })?;
        Ok(())
    }
}

impl From<Exhausted> for Reason {
    fn from(Exhausted { limit }: Exhausted) -> Self {
        Self::new(
            ReasonKind::SearchLimit,
            format!("the search for a layout was given up after {limit} steps: the rules are too entangled"),
            "drop rules that are not needed from the template, tie services together with mustcoexist, or ask for \
             fewer services at once",
        )
    }
}
