//! Who may append to a cluster's journal, and where it ends: checked before anything is written.

use std::collections::HashMap;
use std::sync::Arc;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};

use crate::append::{Append, AppendError};
use crate::engine::Engine;
use crate::error::StoreError;
use crate::sql::{Statement, Value};
use crate::tables::journal;

/// Where a cluster's journal stands within the transaction.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) epoch: u64,
    pub(crate) server: Arc<str>,
    pub(crate) sequence: u64,
}

/// Heads by cluster. A cluster that is not in it has neither owner nor events.
pub(crate) type Heads = HashMap<u64, Head>;

type HeadRow = (BigInt, BigInt, Text, Nullable<BigInt>);

const ONE_HEAD: &str = "SELECT o.cluster, o.epoch, o.server, \
    (SELECT max(j.sequence) FROM journal j WHERE j.cluster = o.cluster) \
    FROM ownership o WHERE o.cluster = ?";

/// The rows stay locked until the batch is committed: a take-over waits for it, and an append after the take-over sees the
/// new epoch.
#[cfg(feature = "postgres")]
const ALL_HEADS: &str = "SELECT o.cluster, o.epoch, o.server, \
    (SELECT max(j.sequence) FROM journal j WHERE j.cluster = o.cluster) \
    FROM ownership o WHERE o.cluster = ANY(?) FOR SHARE OF o";

/// Heads that the writer remembers from one transaction to the next, so that it need not read them again. On SQLite only: on
/// PostgreSQL the rows must be locked each time.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    heads: Heads,
    /// What SQLite says of the writes of others; another number, and nothing that was read before counts.
    others: Option<i64>,
}

/// Most heads that are remembered.
const REMEMBERED: usize = 65_536;

impl Remembered {
    /// In a transaction that has just begun: nobody else writes until it ends.
    pub(crate) fn refresh(&mut self, engine: &mut Engine) -> QueryResult<()> {
        #[allow(clippy::infallible_destructuring_match, reason = "a build without PostgreSQL has one engine")]
        let connection = match engine {
            Engine::Sqlite(connection) => connection,
            #[cfg(feature = "postgres")]
            Engine::Postgres(_) => return Ok(()),
        };
        let others = Statement::<Value<'_>, BigInt>::new(OTHERS, &[]).get_result(connection)?;
        if self.others != Some(others) || self.heads.len() > REMEMBERED {
            *self = Self { heads: Heads::new(), others: Some(others) };
        }
        Ok(())
    }

    /// What was remembered may not be so any more.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// What has become of heads that this transaction wrote.
    pub(crate) fn learn(&mut self, heads: Heads) {
        if self.others.is_some() {
            self.heads.extend(heads);
        }
    }
}

/// Changes when another connection has written.
const OTHERS: &str = "SELECT data_version FROM pragma_data_version";

/// The heads of all clusters that are appended to.
pub(crate) fn heads(engine: &mut Engine, known: &Remembered, appends: &[&Append]) -> QueryResult<Heads> {
    let mut clusters: Vec<u64> = appends.iter().map(|append| append.cluster.0).collect();
    clusters.sort_unstable();
    clusters.dedup();
    let mut heads = Heads::with_capacity(clusters.len());
    clusters.retain(|cluster| match known.heads.get(cluster) {
        Some(head) => heads.insert(*cluster, head.clone()).is_some(),
        None => true,
    });
    let mut rows: Vec<(i64, i64, String, Option<i64>)> = Vec::with_capacity(clusters.len());
    match engine {
        Engine::Sqlite(connection) => {
            for cluster in clusters {
                let key = [Value::unsigned(cluster)];
                rows.extend(Statement::<_, HeadRow>::new(ONE_HEAD, &key).load(connection)?);
            }
        }
        #[cfg(feature = "postgres")]
        Engine::Postgres(connection) => {
            let ids = clusters.into_iter().map(|id| Some(id.cast_signed())).collect();
            let key = [crate::bulk::columnar::Column::Ints(ids)];
            rows = Statement::<_, HeadRow>::new(ALL_HEADS, &key).load(connection)?;
        }
    }
    let head = |(cluster, epoch, server, sequence): (i64, i64, String, Option<i64>)| {
        let head = Head {
            epoch: epoch.cast_unsigned(),
            server: server.into(),
            sequence: sequence.unwrap_or_default().cast_unsigned(),
        };
        (cluster.cast_unsigned(), head)
    };
    heads.extend(rows.into_iter().map(head));
    Ok(heads)
}

/// What is to be done with an append that may be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Write it.
    Write,
    /// Write it, and that its cluster is this server's from now on.
    WriteAndClaim,
    /// It is there already: an earlier acknowledgement was lost.
    Present,
}

/// Checks one append and moves the head on, so that the next one of the same cluster in the batch is checked against what
/// this one will have stored.
pub(crate) fn admit(
    engine: &mut Engine,
    heads: &mut Heads,
    server: &str,
    append: &Append,
) -> Result<Admission, AppendError> {
    let cluster = append.cluster;
    if let Some(other) = append.projection.foreign_row(cluster) {
        return Err(AppendError::ForeignRow { cluster, other });
    }
    let Some(head) = heads.get_mut(&cluster.0) else {
        if append.expected_sequence != 0 {
            return Err(AppendError::Conflict { cluster, expected: append.expected_sequence, head: 0 });
        }
        let sequence = append.last_sequence();
        heads.insert(cluster.0, Head { epoch: append.epoch, server: server.into(), sequence });
        return Ok(Admission::WriteAndClaim);
    };
    if head.epoch != append.epoch {
        return Err(AppendError::Fenced {
            cluster,
            epoch: append.epoch,
            current: head.epoch,
            server: head.server.to_string(),
        });
    }
    if head.sequence == append.expected_sequence {
        head.sequence = append.last_sequence();
        return Ok(Admission::Write);
    }
    let head = head.sequence;
    if is_present(engine, append)? {
        return Ok(Admission::Present);
    }
    Err(AppendError::Conflict { cluster, expected: append.expected_sequence, head })
}

/// Whether exactly these events stand where they should.
fn is_present(engine: &mut Engine, append: &Append) -> Result<bool, StoreError> {
    if append.events.is_empty() {
        return Ok(false);
    }
    let first = append.expected_sequence.cast_signed() + 1;
    let last = append.last_sequence().cast_signed();
    let stored: Vec<(i64, String, String, i64, String)> = journal::table
        .filter(journal::cluster.eq(append.cluster.0.cast_signed()))
        .filter(journal::sequence.between(first, last))
        .order(journal::sequence)
        .select((journal::at_ms, journal::actor, journal::who, journal::event_version, journal::event))
        .load(engine)?;
    let same = |((at_ms, actor, who, version, json), event): (
        &(i64, String, String, i64, String),
        &crate::append::StoredEvent,
    )| {
        *at_ms == append.at_ms
            && *actor == append.actor
            && *who == append.who
            && *version == i64::from(event.version)
            && *json == event.json
    };
    Ok(stored.len() == append.events.len() && stored.iter().zip(&append.events).all(same))
}
