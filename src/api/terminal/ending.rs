//! How terminals end.

use serde_json::{Value, json};

use crate::api::problem::Problem;

/// Why a terminal ended.
#[derive(Debug)]
pub(super) enum Ending {
    /// The shell did, or the machine went.
    Shell,
    /// The client closed it.
    Left,
    /// The client is gone without a word.
    Lost,
    /// The client takes nothing of what is shown.
    Slow,
    /// Nothing was typed for too long.
    Idle,
    /// It was open for too long.
    Longest,
    /// The caller is let in no more.
    Revoked,
    /// The server stops.
    Stopping,
    /// The client does not keep to the protocol.
    Misspoken,
    /// It never was open, or broke.
    Failed(Problem),
}

impl Ending {
    /// In one word, as clients are told.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Left => "left",
            Self::Lost => "lost",
            Self::Slow => "slow",
            Self::Idle => "idle",
            Self::Longest => "longest",
            Self::Revoked => "revoked",
            Self::Stopping => "stopping",
            Self::Misspoken => "misspoken",
            Self::Failed(_) => "failed",
        }
    }

    /// What the client is told.
    pub fn told(&self) -> Value {
        match self {
            Self::Failed(problem) => json!({"end": self.word(), "problem": problem}),
            _ => json!({"end": self.word()}),
        }
    }

    /// As a status of HTTP, for the record.
    pub fn status(&self) -> u16 {
        match self {
            Self::Failed(problem) => problem.status,
            _ => 200,
        }
    }
}
