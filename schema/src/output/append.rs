//! What was just printed, into the store: packed by who brings it, numbered by the writer.

use std::collections::HashMap;
use std::sync::LazyLock;

use cooperage_domain::id::TaskId;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use super::OutputLine;
use super::block::LineRef;
use super::chunk::{Chunk, FULL, MAX_LINES};
use crate::batch::Parts;
use crate::bulk::Holds::{Bytes, Int};
use crate::bulk::{Insert, Present};
use crate::engine::Engine;
use crate::error::StoreError;
use crate::sql::{Statement, Value};

/// Lines of one attempt that follow each other, packed for the store.
#[derive(Debug, Clone)]
pub struct PackedLines(pub(super) Chunk);

impl PackedLines {
    /// Packs lines, those of each attempt apart from others, and in their order.
    #[must_use]
    pub fn of(lines: &[OutputLine]) -> Vec<Self> {
        let mut places: HashMap<(TaskId, u32), usize> = HashMap::new();
        let mut groups: Vec<Vec<&OutputLine>> = Vec::new();
        for line in lines {
            let place = *places.entry((line.task, line.attempt)).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[place].push(line);
        }
        groups.iter().flat_map(|group| pack(group)).collect()
    }

    /// Which task printed them.
    #[must_use]
    pub const fn task(&self) -> TaskId {
        self.0.task
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.0.lines
    }

    /// About how much memory it takes, in bytes.
    pub(crate) const fn size(&self) -> usize {
        self.0.data.len()
    }
}

fn pack(group: &[&OutputLine]) -> Vec<PackedLines> {
    let mut packed = Vec::new();
    let mut rest = group;
    while let Some(first) = rest.first() {
        let mut bytes = 0;
        let fits = |line: &&&OutputLine| {
            bytes += line.text.len();
            bytes <= FULL
        };
        let count = rest.iter().take(MAX_LINES).take_while(fits).count().max(1);
        let (now, later) = rest.split_at(count);
        let lines: Vec<LineRef<'_>> = now.iter().map(|line| LineRef::from(*line)).collect();
        packed.extend(Chunk::pack(first.task, first.attempt, &lines).map(PackedLines));
        rest = later;
    }
    packed
}

pub(super) static CHUNKS: LazyLock<Insert<Chunk>> = LazyLock::new(|| {
    Insert::new(
        "output_chunks",
        &[
            ("cluster", Int),
            ("task", Int),
            ("first", Int),
            ("lines", Int),
            ("job", Int),
            ("attempt", Int),
            ("first_ms", Int),
            ("last_ms", Int),
            ("unpacked", Int),
            ("stored", Int),
            ("packing", Int),
            ("settled", Int),
            ("data", Bytes),
        ],
        Present::Refuse,
    )
});

/// The values of a row, in the order of its columns.
pub(super) fn row(chunk: &Chunk, first: u64, is_settled: bool) -> [Value<'_>; 13] {
    let (cluster, task) = key(chunk.task);
    [
        Value::int(cluster),
        Value::int(task),
        Value::unsigned(first),
        Value::unsigned(chunk.lines),
        Value::int(chunk.task.job.number.into()),
        Value::int(chunk.attempt.into()),
        Value::int(chunk.first_ms),
        Value::int(chunk.last_ms),
        Value::unsigned(chunk.unpacked),
        Value::unsigned(chunk.data.len() as u64),
        Value::int(chunk.packing),
        Value::int(is_settled.into()),
        Value::Bytes(&chunk.data),
    ]
}

/// A task, as the table's key has it.
pub(super) type Key = (i64, i64);

pub(super) const fn key(task: TaskId) -> Key {
    (task.job.cluster.0.cast_signed(), task.number as i64)
}

/// One result for each, in their order: the number its first line got.
pub(crate) type Results = Vec<Result<u64, StoreError>>;

/// Stores all inside the present transaction; what is refused fails alone, if parts do.
///
/// # Errors
/// When nothing of the whole transaction can be stored.
pub(crate) fn store_all(
    engine: &mut Engine,
    packed: &[&PackedLines],
    parts: Parts,
) -> Result<Results, StoreError> {
    if packed.is_empty() {
        return Ok(Vec::new());
    }
    let stored = match parts {
        Parts::FailTogether => store_group(engine, packed),
        Parts::FailAlone => engine.savepoint(|engine| store_group(engine, packed)),
    };
    match stored {
        Ok(firsts) => Ok(firsts.into_iter().map(Ok).collect()),
        Err(fault) if parts == Parts::FailTogether || fault.spoils_transaction() => Err(fault),
        Err(fault) if packed.len() == 1 => Ok(vec![Err(fault)]),
        Err(_) => {
            let (first, second) = packed.split_at(packed.len() / 2);
            let mut results = store_all(engine, first, parts)?;
            results.extend(store_all(engine, second, parts)?);
            Ok(results)
        }
    }
}

fn store_group(engine: &mut Engine, packed: &[&PackedLines]) -> Result<Vec<u64>, StoreError> {
    let mut last = last_lines(engine, packed)?;
    let mut firsts = Vec::with_capacity(packed.len());
    let mut values = Vec::with_capacity(packed.len() * 13);
    for PackedLines(chunk) in packed {
        let last = last.entry(key(chunk.task)).or_default();
        let first = *last + 1;
        *last += chunk.lines;
        firsts.push(first);
        values.extend(row(chunk, first, false));
    }
    CHUNKS.run(engine, &values)?;
    Ok(firsts)
}

const ONE_LAST: &str = "SELECT first + lines - 1 FROM output_chunks WHERE cluster = ? AND task = ? \
    ORDER BY first DESC LIMIT 1";

#[cfg(feature = "postgres")]
const ALL_LAST: &str = "SELECT k.cluster, k.task, coalesce((SELECT o.first + o.lines - 1 FROM output_chunks o \
    WHERE o.cluster = k.cluster AND o.task = k.task ORDER BY o.first DESC LIMIT 1), 0) \
    FROM unnest(?::bigint[], ?::bigint[]) AS k (cluster, task)";

/// The number of the last line of each task.
fn last_lines(engine: &mut Engine, packed: &[&PackedLines]) -> QueryResult<HashMap<Key, u64>> {
    let mut keys: Vec<Key> = packed.iter().map(|lines| key(lines.0.task)).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut last = HashMap::with_capacity(keys.len());
    match engine {
        Engine::Sqlite(connection) => {
            for (cluster, task) in keys {
                let values = [Value::int(cluster), Value::int(task)];
                let newest: Option<i64> =
                    Statement::<_, BigInt>::new(ONE_LAST, &values).get_result(connection).optional()?;
                last.insert((cluster, task), newest.unwrap_or_default().cast_unsigned());
            }
        }
        #[cfg(feature = "postgres")]
        Engine::Postgres(connection) => {
            use crate::bulk::columnar::Column;
            let (clusters, tasks) = keys.into_iter().map(|(c, t)| (Some(c), Some(t))).unzip();
            let values = [Column::Ints(clusters), Column::Ints(tasks)];
            let rows: Vec<(i64, i64, i64)> =
                Statement::<_, (BigInt, BigInt, BigInt)>::new(ALL_LAST, &values).load(connection)?;
            last.extend(rows.into_iter().map(|(c, t, newest)| ((c, t), newest.cast_unsigned())));
        }
    }
    Ok(last)
}
