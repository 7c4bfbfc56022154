//! What tasks print, while they run and after.
//!
//! Lines lie in chunks, each a row: the columns say which lines it has, and are the index; its data is compressed. What comes
//! from tasks is stored at once, in chunks as small as it comes ([`append`]), so that it can be seen. Later small chunks
//! become large ones ([`merge`]), and old ones go ([`prune`]). Lines keep their numbers through all of it.

pub(crate) mod append;
mod block;
mod chunk;
mod cluster;
mod merge;
mod page;
mod pattern;
mod prune;
mod task;

pub use merge::Merged;
pub use page::{OutputPage, OutputPlace, OutputQuery};
pub use pattern::{Pattern, PatternFault};
pub use prune::OutputLimits;

use cooperage_domain::id::TaskId;

use crate::error::StoreError;

/// Which of a task's streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// What it prints.
    Stdout,
    /// What it prints as errors.
    Stderr,
    /// What we say about it.
    System,
}

impl Stream {
    /// As it is shown.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::System => "system",
        }
    }

    /// As it is stored.
    const fn letter(self) -> u8 {
        match self {
            Self::Stdout => b'o',
            Self::Stderr => b'e',
            Self::System => b's',
        }
    }

    fn of_letter(letter: u8) -> Result<Self, StoreError> {
        [Self::Stdout, Self::Stderr, Self::System]
            .into_iter()
            .find(|stream| stream.letter() == letter)
            .ok_or_else(|| StoreError::corrupt("the stream of a line of output", format!("{letter}")))
    }
}

/// Something a task printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputLine {
    /// Which task.
    pub task: TaskId,
    /// Which attempt at it, from 1.
    pub attempt: u32,
    /// When it was printed, in milliseconds since 1970.
    pub at_ms: i64,
    /// Where it was printed.
    pub stream: Stream,
    /// What was printed.
    pub text: String,
}

/// A line that is stored, with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLine {
    /// Counts the lines of the task from 1 without gaps, over all attempts: the cursor of whoever reads on.
    pub sequence: u64,
    /// What was stored.
    pub line: OutputLine,
}
