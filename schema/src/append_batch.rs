//! Writes many appends at once. A wrong one fails alone.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::LazyLock;

use cooperage_domain::id::NodeId;
use diesel::prelude::*;

use crate::ancestry::ANCESTRY;
use crate::append::{Append, AppendError, Appended};
use crate::batch::Parts;
use crate::bulk::Holds::{Int, Text};
use crate::bulk::{Insert, Present};
use crate::durations;
use crate::engine::Engine;
use crate::error::StoreError;
use crate::fence::{self, Admission, Heads, Remembered};
use crate::foreseen::FORESEEN;
use crate::occurrences::OCCURRENCES;
use crate::projection::{CLUSTERS, JOBS, NODES, Projection, TASKS, TERMINATED};
use crate::sql::Value;
use crate::tables::{journal, nodes, ownership, snapshots};
use crate::vault;

static JOURNAL: LazyLock<Insert<journal::table>> = LazyLock::new(|| {
    Insert::new(
        "journal",
        &[
            ("cluster", Int),
            ("sequence", Int),
            ("at_ms", Int),
            ("actor", Text),
            ("who", Text),
            ("event_version", Int),
            ("event", Text),
        ],
        Present::Refuse,
    )
});

static SNAPSHOTS: LazyLock<Insert<snapshots::table>> = LazyLock::new(|| {
    Insert::new(
        "snapshots",
        &[("cluster", Int), ("sequence", Int), ("state", Text)],
        Present::Replace { key: &["cluster", "sequence"] },
    )
});

static OWNERSHIP: LazyLock<Insert<ownership::table>> = LazyLock::new(|| {
    Insert::new("ownership", &[("cluster", Int), ("server", Text), ("epoch", Int)], Present::Refuse)
});

/// One result per append, in their order.
pub(crate) type Results = Vec<Result<Appended, AppendError>>;

/// Stores the appends inside the present transaction. When the engine refuses a statement that carries many of them, and they
/// are to fail alone, they are halved until the one that it refuses is alone.
///
/// # Errors
/// When nothing of the whole transaction can be stored.
pub(crate) fn append_all(
    engine: &mut Engine,
    server: &str,
    known: &mut Remembered,
    appends: &[&Append],
    parts: Parts,
) -> Result<Results, StoreError> {
    if appends.is_empty() {
        return Ok(Vec::new());
    }
    let stored = match parts {
        Parts::FailTogether => append_group(engine, server, known, appends),
        Parts::FailAlone => engine.savepoint(|engine| append_group(engine, server, known, appends)),
    };
    match stored {
        Ok((results, heads)) => {
            known.learn(heads);
            Ok(results)
        }
        Err(fault) if parts == Parts::FailTogether || fault.spoils_transaction() => Err(fault),
        Err(fault) if appends.len() == 1 => Ok(vec![Err(fault.into())]),
        Err(_) => {
            let (first, second) = appends.split_at(appends.len() / 2);
            let mut results = append_all(engine, server, known, first, parts)?;
            results.extend(append_all(engine, server, known, second, parts)?);
            Ok(results)
        }
    }
}

fn append_group(
    engine: &mut Engine,
    server: &str,
    known: &Remembered,
    appends: &[&Append],
) -> Result<(Results, Heads), StoreError> {
    let mut heads = fence::heads(engine, known, appends)?;
    let mut results = Vec::with_capacity(appends.len());
    let mut accepted: Vec<&Append> = Vec::with_capacity(appends.len());
    let mut claimed: Vec<&Append> = Vec::new();
    for append in appends {
        let admission = fence::admit(engine, &mut heads, server, append);
        match admission {
            Ok(Admission::Write) => accepted.push(append),
            Ok(Admission::WriteAndClaim) => {
                accepted.push(append);
                claimed.push(append);
            }
            Err(AppendError::Store(fault)) => return Err(fault),
            Ok(Admission::Present) | Err(_) => {}
        }
        results.push(admission.map(|_| Appended { sequence: append.last_sequence() }));
    }
    write_claims(engine, server, &claimed)?;
    write_events(engine, &accepted)?;
    write_projections(engine, &accepted)?;
    write_snapshots(engine, &accepted)?;
    Ok((results, heads))
}

fn write_claims(engine: &mut Engine, server: &str, appends: &[&Append]) -> QueryResult<()> {
    let row = |append: &&Append| {
        [Value::unsigned(append.cluster.0), Value::text(server), Value::unsigned(append.epoch)]
    };
    let values: Vec<Value<'_>> = appends.iter().flat_map(row).collect();
    OWNERSHIP.run(engine, &values)
}

fn write_events(engine: &mut Engine, appends: &[&Append]) -> QueryResult<()> {
    let mut values = Vec::with_capacity(appends.len() * 7);
    for append in appends {
        for (sequence, event) in (append.expected_sequence + 1..).zip(&append.events) {
            values.extend([
                Value::unsigned(append.cluster.0),
                Value::unsigned(sequence),
                Value::int(append.at_ms),
                Value::text(&append.actor),
                Value::text(&append.who),
                Value::int(event.version.into()),
                Value::text(&event.json),
            ]);
        }
    }
    JOURNAL.run(engine, &values)
}

/// Rows that change several times within the batch are written once, as they are last.
fn write_projections(engine: &mut Engine, appends: &[&Append]) -> QueryResult<()> {
    let all = || appends.iter().map(|append| &append.projection);
    let clusters = newest(all().filter_map(|rows| rows.cluster.as_ref()), |row| row.id);
    CLUSTERS.run(engine, &values(&clusters, |row| row.values()))?;
    let gone = clusters.iter().filter(|row| row.status == TERMINATED).map(|row| row.id);
    vault::wipe(engine, &gone.collect::<Vec<_>>())?;
    let ancestry = newest(all().filter_map(|rows| rows.ancestry.as_ref()), |row| row.cluster);
    ANCESTRY.run(engine, &values(&ancestry, |row| row.values()))?;
    let nodes = newest(all().flat_map(|rows| &rows.nodes), |row| row.id.as_str());
    NODES.run(engine, &values(&nodes, |row| row.values()))?;
    forget_nodes(engine, all())?;
    let jobs = newest(all().flat_map(|rows| &rows.jobs), |row| row.id);
    JOBS.run(engine, &values(&jobs, |row| row.values()))?;
    let tasks = newest(all().flat_map(|rows| &rows.tasks), |row| (row.id.job.cluster, row.id.number));
    TASKS.run(engine, &values(&tasks, |row| row.values()))?;
    let foreseen: Vec<_> = all().flat_map(|rows| &rows.foreseen).collect();
    FORESEEN.run(engine, &values(&foreseen, |row| row.values()))?;
    let occurrences: Vec<_> = all().flat_map(|rows| &rows.occurrences).collect();
    OCCURRENCES.run(engine, &values(&occurrences, |row| row.values()))?;
    durations::record(engine, all().flat_map(|rows| &rows.durations))
}

/// Nodes that clusters have no more, unless they have them again.
fn forget_nodes<'a>(engine: &mut Engine, all: impl Iterator<Item = &'a Projection>) -> QueryResult<()> {
    let mut gone: BTreeSet<&str> = BTreeSet::new();
    for rows in all {
        for node in &rows.nodes {
            gone.remove(node.id.as_str());
        }
        gone.extend(rows.gone.iter().map(NodeId::as_str));
    }
    if gone.is_empty() {
        return Ok(());
    }
    diesel::delete(nodes::table.filter(nodes::id.eq_any(gone))).execute(engine)?;
    Ok(())
}

fn write_snapshots(engine: &mut Engine, appends: &[&Append]) -> QueryResult<()> {
    let with_state = appends.iter().filter_map(|append| Some((*append, append.snapshot.as_deref()?)));
    let snapshots = with_state.map(|(append, state)| (append.cluster, append.last_sequence(), state));
    let snapshots = newest_of(snapshots, |(cluster, sequence, _)| (*cluster, *sequence));
    let row = |(cluster, sequence, state): (cooperage_domain::id::ClusterId, u64, _)| {
        [Value::unsigned(cluster.0), Value::unsigned(sequence), Value::text(state)]
    };
    SNAPSHOTS.run(engine, &snapshots.into_iter().flat_map(row).collect::<Vec<_>>())
}

fn values<'a, T, const N: usize>(rows: &[&'a T], of: impl Fn(&'a T) -> [Value<'a>; N]) -> Vec<Value<'a>> {
    rows.iter().flat_map(|row| of(row)).collect()
}

/// The last row of each key.
fn newest<'a, T, K: Eq + Hash>(rows: impl Iterator<Item = &'a T>, key: impl Fn(&'a T) -> K) -> Vec<&'a T> {
    newest_of(rows, |row| key(row))
}

fn newest_of<T, K: Eq + Hash>(rows: impl Iterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut places: HashMap<K, usize> = HashMap::new();
    let mut kept: Vec<T> = Vec::new();
    for row in rows {
        match places.entry(key(&row)) {
            std::collections::hash_map::Entry::Occupied(place) => kept[*place.get()] = row,
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(kept.len());
                kept.push(row);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_row_of_a_key_is_kept() {
        let rows = [(1, 'a'), (2, 'b'), (1, 'c')];
        assert_eq!(newest(rows.iter(), |row| row.0), [&(1, 'c'), &(2, 'b')]);
    }
}
