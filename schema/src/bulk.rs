//! Many rows into one table, as fast as each engine can.
//!
//! PostgreSQL gets one statement with one array per column, however many rows there are: a batch costs one round trip
//! per table. SQLite has no round trips, and runs one prepared statement for each [`ROWS`] rows, and for each of the rest.

use diesel::prelude::*;

use crate::engine::Engine;
use crate::sql::{Statement, Value};

/// So many rows go into one statement of SQLite. What is done once for each statement vanishes beside them, and preparing it
/// is done once for a connection.
const ROWS: usize = 16;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    Int,
    Text,
    Real,
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

/// The statements that write rows into one table.
#[derive(Debug)]
pub(crate) struct Insert {
    columns: &'static [(&'static str, Holds)],
    one_row: String,
    some_rows: String,
    #[cfg(feature = "postgres")]
    all_rows: String,
}

impl Insert {
    pub(crate) fn new(table: &str, columns: &'static [(&'static str, Holds)], present: Present) -> Self {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let head = format!("INSERT INTO {table} ({})", names.join(", "));
        let tail = conflict_clause(&names, present);
        let row = format!("({})", vec!["?"; names.len()].join(", "));
        Self {
            columns,
            one_row: format!("{head} VALUES {row}{tail}"),
            some_rows: format!("{head} VALUES {}{tail}", vec![row.as_str(); ROWS].join(", ")),
            #[cfg(feature = "postgres")]
            all_rows: format!("{head} SELECT * FROM unnest({}){tail}", arrays(columns)),
        }
    }

    /// Writes the rows, which lie one after the other in `values`. No two may have the same key, unless the table
    /// refuses that anyway.
    pub(crate) fn run(&self, engine: &mut Engine, values: &[Value<'_>]) -> QueryResult<()> {
        if values.is_empty() {
            return Ok(());
        }
        match engine {
            Engine::Sqlite(connection) => {
                let width = self.columns.len();
                let some = values.chunks_exact(width * ROWS);
                let rest = some.remainder();
                for rows in some {
                    Statement::<_>::new(&self.some_rows, rows).execute(connection)?;
                }
                for row in rest.chunks_exact(width) {
                    Statement::<_>::new(&self.one_row, row).execute(connection)?;
                }
            }
            #[cfg(feature = "postgres")]
            Engine::Postgres(connection) => {
                let columns = columnar::transpose(self.columns, values);
                Statement::<_>::new(&self.all_rows, &columns).execute(connection)?;
            }
        }
        Ok(())
    }
}

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

#[cfg(feature = "postgres")]
fn arrays(columns: &[(&str, Holds)]) -> String {
    let casts = columns.iter().map(|(_, holds)| match holds {
        Holds::Int => "?::bigint[]",
        Holds::Text => "?::text[]",
        Holds::Real => "?::double precision[]",
    });
    casts.collect::<Vec<_>>().join(", ")
}

/// Rows turned into columns, for PostgreSQL.
#[cfg(feature = "postgres")]
pub(crate) mod columnar {
    use diesel::pg::Pg;
    use diesel::prelude::*;
    use diesel::query_builder::{AstPass, QueryFragment};
    use diesel::sql_types::{Array, BigInt, Double, Nullable, Text};

    use super::Holds;
    use crate::sql::Value;

    /// All values of one column, bound as one array.
    pub(crate) enum Column<'a> {
        Ints(Vec<Option<i64>>),
        Texts(Vec<Option<&'a str>>),
        Reals(Vec<Option<f64>>),
    }

    impl QueryFragment<Pg> for Column<'_> {
        fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
            match self {
                Self::Ints(values) => out.push_bind_param::<Array<Nullable<BigInt>>, _>(values),
                Self::Texts(values) => out.push_bind_param::<Array<Nullable<Text>>, _>(values),
                Self::Reals(values) => out.push_bind_param::<Array<Nullable<Double>>, _>(values),
            }
        }
    }

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
        };
        columns.iter().enumerate().map(column).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[(&str, Holds)] = &[("a", Holds::Int), ("b", Holds::Text)];

    #[test]
    fn the_text_replaces_what_is_not_in_the_key() {
        let insert = Insert::new("t", COLUMNS, Present::Replace { key: &["a"] });
        assert_eq!(
            insert.one_row,
            "INSERT INTO t (a, b) VALUES (?, ?) ON CONFLICT (a) DO UPDATE SET b = excluded.b"
        );
        #[cfg(feature = "postgres")]
        assert_eq!(
            insert.all_rows,
            "INSERT INTO t (a, b) SELECT * FROM unnest(?::bigint[], ?::text[]) \
             ON CONFLICT (a) DO UPDATE SET b = excluded.b"
        );
    }
}
