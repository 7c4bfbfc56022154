//! Chunks: what a row has, packed and unpacked.

use cooperage_domain::id::{ClusterId, JobId, TaskId};

use super::block::{Block, LineRef, write};
use super::{OutputLine, StoredLine};
use crate::error::StoreError;

/// Most lines in one.
pub const MAX_LINES: usize = 4_096;
/// It takes no more lines when it has so many bytes.
pub const FULL: usize = 256 * 1024;
/// More than any has when it is unpacked, in bytes: who says more is not believed.
const MAX_UNPACKED: usize = 256 * 1024 * 1024;
/// The fastest but one; higher ones gain a few percent and take several times as long.
const LEVEL: i32 = 1;
/// One line as it is.
const PLAIN: i64 = 0;
/// Columns, compressed.
const COLUMNS: i64 = 1;

/// The columns that are read of a chunk, in their order.
pub const COLUMNS_READ: &str =
    "task, first, lines, job, attempt, first_ms, last_ms, unpacked, stored, packing, data";

/// Which lines a chunk has, and them, packed. All are of one attempt.
#[derive(Debug, Clone)]
pub struct Chunk {
    pub task: TaskId,
    /// Number of the first line; 0 while it has none.
    pub first: u64,
    pub lines: u64,
    pub attempt: u32,
    /// Earliest and latest time of a line.
    pub first_ms: i64,
    pub last_ms: i64,
    /// Bytes before it was compressed.
    pub unpacked: u64,
    pub packing: i64,
    pub data: Vec<u8>,
}

/// Such a row, as it is read.
pub type Row = (i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, Vec<u8>);

impl Chunk {
    /// Packs lines of one attempt; `None` when there is none.
    pub fn pack(task: TaskId, attempt: u32, lines: &[LineRef<'_>]) -> Option<Self> {
        let first_ms = lines.iter().map(|line| line.at_ms).min()?;
        let last_ms = lines.iter().map(|line| line.at_ms).max()?;
        let (packing, unpacked, data) = match lines {
            [line] => {
                let mut data = vec![line.stream.letter()];
                data.extend_from_slice(line.text.as_bytes());
                (PLAIN, data.len(), data)
            }
            _ => {
                let block = write(lines.iter().copied(), first_ms);
                // Compressing into memory cannot fail.
                (COLUMNS, block.len(), zstd::bulk::compress(&block, LEVEL).ok()?)
            }
        };
        let (lines, unpacked) = (lines.len() as u64, unpacked as u64);
        Some(Self { task, first: 0, lines, attempt, first_ms, last_ms, unpacked, packing, data })
    }

    /// A row of a cluster.
    ///
    /// # Errors
    /// When a number in it is none of ours.
    pub fn of_row(cluster: ClusterId, row: Row) -> Result<Self, StoreError> {
        let (task, first, lines, job, attempt, first_ms, last_ms, unpacked, _, packing, data) = row;
        let small = |what: &'static str, number: i64| {
            u32::try_from(number).map_err(|fault| StoreError::corrupt(what, fault))
        };
        Ok(Self {
            task: TaskId {
                job: JobId { cluster, number: small("a job", job)? },
                number: small("a task", task)?,
            },
            first: first.cast_unsigned(),
            lines: lines.cast_unsigned(),
            attempt: small("an attempt", attempt)?,
            first_ms,
            last_ms,
            unpacked: unpacked.cast_unsigned(),
            packing,
            data,
        })
    }

    /// Number of the last line.
    pub const fn last(&self) -> u64 {
        self.first + self.lines.saturating_sub(1)
    }

    /// Unpacks it.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn block(&self) -> Result<Block, StoreError> {
        if self.packing == PLAIN {
            return Block::of_line(&self.data, self.first_ms);
        }
        let size = usize::try_from(self.unpacked).unwrap_or(usize::MAX).min(MAX_UNPACKED);
        let bytes = zstd::bulk::decompress(&self.data, size)
            .map_err(|fault| StoreError::corrupt("a chunk of a task's output", fault))?;
        Block::read(bytes, self.first_ms)
    }

    /// A line of it by its place, with its number.
    pub fn line(&self, place: usize, line: &LineRef<'_>) -> StoredLine {
        StoredLine {
            sequence: self.first + place as u64,
            line: OutputLine {
                task: self.task,
                attempt: self.attempt,
                at_ms: line.at_ms,
                stream: line.stream,
                text: line.text.to_owned(),
            },
        }
    }
}
