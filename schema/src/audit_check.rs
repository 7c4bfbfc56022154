//! The audit log as a whole: whether its chain holds, and its beginning removed when it is old enough.

use cooperage_domain::audit::{Broken, Link, PRUNE, Record, Verifier};
use diesel::prelude::*;

use crate::audit::{End, append, entries_after, link, locked_head, set_link};
use crate::engine::Engine;
use crate::error::StoreError;
use crate::store::Store;
use crate::tables::audit;

/// Most entries that are removed together, so that nobody waits long for the writer.
pub const PRUNED_TOGETHER: u64 = 20_000;
/// Entries that are read together.
const PAGE: u32 = 2_000;

/// What a walk along the whole chain found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditCheck {
    /// How many entries there are, or where it is broken.
    pub outcome: Result<u64, Broken>,
    /// The last entry that was removed on purpose; number 0 when none was.
    pub anchor: Link,
    /// The entry that was written last. Kept elsewhere, it shows later that nothing up to here was changed.
    pub head: Link,
}

impl Store {
    /// Walks the whole chain, as it was at one moment.
    ///
    /// # Errors
    /// When the database cannot be read. A chain that is broken is no error.
    pub fn check_audit(&self) -> Result<AuditCheck, StoreError> {
        self.read(|engine| {
            engine.transaction(|engine| {
                engine.freeze()?;
                let (anchor, head) = (link(engine, End::Anchor)?, link(engine, End::Head)?);
                let outcome = walk(engine, &anchor, &head)?;
                Ok(AuditCheck { outcome, anchor, head })
            })
        })
    }

    /// Removes the entries at the beginning that are older than `before_ms`, at most [`PRUNED_TOGETHER`], and records that it
    /// did so. The chain goes on from the last one removed. Gives how many there were.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn prune_audit(&self, before_ms: i64, now_ms: i64) -> Result<u64, StoreError> {
        self.write(move |engine| {
            let head = locked_head(engine)?;
            let kept: Option<i64> = audit::table
                .filter(audit::at_ms.ge(before_ms))
                .select(diesel::dsl::min(audit::sequence))
                .first(engine)?;
            let most = link(engine, End::Anchor)?.sequence + PRUNED_TOGETHER;
            let last = kept.map_or(head.sequence, |kept| kept.cast_unsigned() - 1).min(most);
            let found: Option<(i64, String)> = audit::table
                .filter(audit::sequence.le(last.cast_signed()))
                .order(audit::sequence.desc())
                .select((audit::sequence, audit::hash))
                .first(engine)
                .optional()?;
            let Some((sequence, hash)) = found else { return Ok(0) };
            let anchor = Link { sequence: sequence.cast_unsigned(), hash };
            let gone = diesel::delete(audit::table.filter(audit::sequence.le(sequence))).execute(engine)?;
            set_link(engine, End::Anchor, &anchor)?;
            let record = Record {
                at_ms: now_ms,
                credential: "the server".to_owned(),
                action: PRUNE.to_owned(),
                object: anchor.pruned(),
                status: 200,
                ..Record::default()
            };
            append(engine, &[&record])?;
            Ok(gone as u64)
        })
    }
}

fn walk(engine: &mut Engine, anchor: &Link, head: &Link) -> Result<Result<u64, Broken>, StoreError> {
    let mut verifier = Verifier::new(anchor.clone());
    let mut after = 0;
    loop {
        let entries = entries_after(engine, after, PAGE)?;
        let Some(last) = entries.last() else { break };
        after = last.sequence;
        if let Err(broken) = entries.iter().try_for_each(|entry| verifier.check(entry)) {
            return Ok(Err(broken));
        }
    }
    Ok(verifier.finish(head))
}

impl Engine {
    /// Lets everything that is read in this transaction be of one moment.
    pub(crate) fn freeze(&mut self) -> QueryResult<()> {
        match self {
            // So it is there anyway.
            Self::Sqlite(_) => Ok(()),
            #[cfg(feature = "postgres")]
            Self::Postgres(connection) => {
                use diesel::connection::SimpleConnection;
                connection.batch_execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            }
        }
    }
}
