//! What a cluster can be told. A cluster that does not exist yet is told nothing: see [`create`](super::create()).

use crate::task::TaskReport;

/// What a cluster can be told.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Give all machines back.
    Delete {
        /// Who asks.
        by: String,
    },
    /// Go on from where a failed create stopped.
    Retry {
        /// Who asks.
        by: String,
    },
    /// Start nothing more of the running create.
    Abort {
        /// Who asks.
        by: String,
    },
    /// A node and a worker are free for this task.
    StartAttempt {
        /// Number of the task.
        task: u32,
        /// Who will execute it.
        worker: String,
    },
    /// A worker is done.
    FinishAttempt {
        /// Number of the task.
        task: u32,
        /// Number of the attempt; an older one is refused.
        attempt: u32,
        /// What it reports.
        report: TaskReport,
    },
    /// An attempt's time is up. Refused when it ended meanwhile.
    TimeOutAttempt {
        /// Number of the task.
        task: u32,
        /// Number of the attempt.
        attempt: u32,
    },
}
