//! What one task printed: forwards from a line, or backwards from the end.

use cooperage_domain::id::TaskId;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary};

use super::StoredLine;
use super::chunk::{COLUMNS_READ, Chunk, MAX_LINES, Row};
use super::page::{MAX_LOOKED_THROUGH, OutputPage, OutputQuery, key};
use crate::engine::Engine;
use crate::error::StoreError;
use crate::sql::{Statement, Value};
use crate::store::Store;

/// Chunks that are read together.
const READ_TOGETHER: i64 = 16;

/// The SQL types of [`COLUMNS_READ`].
pub type RowTypes = (BigInt, BigInt, BigInt, BigInt, BigInt, BigInt, BigInt, BigInt, BigInt, BigInt, Binary);

/// Runs a query for [`COLUMNS_READ`].
pub fn rows(engine: &mut Engine, text: &str, values: &[Value<'_>]) -> QueryResult<Vec<Row>> {
    match engine {
        Engine::Sqlite(connection) => Statement::<_, RowTypes>::new(text, values).load(connection),
        #[cfg(feature = "postgres")]
        Engine::Postgres(connection) => Statement::<_, RowTypes>::new(text, values).load(connection),
    }
}

impl Store {
    /// The lines of a task after the one numbered `after` (0: from the start), at most `limit`, in order. Who reads on from
    /// the last number seen misses nothing and sees nothing twice.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn output(&self, task: TaskId, after: u64, limit: u32) -> Result<Vec<StoredLine>, StoreError> {
        Ok(self.output_after(task, &OutputQuery::default(), after, limit)?.lines)
    }

    /// Those of a task's lines that are wanted, forwards from behind the one numbered `after`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn output_after(
        &self,
        task: TaskId,
        query: &OutputQuery,
        after: u64,
        limit: u32,
    ) -> Result<OutputPage<u64>, StoreError> {
        let mut walk = Walk::new(query, limit);
        let mut after = after;
        loop {
            let chunks = self.chunks(task, Side::After(after), query)?;
            let is_last = chunks.len() < READ_TOGETHER as usize;
            for chunk in &chunks {
                let mut lines = query.wanted(chunk)?.lines()?;
                lines.retain(|line| line.sequence > after);
                if let Some(next) = walk.take(chunk, lines) {
                    return Ok(walk.end(Some(next)));
                }
                after = chunk.last();
                if walk.is_exhausted() {
                    return Ok(walk.end(Some(after)));
                }
            }
            if is_last {
                return Ok(walk.end(None));
            }
        }
    }

    /// The same backwards, from before the line numbered `before` (`None`: from the end), the newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn output_until(
        &self,
        task: TaskId,
        query: &OutputQuery,
        before: Option<u64>,
        limit: u32,
    ) -> Result<OutputPage<u64>, StoreError> {
        let mut walk = Walk::new(query, limit);
        let mut before = before.unwrap_or(i64::MAX.cast_unsigned());
        loop {
            let chunks = self.chunks(task, Side::Before(before), query)?;
            let is_last = chunks.len() < READ_TOGETHER as usize;
            walk.newest = walk.newest.max(chunks.first().map_or(0, Chunk::last).min(before - 1));
            for chunk in &chunks {
                let mut lines = query.wanted(chunk)?.lines()?;
                lines.retain(|line| line.sequence < before);
                lines.reverse();
                if let Some(next) = walk.take(chunk, lines) {
                    return Ok(walk.end(Some(next)));
                }
                before = chunk.first;
                if walk.is_exhausted() {
                    return Ok(walk.end(Some(before)));
                }
            }
            if is_last {
                return Ok(walk.end(None));
            }
        }
    }

    /// The next chunks on one side of a line, the nearest first.
    fn chunks(&self, task: TaskId, side: Side, query: &OutputQuery) -> Result<Vec<Chunk>, StoreError> {
        let (cluster, number) = key(task);
        let since = query.since_ms.unwrap_or(i64::MIN);
        let (condition, order, least, most) = match side {
            // The one that has the line begins at most so many lines before it.
            Side::After(line) => {
                let least = line.saturating_sub(MAX_LINES as u64);
                ("first >= ? AND first + lines - 1 > ?", "first", least, line)
            }
            Side::Before(line) => ("first >= ? AND first < ?", "first DESC", 0, line),
        };
        let text = format!(
            "SELECT {COLUMNS_READ} FROM output_chunks WHERE cluster = ? AND task = ? AND {condition} \
             AND last_ms >= ? ORDER BY {order} LIMIT {READ_TOGETHER}"
        );
        let values = [
            Value::int(cluster),
            Value::int(number),
            Value::unsigned(least.min(i64::MAX.cast_unsigned())),
            Value::unsigned(most.min(i64::MAX.cast_unsigned())),
            Value::int(since),
        ];
        let rows = self.read(|engine| Ok(rows(engine, &text, &values)?))?;
        rows.into_iter().map(|row| Chunk::of_row(task.job.cluster, row)).collect()
    }
}

/// On which side of a line chunks are wanted.
#[derive(Debug, Clone, Copy)]
enum Side {
    After(u64),
    Before(u64),
}

/// One part of an answer while it is put together.
struct Walk<'a> {
    query: &'a OutputQuery,
    limit: usize,
    found: Vec<StoredLine>,
    looked_through: u64,
    newest: u64,
}

impl<'a> Walk<'a> {
    fn new(query: &'a OutputQuery, limit: u32) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Self { query, limit, found: Vec::new(), looked_through: 0, newest: 0 }
    }

    /// Takes the lines of a chunk, as far as there is room. Gives the last line taken when there was more.
    fn take(&mut self, chunk: &Chunk, lines: Vec<StoredLine>) -> Option<u64> {
        self.looked_through += chunk.unpacked;
        for line in lines {
            if !self.query.is_in_time(line.line.at_ms) {
                continue;
            }
            if self.found.len() == self.limit {
                let last = self.found.last().map_or(0, |last| last.sequence);
                self.newest = self.newest.max(last);
                return Some(last);
            }
            self.found.push(line);
        }
        self.newest = self.newest.max(chunk.last());
        None
    }

    const fn is_exhausted(&self) -> bool {
        self.looked_through >= MAX_LOOKED_THROUGH
    }

    fn end(self, next: Option<u64>) -> OutputPage<u64> {
        OutputPage { lines: self.found, next, newest: self.newest }
    }
}
