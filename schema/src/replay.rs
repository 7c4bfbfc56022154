//! Reading a journal: what a cluster's state is made from.

use cooperage_domain::id::ClusterId;
use diesel::prelude::*;

use crate::append::StoredEvent;
use crate::error::StoreError;
use crate::store::Store;
use crate::tables::{journal, snapshots};

/// An event with its circumstances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEvent {
    /// Counts the events of the cluster from 1 without gaps.
    pub sequence: u64,
    /// When it was decided, in milliseconds since 1970.
    pub at_ms: i64,
    /// Which part of the system decided it.
    pub actor: String,
    /// On whose behalf.
    pub who: String,
    /// The event.
    pub event: StoredEvent,
}

/// The state of a cluster after one of its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Number of that event.
    pub sequence: u64,
    /// The state, serialized.
    pub state: String,
}

/// What gives a cluster's state: the newest snapshot, and every event after it, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replay {
    /// Where to start; nothing is the state of a cluster without events.
    pub snapshot: Option<Snapshot>,
    /// What to apply to it.
    pub events: Vec<RecordedEvent>,
}

impl Replay {
    /// Number of the last event; 0 when there is none.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        let snapshot = self.snapshot.as_ref().map_or(0, |snapshot| snapshot.sequence);
        self.events.last().map_or(snapshot, |event| event.sequence)
    }
}

const EVENT_COLUMNS: (
    journal::sequence,
    journal::at_ms,
    journal::actor,
    journal::who,
    journal::event_version,
    journal::event,
) = (journal::sequence, journal::at_ms, journal::actor, journal::who, journal::event_version, journal::event);

type EventColumns = (i64, i64, String, String, i64, String);

fn recorded(columns: EventColumns) -> Result<RecordedEvent, StoreError> {
    let (sequence, at_ms, actor, who, version, json) = columns;
    let version =
        u32::try_from(version).map_err(|fault| StoreError::corrupt("the version of an event", fault))?;
    let event = StoredEvent { version, json };
    Ok(RecordedEvent { sequence: sequence.cast_unsigned(), at_ms, actor, who, event })
}

impl Store {
    /// What gives the present state of a cluster.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn load(&self, cluster: ClusterId) -> Result<Replay, StoreError> {
        self.load_until(cluster, i64::MAX.cast_unsigned())
    }

    /// What gives the state of a cluster as it was after the event numbered `last`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn load_until(&self, cluster: ClusterId, last: u64) -> Result<Replay, StoreError> {
        let (id, last) = (cluster.0.cast_signed(), last.cast_signed());
        self.read(|engine| {
            let snapshot: Option<(i64, String)> = snapshots::table
                .filter(snapshots::cluster.eq(id))
                .filter(snapshots::sequence.le(last))
                .order(snapshots::sequence.desc())
                .select((snapshots::sequence, snapshots::state))
                .first(engine)
                .optional()?;
            // Nothing is ever changed in the journal, so the two queries need no common transaction.
            let after = snapshot.as_ref().map_or(0, |(sequence, _)| *sequence);
            let rows: Vec<EventColumns> = journal::table
                .filter(journal::cluster.eq(id))
                .filter(journal::sequence.gt(after))
                .filter(journal::sequence.le(last))
                .order(journal::sequence)
                .select(EVENT_COLUMNS)
                .load(engine)?;
            Ok(Replay {
                snapshot: snapshot
                    .map(|(sequence, state)| Snapshot { sequence: sequence.cast_unsigned(), state }),
                events: rows.into_iter().map(recorded).collect::<Result<_, _>>()?,
            })
        })
    }

    /// The events of a cluster from the one numbered `from` on, at most `limit`, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn events(
        &self,
        cluster: ClusterId,
        from: u64,
        limit: u32,
    ) -> Result<Vec<RecordedEvent>, StoreError> {
        let rows: Vec<EventColumns> = self.read(|engine| {
            Ok(journal::table
                .filter(journal::cluster.eq(cluster.0.cast_signed()))
                .filter(journal::sequence.ge(from.cast_signed()))
                .order(journal::sequence)
                .limit(limit.into())
                .select(EVENT_COLUMNS)
                .load(engine)?)
        })?;
        rows.into_iter().map(recorded).collect()
    }

    /// The events of a cluster before the one numbered `before`, at most `limit`, newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn events_before(
        &self,
        cluster: ClusterId,
        before: u64,
        limit: u32,
    ) -> Result<Vec<RecordedEvent>, StoreError> {
        let before = i64::try_from(before).unwrap_or(i64::MAX);
        let rows: Vec<EventColumns> = self.read(|engine| {
            Ok(journal::table
                .filter(journal::cluster.eq(cluster.0.cast_signed()))
                .filter(journal::sequence.lt(before))
                .order(journal::sequence.desc())
                .limit(limit.into())
                .select(EVENT_COLUMNS)
                .load(engine)?)
        })?;
        rows.into_iter().map(recorded).collect()
    }

    /// Number of a cluster's last event at a time, in ms since 1970; `None` when it had none then.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn sequence_at(&self, cluster: ClusterId, at_ms: i64) -> Result<Option<u64>, StoreError> {
        let last: Option<i64> = self.read(|engine| {
            Ok(journal::table
                .filter(journal::cluster.eq(cluster.0.cast_signed()))
                .filter(journal::at_ms.le(at_ms))
                .order(journal::sequence.desc())
                .select(journal::sequence)
                .first(engine)
                .optional()?)
        })?;
        Ok(last.map(i64::cast_unsigned))
    }

    /// The newest snapshot of a cluster at or before the event numbered `last`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn snapshot_until(&self, cluster: ClusterId, last: u64) -> Result<Option<Snapshot>, StoreError> {
        let last = i64::try_from(last).unwrap_or(i64::MAX);
        let found: Option<(i64, String)> = self.read(|engine| {
            Ok(snapshots::table
                .filter(snapshots::cluster.eq(cluster.0.cast_signed()))
                .filter(snapshots::sequence.le(last))
                .order(snapshots::sequence.desc())
                .select((snapshots::sequence, snapshots::state))
                .first(engine)
                .optional()?)
        })?;
        Ok(found.map(|(sequence, state)| Snapshot { sequence: sequence.cast_unsigned(), state }))
    }

    /// Numbers of the events of a cluster behind which there is a snapshot, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn snapshot_sequences(&self, cluster: ClusterId) -> Result<Vec<u64>, StoreError> {
        let all: Vec<i64> = self.read(|engine| {
            Ok(snapshots::table
                .filter(snapshots::cluster.eq(cluster.0.cast_signed()))
                .order(snapshots::sequence)
                .select(snapshots::sequence)
                .load(engine)?)
        })?;
        Ok(all.into_iter().map(i64::cast_unsigned).collect())
    }
}
