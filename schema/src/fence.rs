//! Who may append to a cluster's journal, and where it ends: checked before anything is written.

use std::collections::HashMap;

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
    pub(crate) server: String,
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

/// Reads the heads of all clusters that are appended to.
pub(crate) fn heads(engine: &mut Engine, appends: &[&Append]) -> QueryResult<Heads> {
    let mut clusters: Vec<u64> = appends.iter().map(|append| append.cluster.0).collect();
    clusters.sort_unstable();
    clusters.dedup();
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
            server,
            sequence: sequence.unwrap_or_default().cast_unsigned(),
        };
        (cluster.cast_unsigned(), head)
    };
    Ok(rows.into_iter().map(head).collect())
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
        heads.insert(cluster.0, Head { epoch: append.epoch, server: server.to_owned(), sequence });
        return Ok(Admission::WriteAndClaim);
    };
    if head.epoch != append.epoch {
        return Err(AppendError::Fenced {
            cluster,
            epoch: append.epoch,
            current: head.epoch,
            server: head.server.clone(),
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
