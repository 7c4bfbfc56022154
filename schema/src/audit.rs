//! The audit log: records in a chain of hashes, written in the batches of everything else.

use std::sync::LazyLock;

use cooperage_domain::audit::{Entry, Link, Outcome, Record};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use crate::bulk::Holds::{Int, Text as Words};
use crate::bulk::{Insert, Present};
use crate::engine::Engine;
use crate::error::StoreError;
use crate::journal::Journal;
use crate::sql::{Statement, Value};
use crate::store::Store;
use crate::tables::audit;

static AUDIT: LazyLock<Insert<audit::table>> = LazyLock::new(|| {
    Insert::new(
        "audit",
        &[
            ("sequence", Int),
            ("at_ms", Int),
            ("request", Words),
            ("tenant", Words),
            ("username", Words),
            ("credential", Words),
            ("peer", Words),
            ("forwarded", Words),
            ("port", Words),
            ("action", Words),
            ("object", Words),
            ("status", Int),
            ("hash", Words),
        ],
        Present::Refuse,
    )
});

const LINK: &str = "SELECT sequence, hash FROM audit_chain WHERE name = ?";
const SET_LINK: &str = "UPDATE audit_chain SET sequence = ?, hash = ? WHERE name = ?";

/// The ends of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The last entry that was removed on purpose.
    Anchor,
    /// The entry that was written last.
    Head,
}

impl End {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Anchor => "anchor",
            Self::Head => "head",
        }
    }
}

/// One end of the chain as it is now.
pub(crate) fn link(engine: &mut Engine, end: End) -> QueryResult<Link> {
    find_link(engine, end, LINK)
}

/// The head of the chain, which nobody else changes until the transaction ends: servers that share a database write one chain.
pub(crate) fn locked_head(engine: &mut Engine) -> QueryResult<Link> {
    match engine {
        Engine::Sqlite(_) => link(engine, End::Head),
        #[cfg(feature = "postgres")]
        Engine::Postgres(_) => {
            find_link(engine, End::Head, "SELECT sequence, hash FROM audit_chain WHERE name = ? FOR UPDATE")
        }
    }
}

fn find_link(engine: &mut Engine, end: End, text: &str) -> QueryResult<Link> {
    let values = [Value::text(end.as_str())];
    let (sequence, hash): (i64, String) =
        Statement::<_, (BigInt, Text)>::new(text, &values).get_result(engine)?;
    Ok(Link { sequence: sequence.cast_unsigned(), hash })
}

pub(crate) fn set_link(engine: &mut Engine, end: End, link: &Link) -> QueryResult<()> {
    let values = [Value::unsigned(link.sequence), Value::text(&link.hash), Value::text(end.as_str())];
    Statement::<_>::new(SET_LINK, &values).execute(engine)?;
    Ok(())
}

/// Puts records at the end of the chain, inside the present transaction: all or none. Gives the number of the first.
pub(crate) fn append(engine: &mut Engine, records: &[&Record]) -> Result<u64, StoreError> {
    engine.savepoint(|engine| {
        let mut head = locked_head(engine)?;
        let first = head.sequence + 1;
        let hashes: Vec<String> = records
            .iter()
            .map(|record| {
                let sequence = head.sequence + 1;
                head = Link { sequence, hash: record.hash(&head.hash, sequence) };
                head.hash.clone()
            })
            .collect();
        let rows = records.iter().zip(first..).zip(&hashes);
        let values: Vec<Value<'_>> =
            rows.flat_map(|((record, sequence), hash)| row(record, sequence, hash)).collect();
        AUDIT.run(engine, &values)?;
        set_link(engine, End::Head, &head)?;
        Ok(first)
    })
}

fn row<'a>(record: &'a Record, sequence: u64, hash: &'a str) -> [Value<'a>; 13] {
    [
        Value::unsigned(sequence),
        Value::int(record.at_ms),
        Value::text(&record.request),
        Value::text(&record.tenant),
        Value::text(&record.user),
        Value::text(&record.credential),
        Value::text(&record.peer),
        Value::text(&record.forwarded),
        Value::text(&record.port),
        Value::text(&record.action),
        Value::text(&record.object),
        Value::int(record.status.into()),
        Value::text(hash),
    ]
}

/// One result per record, in their order: the number it got.
pub(crate) type Results = Vec<Result<u64, StoreError>>;

/// Stores records inside the present transaction. They share their fate: a chain has no holes.
///
/// # Errors
/// When nothing of the whole transaction can be stored.
pub(crate) fn append_all(engine: &mut Engine, records: &[&Record]) -> Result<Results, StoreError> {
    if records.is_empty() {
        return Ok(Vec::new());
    }
    match append(engine, records) {
        Ok(first) => Ok((first..).take(records.len()).map(Ok).collect()),
        Err(fault) if fault.spoils_transaction() => Err(fault),
        Err(fault) => Ok(records.iter().map(|_| Err(fault.clone())).collect()),
    }
}

/// Which entries to list. Texts in `action` and `object` may stand anywhere, in capital letters or small.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only those of the tenant with this id.
    pub tenant: Option<String>,
    /// Only this user's.
    pub user: Option<String>,
    /// Only actions with this text in them.
    pub action: Option<String>,
    /// Only objects with this text in them.
    pub object: Option<String>,
    /// Only those that ended so.
    pub outcome: Option<Outcome>,
    /// Only from this time on, in ms since 1970.
    pub since_ms: Option<i64>,
    /// Only before this time, in ms since 1970.
    pub until_ms: Option<i64>,
    /// Only those with a smaller number.
    pub before: Option<u64>,
    /// At most so many.
    pub limit: u32,
}

const COLUMNS: &str = "SELECT sequence, at_ms, request, tenant, username, credential, peer, forwarded, port, action, \
    object, status, hash FROM audit";

type Row = (BigInt, BigInt, Text, Text, Text, Text, Text, Text, Text, Text, Text, BigInt, Text);
type Columns =
    (i64, i64, String, String, String, String, String, String, String, String, String, i64, String);

fn entry(columns: Columns) -> Result<Entry, StoreError> {
    let (
        sequence,
        at_ms,
        request,
        tenant,
        user,
        credential,
        peer,
        forwarded,
        port,
        action,
        object,
        status,
        hash,
    ) = columns;
    let status = u16::try_from(status).map_err(|_| StoreError::corrupt("column audit.status", status))?;
    let record =
        Record { at_ms, request, tenant, user, credential, peer, forwarded, port, action, object, status };
    Ok(Entry { sequence: sequence.cast_unsigned(), record, hash })
}

impl AuditFilter {
    /// The conditions and their values.
    fn conditions(&self) -> (Vec<&'static str>, Vec<Value<'_>>) {
        let (mut conditions, mut values) = (Vec::new(), Vec::new());
        let mut add = |condition, value| {
            conditions.push(condition);
            values.push(value);
        };
        if let Some(tenant) = &self.tenant {
            add("tenant = ?", Value::text(tenant));
        }
        if let Some(user) = &self.user {
            add("username = ?", Value::text(user));
        }
        for (text, condition) in [
            (&self.action, "lower(action) LIKE ? ESCAPE '\\'"),
            (&self.object, "lower(object) LIKE ? ESCAPE '\\'"),
        ] {
            if let Some(text) = text {
                add(condition, Value::Text(Some(containing(text).into())));
            }
        }
        if let Some(outcome) = self.outcome {
            let (lowest, above) = outcome.statuses();
            add("status >= ?", Value::int(lowest.into()));
            add("status < ?", Value::int(above.into()));
        }
        if let Some(since) = self.since_ms {
            add("at_ms >= ?", Value::int(since));
        }
        if let Some(until) = self.until_ms {
            add("at_ms < ?", Value::int(until));
        }
        if let Some(before) = self.before {
            add("sequence < ?", Value::unsigned(before));
        }
        (conditions, values)
    }
}

/// A pattern for texts with this one in them, whose own signs mean nothing.
fn containing(text: &str) -> String {
    let mut pattern = "%".to_owned();
    for letter in text.to_lowercase().chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}

/// Entries after the one numbered `after`, at most `limit`, in order.
pub(crate) fn entries_after(engine: &mut Engine, after: u64, limit: u32) -> Result<Vec<Entry>, StoreError> {
    let values = [Value::unsigned(after), Value::int(limit.into())];
    let text = format!("{COLUMNS} WHERE sequence > ? ORDER BY sequence LIMIT ?");
    let rows: Vec<Columns> = Statement::<_, Row>::new(&text, &values).load(engine)?;
    rows.into_iter().map(entry).collect()
}

impl Journal {
    /// Puts a record at the end of the audit log, and calls back with its number when it is durable. Never blocks.
    pub fn audit(&self, record: Record, reply: impl FnOnce(Result<u64, StoreError>) + Send + 'static) {
        self.offer_audit(storable(record), reply);
    }
}

/// As the database gives it back: its text cannot hold NUL.
fn storable(mut record: Record) -> Record {
    let Record { request, tenant, user, credential, peer, forwarded, port, action, object, .. } = &mut record;
    for text in [request, tenant, user, credential, peer, forwarded, port, action, object] {
        if text.contains('\0') {
            *text = text.replace('\0', "\u{fffd}");
        }
    }
    record
}

impl Store {
    /// Entries of the audit log that pass the filter, newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn audit(&self, filter: &AuditFilter) -> Result<Vec<Entry>, StoreError> {
        let (conditions, mut values) = filter.conditions();
        values.push(Value::int(filter.limit.into()));
        let condition = match conditions.as_slice() {
            [] => String::new(),
            all => format!(" WHERE {}", all.join(" AND ")),
        };
        let text = format!("{COLUMNS}{condition} ORDER BY sequence DESC LIMIT ?");
        let rows: Vec<Columns> =
            self.read(|engine| Ok(Statement::<_, Row>::new(&text, &values).load(engine)?))?;
        rows.into_iter().map(entry).collect()
    }

    /// How many entries the audit log has.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn audit_count(&self) -> Result<u64, StoreError> {
        let count: i64 = self.read(|engine| Ok(audit::table.count().get_result(engine)?))?;
        Ok(count.cast_unsigned())
    }
}
