//! Many rows into one table, as fast as each engine can.
//!
//! PostgreSQL gets one statement with one array per column, however many rows there are: a batch costs one round trip
//! per table. SQLite has no round trips, and runs one prepared statement for each [`ROWS`] rows, and for each of the rest.

use std::marker::PhantomData;

use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sqlite::Sqlite;

use crate::engine::Engine;
use crate::sql::Value;

/// So many rows go into one statement of SQLite. What is done once for each statement vanishes beside them, and preparing it
/// is done once for a connection.
const ROWS: usize = 16;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    Int,
    Text,
    Real,
    Bytes,
}

/// What to do with a row whose key is there.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Present {
    /// It must not be: fail.
    Refuse,
    /// Replace every column that is not in the key.
    Replace {
        /// The columns of the key.
        key: &'static [&'static str],
    },
    /// Combine the two rows by SQL of the table's own.
    Merge {
        /// The columns of the key.
        key: &'static [&'static str],
        /// The assignments after `SET`.
        set: &'static str,
    },
}

/// The statements that write rows into one table. Those of one `Table` are told from all others by their types, so that a
/// connection finds what it has prepared without writing the text again.
#[derive(Debug)]
pub(crate) struct Insert<Table> {
    columns: &'static [(&'static str, Holds)],
    /// The table and its columns.
    into: String,
    /// What to do with a row whose key is there.
    conflict: String,
    table: PhantomData<fn() -> Table>,
}

impl<Table: 'static> Insert<Table> {
    pub(crate) fn new(table: &str, columns: &'static [(&'static str, Holds)], present: Present) -> Self {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        Self {
            columns,
            into: format!("{table} ({})", names.join(", ")),
            conflict: conflict_clause(&names, present),
            table: PhantomData,
        }
    }

    /// Writes the rows, which lie one after the other in `values`. No two may have the same key, unless the table
    /// refuses that anyway. When it fails some of them may be there: whoever calls this rolls back.
    pub(crate) fn run(&self, engine: &mut Engine, values: &[Value<'_>]) -> QueryResult<()> {
        if values.is_empty() {
            return Ok(());
        }
        match engine {
            Engine::Sqlite(connection) => {
                let width = self.columns.len();
                let some = values.chunks_exact(width * ROWS);
                let rest = some.remainder();
                for values in some {
                    Rows::<_, true> { insert: self, values }.execute(connection)?;
                }
                for values in rest.chunks_exact(width) {
                    Rows::<_, false> { insert: self, values }.execute(connection)?;
                }
            }
            #[cfg(feature = "postgres")]
            Engine::Postgres(connection) => {
                let columns = columnar::transpose(self.columns, values);
                columnar::Columns { insert: self, columns }.execute(connection)?;
            }
        }
        Ok(())
    }
}

/// Rows for SQLite: [`ROWS`] of them, or one.
struct Rows<'a, Table, const SOME: bool> {
    insert: &'a Insert<Table>,
    values: &'a [Value<'a>],
}

impl<Table, const SOME: bool> QueryFragment<Sqlite> for Rows<'_, Table, SOME> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        // What had been written before a row was refused stays: the whole batch is rolled back then, and to be able to roll
        // back this statement alone SQLite would copy each page that it changes.
        out.push_sql("INSERT OR FAIL INTO ");
        out.push_sql(&self.insert.into);
        for (number, row) in self.values.chunks(self.insert.columns.len()).enumerate() {
            out.push_sql(if number == 0 { " VALUES (" } else { ", (" });
            for (number, value) in row.iter().enumerate() {
                if number > 0 {
                    out.push_sql(", ");
                }
                value.walk_ast(out.reborrow())?;
            }
            out.push_sql(")");
        }
        out.push_sql(&self.insert.conflict);
        Ok(())
    }
}

impl<Table: 'static, const SOME: bool> QueryId for Rows<'_, Table, SOME> {
    type QueryId = Rows<'static, Table, SOME>;

    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<Table, const SOME: bool> RunQueryDsl<SqliteConnection> for Rows<'_, Table, SOME> {}

fn conflict_clause(names: &[&str], present: Present) -> String {
    match present {
        Present::Refuse => String::new(),
        Present::Replace { key } => {
            let set: Vec<String> = names
                .iter()
                .filter(|name| !key.contains(name))
                .map(|name| format!("{name} = excluded.{name}"))
                .collect();
            format!(" ON CONFLICT ({}) DO UPDATE SET {}", key.join(", "), set.join(", "))
        }
        Present::Merge { key, set } => format!(" ON CONFLICT ({}) DO UPDATE SET {set}", key.join(", ")),
    }
}

/// Rows turned into columns, for PostgreSQL.
#[cfg(feature = "postgres")]
pub(crate) mod columnar {
    use diesel::pg::Pg;
    use diesel::prelude::*;
    use diesel::query_builder::{AstPass, QueryFragment, QueryId};
    use diesel::sql_types::{Array, BigInt, Binary, Double, Nullable, Text};

    use super::{Holds, Insert};
    use crate::sql::Value;

    /// All values of one column, bound as one array.
    pub(crate) enum Column<'a> {
        Ints(Vec<Option<i64>>),
        Texts(Vec<Option<&'a str>>),
        Reals(Vec<Option<f64>>),
        Bytes(Vec<Option<&'a [u8]>>),
    }

    impl QueryFragment<Pg> for Column<'_> {
        fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
            match self {
                Self::Ints(values) => out.push_bind_param::<Array<Nullable<BigInt>>, _>(values),
                Self::Texts(values) => out.push_bind_param::<Array<Nullable<Text>>, _>(values),
                Self::Reals(values) => out.push_bind_param::<Array<Nullable<Double>>, _>(values),
                Self::Bytes(values) => out.push_bind_param::<Array<Nullable<Binary>>, _>(values),
            }
        }
    }

    /// All rows, for one statement.
    pub(super) struct Columns<'a, Table> {
        pub(super) insert: &'a Insert<Table>,
        pub(super) columns: Vec<Column<'a>>,
    }

    impl<Table> QueryFragment<Pg> for Columns<'_, Table> {
        fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
            out.push_sql("INSERT INTO ");
            out.push_sql(&self.insert.into);
            out.push_sql(" SELECT * FROM unnest(");
            for (number, (column, (_, holds))) in self.columns.iter().zip(self.insert.columns).enumerate() {
                if number > 0 {
                    out.push_sql(", ");
                }
                column.walk_ast(out.reborrow())?;
                out.push_sql(match holds {
                    Holds::Int => "::bigint[]",
                    Holds::Text => "::text[]",
                    Holds::Real => "::double precision[]",
                    Holds::Bytes => "::bytea[]",
                });
            }
            out.push_sql(")");
            out.push_sql(&self.insert.conflict);
            Ok(())
        }
    }

    impl<Table: 'static> QueryId for Columns<'_, Table> {
        type QueryId = Columns<'static, Table>;

        const HAS_STATIC_QUERY_ID: bool = true;
    }

    impl<Table> RunQueryDsl<PgConnection> for Columns<'_, Table> {}

    /// A value of another type than its column's becomes NULL, which our columns refuse: a fault of the table's
    /// description, seen by its first test.
    pub(super) fn transpose<'a>(columns: &[(&str, Holds)], values: &'a [Value<'_>]) -> Vec<Column<'a>> {
        let width = columns.len();
        let of = |at: usize| values.iter().skip(at).step_by(width);
        let column = |(at, (_, holds)): (usize, &(&str, Holds))| match holds {
            Holds::Int => Column::Ints(
                of(at).map(|value| if let Value::Int(int) = value { *int } else { None }).collect(),
            ),
            Holds::Text => Column::Texts(
                of(at)
                    .map(|value| if let Value::Text(text) = value { text.as_deref() } else { None })
                    .collect(),
            ),
            Holds::Real => Column::Reals(
                of(at).map(|value| if let Value::Real(real) = value { *real } else { None }).collect(),
            ),
            Holds::Bytes => Column::Bytes(
                of(at)
                    .map(|value| if let Value::Bytes(bytes) = value { Some(*bytes) } else { None })
                    .collect(),
            ),
        };
        columns.iter().enumerate().map(column).collect()
    }
}

#[cfg(test)]
mod tests {
    use diesel::debug_query;

    use super::*;

    enum Tables {}

    const COLUMNS: &[(&str, Holds)] = &[("a", Holds::Int), ("b", Holds::Text)];

    #[test]
    fn the_text_replaces_what_is_not_in_the_key() {
        let insert: Insert<Tables> = Insert::new("t", COLUMNS, Present::Replace { key: &["a"] });
        let values = [Value::int(1), Value::text("x"), Value::int(2), Value::text("y")];
        let rows = Rows::<_, true> { insert: &insert, values: &values };
        assert_eq!(
            debug_query::<Sqlite, _>(&rows).to_string(),
            "INSERT OR FAIL INTO t (a, b) VALUES (?, ?), (?, ?) ON CONFLICT (a) DO UPDATE SET b = excluded.b \
             -- binds: [Some(1), Some(\"x\"), Some(2), Some(\"y\")]"
        );
        #[cfg(feature = "postgres")]
        {
            let columns = columnar::transpose(COLUMNS, &values);
            let text =
                debug_query::<diesel::pg::Pg, _>(&columnar::Columns { insert: &insert, columns }).to_string();
            assert!(
                text.starts_with(
                    "INSERT INTO t (a, b) SELECT * FROM unnest($1::bigint[], $2::text[]) \
                     ON CONFLICT (a) DO UPDATE SET b = excluded.b"
                ),
                "{text}"
            );
        }
    }
}
