//! Numbers that are given out once.

use diesel::prelude::*;
use diesel::sql_types::BigInt;

use crate::engine::Engine;
use crate::error::StoreError;
use crate::sql::{Statement, Value};
use crate::store::Store;

const NEXT: &str = "INSERT INTO counters (name, value) VALUES (?, ?) \
    ON CONFLICT (name) DO UPDATE SET value = counters.value + ? RETURNING value";

/// The next number of a counter, inside the present transaction.
pub(crate) fn next(engine: &mut Engine, name: &str, start: u64, step: u64) -> QueryResult<u64> {
    let values = [Value::text(name), Value::unsigned(start), Value::unsigned(step)];
    let value: i64 = Statement::<_, BigInt>::new(NEXT, &values).get_result(engine)?;
    Ok(value.cast_unsigned())
}

const RAISE: &str = "INSERT INTO counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = \
    CASE WHEN counters.value < excluded.value THEN excluded.value ELSE counters.value END";

/// Brings a counter to at least `value`, inside the present transaction.
pub(crate) fn raise(engine: &mut Engine, name: &str, value: u64) -> QueryResult<()> {
    Statement::<_>::new(RAISE, &[Value::text(name), Value::unsigned(value)]).execute(engine)?;
    Ok(())
}

impl Store {
    /// The next number of the counter `name`: `start` the first time, then `step` more each time. Servers that each have a
    /// counter of their own, with different starts and the same step, never give out the same number.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn next_number(&self, name: &str, start: u64, step: u64) -> Result<u64, StoreError> {
        let name = name.to_owned();
        self.write(move |engine| Ok(next(engine, &name, start, step)?))
    }
}
