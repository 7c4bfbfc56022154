//! What is asked of output, and parts of answers.

use cooperage_domain::id::{ClusterId, TaskId};

use super::block::Block;
use super::chunk::Chunk;
use super::{Pattern, StoredLine};
use crate::error::StoreError;

/// Most text that is looked through for one part of an answer, in bytes: some million lines. Who wants more asks for the next.
pub const MAX_LOOKED_THROUGH: u64 = 256 * 1024 * 1024;

/// Which lines are wanted.
#[derive(Debug, Clone, Default)]
pub struct OutputQuery {
    /// Only lines that have this.
    pub pattern: Option<Pattern>,
    /// Only lines printed at this time or later, in milliseconds since 1970.
    pub since_ms: Option<i64>,
}

/// A part of the lines that are wanted, and where to go on; `None` where there is no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputPage<Place> {
    /// In the order in which they were looked for.
    pub lines: Vec<StoredLine>,
    /// Where the next part begins. It may be given although there are fewer lines than were asked for, or none at all: then
    /// as much text was looked through as is for one part.
    pub next: Option<Place>,
    /// Of one task: the number of the newest line that was looked at; who asks for those behind it misses none.
    pub newest: u64,
}

/// A line's place in the order of time of all lines of a cluster: its time, the number of its task, its own number.
pub type OutputPlace = (i64, u32, u64);

/// A line of a chunk that is wanted, as its place in the chunk.
pub struct Wanted<'a> {
    pub chunk: &'a Chunk,
    block: Block,
    places: Vec<usize>,
}

impl OutputQuery {
    /// Lines of a chunk that are wanted, in order.
    pub fn wanted<'a>(&self, chunk: &'a Chunk) -> Result<Wanted<'a>, StoreError> {
        let block = chunk.block()?;
        let places = match &self.pattern {
            Some(pattern) => pattern.places(&block)?,
            None => (0..usize::try_from(chunk.lines).unwrap_or_default()).collect(),
        };
        Ok(Wanted { chunk, block, places })
    }

    /// Whether a line is late enough.
    pub fn is_in_time(&self, at_ms: i64) -> bool {
        self.since_ms.is_none_or(|since| at_ms >= since)
    }
}

impl Wanted<'_> {
    /// The lines; nothing is read where there is none.
    pub fn lines(&self) -> Result<Vec<StoredLine>, StoreError> {
        if self.places.is_empty() {
            return Ok(Vec::new());
        }
        let lines = self.block.lines()?;
        let found = self.places.iter().filter_map(|place| Some((*place, lines.get(*place)?)));
        Ok(found.map(|(place, line)| self.chunk.line(place, line)).collect())
    }
}

/// The columns of a task's key.
pub const fn key(task: TaskId) -> (i64, i64) {
    super::append::key(task)
}

/// The column of a cluster's key.
pub const fn cluster_key(cluster: ClusterId) -> i64 {
    cluster.0.cast_signed()
}
