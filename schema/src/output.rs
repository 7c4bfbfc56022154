//! What tasks print, while they run and after.

use std::collections::HashMap;
use std::sync::LazyLock;

use cooperage_domain::id::TaskId;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};

use crate::bulk::Holds::{Int, Text};
use crate::bulk::{Insert, Present};
use crate::engine::Engine;
use crate::error::StoreError;
use crate::sql::{Statement, Value};
use crate::store::Store;
use crate::tables::task_output;

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
    /// As it is stored and shown.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::System => "system",
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        [Self::Stdout, Self::Stderr, Self::System]
            .into_iter()
            .find(|stream| stream.as_str() == text)
            .ok_or_else(|| StoreError::corrupt("the stream of a chunk of output", format!("{text:?}")))
    }
}

/// Something a task printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputChunk {
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

/// A chunk that is stored, with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredOutput {
    /// Counts the chunks of the task from 1 without gaps, over all attempts: the cursor of whoever reads on.
    pub sequence: u64,
    /// What was stored.
    pub chunk: OutputChunk,
}

static OUTPUT: LazyLock<Insert> = LazyLock::new(|| {
    Insert::new(
        "task_output",
        &[
            ("cluster", Int),
            ("task", Int),
            ("sequence", Int),
            ("job", Int),
            ("attempt", Int),
            ("at_ms", Int),
            ("stream", Text),
            ("text", Text),
        ],
        Present::Refuse,
    )
});

/// A task, as the table's key has it.
type Key = (i64, i64);

const fn key(task: TaskId) -> Key {
    (task.job.cluster.0.cast_signed(), task.number as i64)
}

/// One result per chunk, in their order: the number it got.
pub(crate) type Results = Vec<Result<u64, StoreError>>;

/// Stores the chunks inside the present transaction; one that is refused fails alone.
///
/// # Errors
/// When nothing of the whole transaction can be stored.
pub(crate) fn store_all(engine: &mut Engine, chunks: &[&OutputChunk]) -> Result<Results, StoreError> {
    if chunks.is_empty() {
        return Ok(Vec::new());
    }
    match engine.savepoint(|engine| store_group(engine, chunks)) {
        Ok(sequences) => Ok(sequences.into_iter().map(Ok).collect()),
        Err(fault) if fault.spoils_transaction() => Err(fault),
        Err(fault) if chunks.len() == 1 => Ok(vec![Err(fault)]),
        Err(_) => {
            let (first, second) = chunks.split_at(chunks.len() / 2);
            let mut results = store_all(engine, first)?;
            results.extend(store_all(engine, second)?);
            Ok(results)
        }
    }
}

fn store_group(engine: &mut Engine, chunks: &[&OutputChunk]) -> Result<Vec<u64>, StoreError> {
    let mut last = last_sequences(engine, chunks)?;
    let mut sequences = Vec::with_capacity(chunks.len());
    let mut values = Vec::with_capacity(chunks.len() * 8);
    for chunk in chunks {
        let (cluster, task) = key(chunk.task);
        let sequence = last.entry((cluster, task)).or_default();
        *sequence += 1;
        sequences.push(sequence.cast_unsigned());
        values.extend([
            Value::int(cluster),
            Value::int(task),
            Value::int(*sequence),
            Value::int(chunk.task.job.number.into()),
            Value::int(chunk.attempt.into()),
            Value::int(chunk.at_ms),
            Value::text(chunk.stream.as_str()),
            Value::text(&chunk.text),
        ]);
    }
    OUTPUT.run(engine, &values)?;
    Ok(sequences)
}

const ONE_LAST: &str = "SELECT max(sequence) FROM task_output WHERE cluster = ? AND task = ?";

#[cfg(feature = "postgres")]
const ALL_LAST: &str = "SELECT k.cluster, k.task, \
    (SELECT max(o.sequence) FROM task_output o WHERE o.cluster = k.cluster AND o.task = k.task) \
    FROM unnest(?::bigint[], ?::bigint[]) AS k (cluster, task)";

fn last_sequences(engine: &mut Engine, chunks: &[&OutputChunk]) -> QueryResult<HashMap<Key, i64>> {
    let mut keys: Vec<Key> = chunks.iter().map(|chunk| key(chunk.task)).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut last = HashMap::with_capacity(keys.len());
    match engine {
        Engine::Sqlite(connection) => {
            for (cluster, task) in keys {
                let values = [Value::int(cluster), Value::int(task)];
                let newest: Option<i64> =
                    Statement::<_, Nullable<BigInt>>::new(ONE_LAST, &values).get_result(connection)?;
                last.insert((cluster, task), newest.unwrap_or_default());
            }
        }
        #[cfg(feature = "postgres")]
        Engine::Postgres(connection) => {
            use crate::bulk::columnar::Column;
            let (clusters, tasks) = keys.into_iter().map(|(c, t)| (Some(c), Some(t))).unzip();
            let values = [Column::Ints(clusters), Column::Ints(tasks)];
            let rows: Vec<(i64, i64, Option<i64>)> =
                Statement::<_, (BigInt, BigInt, Nullable<BigInt>)>::new(ALL_LAST, &values)
                    .load(connection)?;
            last.extend(rows.into_iter().map(|(c, t, newest)| ((c, t), newest.unwrap_or_default())));
        }
    }
    Ok(last)
}

impl Store {
    /// The chunks of a task after the one numbered `after` (0: from the start), at most `limit`, in order. Who reads on from
    /// the last number seen misses nothing and sees nothing twice.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn output(&self, task: TaskId, after: u64, limit: u32) -> Result<Vec<StoredOutput>, StoreError> {
        let (cluster, number) = key(task);
        let rows: Vec<(i64, i64, i64, String, String)> = self.read(|engine| {
            Ok(task_output::table
                .filter(task_output::cluster.eq(cluster))
                .filter(task_output::task.eq(number))
                .filter(task_output::sequence.gt(after.cast_signed()))
                .order(task_output::sequence)
                .limit(limit.into())
                .select((
                    task_output::sequence,
                    task_output::attempt,
                    task_output::at_ms,
                    task_output::stream,
                    task_output::text,
                ))
                .load(engine)?)
        })?;
        let stored = |(sequence, attempt, at_ms, stream, text): (i64, i64, i64, String, String)| {
            let attempt = u32::try_from(attempt).map_err(|fault| StoreError::corrupt("an attempt", fault))?;
            let chunk = OutputChunk { task, attempt, at_ms, stream: Stream::parse(&stream)?, text };
            Ok(StoredOutput { sequence: sequence.cast_unsigned(), chunk })
        };
        rows.into_iter().map(stored).collect()
    }
}
