//! Old output goes: by age, by the size of what one task printed, and by the size of all.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Untyped};

use crate::engine::Engine;
use crate::error::StoreError;
use crate::sql::{Statement, Value};
use crate::store::Store;

/// Most chunks that are removed together, so that nobody waits long for the writer.
const PRUNED_TOGETHER: usize = 1_000;

/// How much output is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutputLimits {
    /// Lines printed before this go, in milliseconds since 1970.
    pub before_ms: Option<i64>,
    /// What one task printed may take so many bytes as it is stored; the first lines go.
    pub task_bytes: Option<u64>,
    /// All output together may take so many; the oldest goes.
    pub all_bytes: Option<u64>,
}

/// A chunk that may go, and how large it is.
type Row = (i64, i64, i64, i64);
type Types = (BigInt, BigInt, BigInt, BigInt);

/// The last chunk of a task that has not ended stays: its lines are counted from there.
const MAY_GO: &str = "(EXISTS (SELECT 1 FROM output_chunks n WHERE n.cluster = o.cluster AND n.task = o.task \
    AND n.first > o.first) OR NOT EXISTS (SELECT 1 FROM tasks t WHERE t.cluster = o.cluster \
    AND t.number = o.task AND t.ended_ms IS NULL))";

impl Store {
    /// Removes what is beyond the limits. A chunk goes as a whole, when its last line is too old. Gives how many were removed.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub fn prune_output(&self, limits: &OutputLimits) -> Result<u64, StoreError> {
        let mut gone = 0;
        if let Some(before_ms) = limits.before_ms {
            gone += self.prune_old(before_ms)?;
        }
        if let Some(bytes) = limits.task_bytes {
            gone += self.prune_large_tasks(bytes)?;
        }
        if let Some(bytes) = limits.all_bytes {
            gone += self.prune_all(bytes)?;
        }
        Ok(gone)
    }

    /// How many bytes all output takes as it is stored.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn output_bytes(&self) -> Result<u64, StoreError> {
        // A sum of BIGINT is NUMERIC in PostgreSQL.
        let text = "SELECT CAST(0 AS BIGINT), CAST(0 AS BIGINT), CAST(0 AS BIGINT), CAST(coalesce(sum(stored), 0) AS BIGINT) FROM output_chunks";
        let rows = self.read(|engine| Ok(load(engine, text, &[])?))?;
        Ok(rows.first().map_or(0, |row| row.3.cast_unsigned()))
    }

    fn prune_old(&self, before_ms: i64) -> Result<u64, StoreError> {
        let mut gone = 0;
        // Cluster by cluster, since the index is in that order.
        let (mut cluster, next) = (
            i64::MIN,
            "SELECT min(cluster), CAST(0 AS BIGINT), CAST(0 AS BIGINT), CAST(0 AS BIGINT) FROM output_chunks WHERE cluster > ? HAVING count(*) > 0",
        );
        while let Some(found) = self.read(|engine| Ok(load(engine, next, &[Value::int(cluster)])?))?.first() {
            cluster = found.0;
            let old = format!(
                "SELECT o.cluster, o.task, o.first, o.stored FROM output_chunks o \
                 WHERE o.cluster = ? AND o.last_ms < ? AND {MAY_GO} ORDER BY o.last_ms LIMIT {PRUNED_TOGETHER}"
            );
            loop {
                let values = [Value::int(cluster), Value::int(before_ms)];
                let rows = self.read(|engine| Ok(load(engine, &old, &values)?))?;
                let is_last = rows.len() < PRUNED_TOGETHER;
                gone += self.remove(rows)?;
                if is_last {
                    break;
                }
            }
        }
        Ok(gone)
    }

    fn prune_large_tasks(&self, bytes: u64) -> Result<u64, StoreError> {
        let large = "SELECT cluster, task, CAST(0 AS BIGINT), CAST(sum(stored) AS BIGINT) FROM output_chunks \
            GROUP BY cluster, task HAVING sum(stored) > ?";
        let first = format!(
            "SELECT o.cluster, o.task, o.first, o.stored FROM output_chunks o \
             WHERE o.cluster = ? AND o.task = ? AND {MAY_GO} ORDER BY o.first LIMIT {PRUNED_TOGETHER}"
        );
        let mut gone = 0;
        for (cluster, task, _, sum) in
            self.read(|engine| Ok(load(engine, large, &[Value::unsigned(bytes)])?))?
        {
            let mut beyond = sum.cast_unsigned().saturating_sub(bytes);
            gone += self.remove_first(&mut beyond, &first, &[Value::int(cluster), Value::int(task)])?;
        }
        Ok(gone)
    }

    fn prune_all(&self, bytes: u64) -> Result<u64, StoreError> {
        let mut beyond = self.output_bytes()?.saturating_sub(bytes);
        let oldest = format!(
            "SELECT o.cluster, o.task, o.first, o.stored FROM output_chunks o WHERE {MAY_GO} \
             ORDER BY o.last_ms LIMIT {PRUNED_TOGETHER}"
        );
        self.remove_first(&mut beyond, &oldest, &[])
    }

    /// Removes chunks as a query gives them, until so many bytes are gone.
    fn remove_first(&self, beyond: &mut u64, text: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let mut gone = 0;
        while *beyond > 0 {
            let mut rows = self.read(|engine| Ok(load(engine, text, values)?))?;
            let enough = rows.iter().position(|row| {
                *beyond = beyond.saturating_sub(row.3.cast_unsigned());
                *beyond == 0
            });
            rows.truncate(enough.map_or(rows.len(), |last| last + 1));
            let removed = self.remove(rows)?;
            gone += removed;
            if removed == 0 {
                break;
            }
        }
        Ok(gone)
    }

    fn remove(&self, rows: Vec<Row>) -> Result<u64, StoreError> {
        const DELETE: &str = "DELETE FROM output_chunks WHERE cluster = ? AND task = ? AND first = ?";
        if rows.is_empty() {
            return Ok(0);
        }
        self.write(move |engine| {
            let mut gone = 0;
            for (cluster, task, first, _) in &rows {
                let values = [*cluster, *task, *first].map(Value::int);
                gone += match engine {
                    Engine::Sqlite(connection) => {
                        Statement::<_, Untyped>::new(DELETE, &values).execute(connection)?
                    }
                    #[cfg(feature = "postgres")]
                    Engine::Postgres(connection) => {
                        Statement::<_, Untyped>::new(DELETE, &values).execute(connection)?
                    }
                };
            }
            Ok(gone as u64)
        })
    }
}

fn load(engine: &mut Engine, text: &str, values: &[Value<'_>]) -> QueryResult<Vec<Row>> {
    match engine {
        Engine::Sqlite(connection) => Statement::<_, Types>::new(text, values).load(connection),
        #[cfg(feature = "postgres")]
        Engine::Postgres(connection) => Statement::<_, Types>::new(text, values).load(connection),
    }
}
