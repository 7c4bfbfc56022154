//! What all tasks of a cluster printed, in the order of time.

use cooperage_domain::id::ClusterId;
use diesel::prelude::*;

use super::StoredLine;
use super::chunk::{COLUMNS_READ, Chunk};
use super::page::{MAX_LOOKED_THROUGH, OutputPage, OutputPlace, OutputQuery, cluster_key};
use super::task::rows;
use crate::engine::Engine;
use crate::error::StoreError;
use crate::sql::Value;
use crate::store::Store;

/// Chunks that are read together.
const READ_TOGETHER: i64 = 16;

impl Store {
    /// The lines of a cluster that are wanted, over all its tasks, backwards from before a place (`None`: from the end), the
    /// newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn cluster_output(
        &self,
        cluster: ClusterId,
        query: &OutputQuery,
        before: Option<OutputPlace>,
        limit: u32,
    ) -> Result<OutputPage<OutputPlace>, StoreError> {
        // Of one moment: chunks that are put together meanwhile would be missed, or seen twice.
        self.read(|engine| {
            engine.transaction(|engine| {
                engine.freeze()?;
                Backwards::new(cluster, query, before, limit).run(engine)
            })
        })
    }
}

/// A walk from chunk to chunk, the one that ends last first. What it has found is in its place as soon as no chunk ends later
/// that has not been read.
struct Backwards<'a> {
    cluster: ClusterId,
    query: &'a OutputQuery,
    before: Option<OutputPlace>,
    limit: usize,
    found: Vec<StoredLine>,
    looked_through: u64,
    /// The last chunk that was read: its end, its task, its first line.
    at: Option<(i64, i64, i64)>,
}

impl<'a> Backwards<'a> {
    fn new(cluster: ClusterId, query: &'a OutputQuery, before: Option<OutputPlace>, limit: u32) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Self { cluster, query, before, limit, found: Vec::new(), looked_through: 0, at: None }
    }

    fn run(mut self, engine: &mut Engine) -> Result<OutputPage<OutputPlace>, StoreError> {
        loop {
            let chunks = self.chunks(engine)?;
            if chunks.is_empty() {
                return Ok(self.end(None));
            }
            for chunk in &chunks {
                // Lines of this time may still come.
                let in_place = self.found.iter().filter(|line| line.line.at_ms > chunk.last_ms).count();
                if in_place > self.limit || self.is_exhausted(chunk) {
                    return Ok(self.end(Some(chunk.last_ms)));
                }
                self.looked_through += chunk.unpacked;
                let (query, before) = (self.query, self.before);
                let lines = query.wanted(chunk)?.lines()?.into_iter();
                self.found.extend(lines.filter(|line| {
                    query.is_in_time(line.line.at_ms) && before.is_none_or(|before| place(line) < before)
                }));
                self.at = Some((chunk.last_ms, i64::from(chunk.task.number), chunk.first.cast_signed()));
            }
        }
    }

    /// Whether enough text was looked through for one part, and the next begins further back than this one.
    fn is_exhausted(&self, next: &Chunk) -> bool {
        let place = (next.last_ms.saturating_add(1), 0, 0);
        self.looked_through >= MAX_LOOKED_THROUGH && self.before.is_none_or(|before| place < before)
    }

    fn chunks(&self, engine: &mut Engine) -> Result<Vec<Chunk>, StoreError> {
        let mut text = format!(
            "SELECT {COLUMNS_READ} FROM output_chunks WHERE cluster = ? AND last_ms >= ? AND first_ms <= ?"
        );
        let mut values = vec![
            Value::int(cluster_key(self.cluster)),
            Value::int(self.query.since_ms.unwrap_or(i64::MIN)),
            Value::int(self.before.map_or(i64::MAX, |(at_ms, _, _)| at_ms)),
        ];
        if let Some((last_ms, task, first)) = self.at {
            text.push_str(" AND last_ms <= ? AND (last_ms < ? OR task < ? OR task = ? AND first < ?)");
            values.extend([last_ms, last_ms, task, task, first].map(Value::int));
        }
        text.push_str(&format!(" ORDER BY last_ms DESC, task DESC, first DESC LIMIT {READ_TOGETHER}"));
        let rows = rows(engine, &text, &values)?;
        rows.into_iter().map(|row| Chunk::of_row(self.cluster, row)).collect()
    }

    /// `unread`: the latest time of a line that was not read.
    fn end(mut self, unread: Option<i64>) -> OutputPage<OutputPlace> {
        self.found.sort_unstable_by_key(|line| std::cmp::Reverse(place(line)));
        if let Some(unread) = unread {
            self.found.retain(|line| line.line.at_ms > unread);
        }
        let has_more = self.found.len() > self.limit;
        self.found.truncate(self.limit);
        let next = match (has_more, unread) {
            (true, _) => self.found.last().map(place),
            // Before the first moment after it: with everything of that time.
            (false, Some(unread)) => Some((unread.saturating_add(1), 0, 0)),
            (false, None) => None,
        };
        OutputPage { lines: self.found, next, newest: 0 }
    }
}

/// A line's place in the order of time.
const fn place(line: &StoredLine) -> OutputPlace {
    (line.line.at_ms, line.line.task.number, line.sequence)
}
