//! Small chunks become large ones.
//!
//! Tasks print line by line, and each is stored at once: many small rows, badly compressed. Now and then the small chunks of a
//! task are put together: while it prints, whenever there are many, so that each line is written again a few times at most
//! (those that are put together are at least as many as the one before them); and all of them when it has not printed for a
//! while. Numbers of lines do not change, and whoever reads sees one or the other.

use std::ops::Range;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Untyped};

use super::append::{CHUNKS, Key, row};
use super::block::Block;
use super::chunk::{COLUMNS_READ, Chunk, FULL, MAX_LINES};
use super::task::rows;
use crate::engine::Engine;
use crate::error::StoreError;
use crate::sql::{Statement, Value};
use crate::store::Store;
use cooperage_domain::id::ClusterId;

/// Small chunks of a task that still prints are left alone until there are so many.
const MANY: usize = 16;
/// Tasks that are looked at together.
const TASKS_TOGETHER: usize = 64;
/// Most chunks that are put together at once: what an upgrade leaves is a chunk for each line.
const CHUNKS_TOGETHER: usize = 16_384;

/// What was put together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Merged {
    /// Chunks that are gone.
    pub small: u64,
    /// Those that have their lines now.
    pub large: u64,
    /// Whether there may be more to do at once.
    pub has_more: bool,
}

/// What is done with chunks that follow each other: those of a range become one, which is left alone from then on or not.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    range: Range<usize>,
    is_settled: bool,
}

/// What a chunk adds to the one it becomes part of: its lines and bytes.
type Size = (usize, usize);

/// Which of the chunks, in order, become one.
fn plan(sizes: &[Size], is_idle: bool) -> Vec<Group> {
    if sizes.len() < MANY && !is_idle {
        return Vec::new();
    }
    let begin = if is_idle { 0 } else { first_outweighed(sizes) };
    let (mut groups, mut start) = (Vec::new(), begin);
    let (mut lines, mut bytes) = (0, 0);
    for (place, (more_lines, more_bytes)) in sizes.iter().enumerate().skip(begin) {
        if place > start && (lines + more_lines > MAX_LINES || bytes + more_bytes > FULL) {
            groups.push(Group { range: start..place, is_settled: true });
            (start, lines, bytes) = (place, 0, 0);
        }
        lines += more_lines;
        bytes += more_bytes;
    }
    if start < sizes.len() {
        groups.push(Group { range: start..sizes.len(), is_settled: is_idle });
    }
    groups.retain(|group| group.is_settled || group.range.len() > 1);
    groups
}

/// The first chunk behind which there are at least as many lines as it has.
fn first_outweighed(sizes: &[Size]) -> usize {
    let mut behind = 0;
    let mut first = sizes.len();
    for (place, (lines, _)) in sizes.iter().enumerate().rev() {
        if *lines <= behind {
            first = place;
        }
        behind += lines;
    }
    first
}

impl Store {
    /// Puts small chunks together: those of tasks that have many, and of those that have not printed since `idle_ms` (in
    /// milliseconds since 1970). Does a part of the work, so that nobody waits long.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub fn merge_output(&self, idle_ms: i64) -> Result<Merged, StoreError> {
        let tasks = self.read(|engine| Ok(untidy(engine, idle_ms)?))?;
        let mut merged = Merged { has_more: tasks.len() == TASKS_TOGETHER, ..Merged::default() };
        for (key, last_ms) in tasks {
            let chunks = self.read(|engine| unsettled(engine, key))?;
            merged.has_more |= chunks.len() == CHUNKS_TOGETHER;
            for run in runs(&chunks) {
                let sizes: Vec<Size> = run.iter().map(size).collect();
                for group in plan(&sizes, last_ms < idle_ms) {
                    let Some(small) = run.get(group.range.clone()) else { continue };
                    let large = join(small)?;
                    let written = self.write({
                        let (first, last) = (large.first, large.last());
                        let count = small.len();
                        move |engine| replace(engine, key, (first, last), count, &large, group.is_settled)
                    })?;
                    if written {
                        merged.small += small.len() as u64;
                        merged.large += 1;
                    }
                }
            }
        }
        Ok(merged)
    }
}

/// Tasks with something to put together, and when they printed last.
fn untidy(engine: &mut Engine, idle_ms: i64) -> QueryResult<Vec<(Key, i64)>> {
    let text = format!(
        "SELECT cluster, task, max(last_ms) FROM output_chunks WHERE settled = 0 GROUP BY cluster, task \
         HAVING count(*) >= {MANY} OR max(last_ms) < ? LIMIT {TASKS_TOGETHER}"
    );
    let values = [Value::int(idle_ms)];
    type Types = (BigInt, BigInt, BigInt);
    let found: Vec<(i64, i64, i64)> = match engine {
        Engine::Sqlite(connection) => Statement::<_, Types>::new(&text, &values).load(connection)?,
        #[cfg(feature = "postgres")]
        Engine::Postgres(connection) => Statement::<_, Types>::new(&text, &values).load(connection)?,
    };
    Ok(found.into_iter().map(|(cluster, task, last_ms)| ((cluster, task), last_ms)).collect())
}

fn unsettled(engine: &mut Engine, (cluster, task): Key) -> Result<Vec<Chunk>, StoreError> {
    let text = format!(
        "SELECT {COLUMNS_READ} FROM output_chunks WHERE cluster = ? AND task = ? AND settled = 0 \
         ORDER BY first LIMIT {CHUNKS_TOGETHER}"
    );
    let rows = rows(engine, &text, &[Value::int(cluster), Value::int(task)])?;
    rows.into_iter().map(|row| Chunk::of_row(ClusterId(cluster.cast_unsigned()), row)).collect()
}

/// Chunks of one attempt that follow each other without a gap.
fn runs(chunks: &[Chunk]) -> impl Iterator<Item = &[Chunk]> {
    chunks.chunk_by(|one, next| {
        one.last() + 1 == next.first && one.attempt == next.attempt && one.task.job == next.task.job
    })
}

fn size(chunk: &Chunk) -> Size {
    let small = |number: u64| usize::try_from(number).unwrap_or(usize::MAX / 2);
    (small(chunk.lines), small(chunk.unpacked))
}

/// One chunk with the lines of all.
fn join(chunks: &[Chunk]) -> Result<Chunk, StoreError> {
    let blocks: Vec<Block> = chunks.iter().map(Chunk::block).collect::<Result<_, _>>()?;
    let mut lines = Vec::new();
    for block in &blocks {
        lines.extend(block.lines()?);
    }
    let first = chunks.first().ok_or_else(|| StoreError::corrupt("output", "no chunk to put together"))?;
    let joined = Chunk::pack(first.task, first.attempt, &lines)
        .ok_or_else(|| StoreError::corrupt("output", "a chunk without a line"))?;
    Ok(Chunk { first: first.first, ..joined })
}

/// Puts the large chunk in the place of the small ones, if all of those are still there.
fn replace(
    engine: &mut Engine,
    (cluster, task): Key,
    (first, last): (u64, u64),
    count: usize,
    large: &Chunk,
    is_settled: bool,
) -> Result<bool, StoreError> {
    const DELETE: &str = "DELETE FROM output_chunks WHERE cluster = ? AND task = ? AND first >= ? AND first <= ? AND settled = 0";
    let values = [Value::int(cluster), Value::int(task), Value::unsigned(first), Value::unsigned(last)];
    let gone = match engine {
        Engine::Sqlite(connection) => Statement::<_, Untyped>::new(DELETE, &values).execute(connection)?,
        #[cfg(feature = "postgres")]
        Engine::Postgres(connection) => Statement::<_, Untyped>::new(DELETE, &values).execute(connection)?,
    };
    if gone == 0 {
        // Another server on the same database was first, or they were too old.
        return Ok(false);
    }
    if gone != count {
        return Err(StoreError::corrupt("output", "chunks changed while they were put together"));
    }
    CHUNKS.run(engine, &row(large, first, is_settled))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn groups_are_whole_and_never_too_large(
            sizes in proptest::collection::vec((1..MAX_LINES, 1..FULL), 0..60), is_idle: bool,
        ) {
            let groups = plan(&sizes, is_idle);
            let mut next = 0;
            for group in &groups {
                prop_assert!(next <= group.range.start && group.range.start < group.range.end);
                next = group.range.end;
                let all = &sizes[group.range.clone()];
                let lines: usize = all.iter().map(|(lines, _)| lines).sum();
                let bytes: usize = all.iter().map(|(_, bytes)| bytes).sum();
                prop_assert!(all.len() == 1 || lines <= MAX_LINES && bytes <= FULL);
            }
            prop_assert!(next <= sizes.len());
            if is_idle {
                prop_assert!(groups.iter().map(|group| group.range.len()).sum::<usize>() == sizes.len());
                prop_assert!(groups.iter().all(|group| group.is_settled));
            }
        }
    }

    #[test]
    fn a_line_is_written_again_a_few_times_at_most() {
        const LINES: usize = 100_000;
        let (mut sizes, mut written, mut most) = (Vec::<Size>::new(), 0, 0);
        for _ in 0..LINES {
            sizes.push((1, 80));
            for group in plan(&sizes, false).into_iter().rev() {
                let (lines, bytes) =
                    sizes[group.range.clone()].iter().fold((0, 0), |(l, b), size| (l + size.0, b + size.1));
                written += lines;
                sizes.splice(group.range, (!group.is_settled).then_some((lines, bytes)));
            }
            most = most.max(sizes.len());
        }
        assert!(written < LINES * 12, "{written}");
        assert!(most < 64, "{most}");
    }
}
