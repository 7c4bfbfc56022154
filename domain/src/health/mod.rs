//! Health of machines and services: what to probe next, what findings come to, and whether what is down is replaced.
//!
//! ```text
//!   budget::next ──► a probe ──► Finding ──► Watch::observe ──► a change, for the journal
//!                                                          └──► guard::judge ──► heal, alarm, or wait
//! ```
//!
//! All of it is pure: times are given, and nothing is remembered but in a [`Watch`].

pub mod budget;
mod guard;
mod policy;
mod watch;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use guard::{Ailing, Situation, Verdict, judge, meltdown_above};
pub use policy::{HealMode, HealthRules, Policy};
pub use watch::Watch;

/// What a probe found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// It does what it is there for.
    Up,
    /// It is there, and does not; with the reason.
    Down(String),
    /// There is no such machine any more; with the reason.
    Gone(String),
    /// Nothing was learned; with the reason. It counts neither for nor against.
    Unknown(String),
}

/// How a machine or a service is.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// No probe has found anything out.
    #[default]
    Unknown,
    /// The last probe that found anything out found it up.
    Healthy,
    /// Probes found it down, not often enough to believe them.
    Suspect,
    /// Probes found it down again and again.
    Down,
}

impl Health {
    /// As in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Healthy => "healthy",
            Self::Suspect => "suspect",
            Self::Down => "down",
        }
    }
}
