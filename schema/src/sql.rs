//! SQL as text, for what diesel's query builder cannot say on both engines at once: `ON CONFLICT` and many rows.
//!
//! A [`Statement`] is written once with `?` for each bound value, whichever engine runs it, and is prepared once per
//! connection (diesel's own `sql_query` is prepared anew for each execution).

use std::borrow::Cow;
use std::marker::PhantomData;

use diesel::backend::Backend;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, Binary, Double, HasSqlType, Nullable, Text, Untyped};

/// One value to bind; `None` is NULL.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    Int(Option<i64>),
    Text(Option<Cow<'a, str>>),
    Real(Option<f64>),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub(crate) const fn int(value: i64) -> Self {
        Self::Int(Some(value))
    }

    /// A counter or an id. What we count never reaches 2^63.
    pub(crate) const fn unsigned(value: u64) -> Self {
        Self::Int(Some(value.cast_signed()))
    }

    pub(crate) fn text(text: &'a str) -> Self {
        Self::Text(Some(storable(text)))
    }

    pub(crate) fn optional_text(text: Option<&'a str>) -> Self {
        Self::Text(text.map(storable))
    }
}

/// PostgreSQL's text cannot hold NUL; machines print it all the same. Both engines store U+FFFD in its place.
fn storable(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        true => Cow::Owned(text.replace('\0', "\u{fffd}")),
        false => Cow::Borrowed(text),
    }
}

impl<DB> QueryFragment<DB> for Value<'_>
where
    DB: Backend + HasSqlType<BigInt> + HasSqlType<Text> + HasSqlType<Double> + HasSqlType<Binary>,
    Option<i64>: ToSql<Nullable<BigInt>, DB>,
    Option<f64>: ToSql<Nullable<Double>, DB>,
    for<'b> Option<Cow<'b, str>>: ToSql<Nullable<Text>, DB>,
    for<'b> &'b [u8]: ToSql<Binary, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        match self {
            Self::Int(value) => out.push_bind_param::<Nullable<BigInt>, _>(value),
            Self::Text(value) => out.push_bind_param::<Nullable<Text>, _>(value),
            Self::Real(value) => out.push_bind_param::<Nullable<Double>, _>(value),
            Self::Bytes(value) => out.push_bind_param::<Binary, _>(value),
        }
    }
}

/// Text with one `?` per value, and the values. `Row` is the SQL type of what it returns.
pub(crate) struct Statement<'a, B, Row = Untyped> {
    text: &'a str,
    values: &'a [B],
    row: PhantomData<Row>,
}

impl<'a, B, Row> Statement<'a, B, Row> {
    pub(crate) const fn new(text: &'a str, values: &'a [B]) -> Self {
        Self { text, values, row: PhantomData }
    }
}

impl<B, Row, DB> QueryFragment<DB> for Statement<'_, B, Row>
where
    DB: Backend,
    B: QueryFragment<DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let mut pieces = self.text.split('?');
        out.push_sql(pieces.next().unwrap_or_default());
        for (value, piece) in self.values.iter().zip(pieces) {
            value.walk_ast(out.reborrow())?;
            out.push_sql(piece);
        }
        Ok(())
    }
}

impl<B, Row> QueryId for Statement<'_, B, Row> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<B, Row> Query for Statement<'_, B, Row> {
    type SqlType = Row;
}

impl<B, Row, Conn> RunQueryDsl<Conn> for Statement<'_, B, Row> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_is_replaced_and_other_text_is_not_copied() {
        assert_eq!(Value::text("a\0b"), Value::Text(Some("a\u{fffd}b".into())));
        assert!(matches!(Value::text("plain"), Value::Text(Some(Cow::Borrowed("plain")))));
    }
}
