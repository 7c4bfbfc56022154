//! What happened that hooks may have to be told: written with the events that say so, and gone once it is known who is told.

use std::sync::LazyLock;

use cooperage_domain::callback::{self, HookEvent};
use cooperage_domain::id::ClusterId;
use cooperage_domain::plan::ClusterAction;
use diesel::prelude::*;

use crate::bulk::Holds::{Int, Text};
use crate::bulk::{Insert, Present};
use crate::deliveries::{self, Delivery};
use crate::error::StoreError;
use crate::sql::Value;
use crate::store::Store;
use crate::tables::callback_occurrences;
use crate::tables::callback_occurrences as occurrences;

/// One thing that happened to a cluster and that hooks may have to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// The cluster.
    pub cluster: ClusterId,
    /// Number of the event that says so.
    pub sequence: u64,
    /// Id of the cluster's tenant.
    pub tenant: String,
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    /// What hooks call it.
    pub event: HookEvent,
    /// The kind of its job, if it is about one.
    pub action: Option<ClusterAction>,
    /// The number of its job.
    pub job: Option<u32>,
    /// What is told of it, as JSON.
    pub document: String,
}

pub(crate) static OCCURRENCES: LazyLock<Insert<callback_occurrences::table>> = LazyLock::new(|| {
    Insert::new(
        "callback_occurrences",
        &[
            ("cluster", Int),
            ("sequence", Int),
            ("tenant", Text),
            ("at_ms", Int),
            ("event", Text),
            ("action", Text),
            ("job", Int),
            ("document", Text),
        ],
        Present::Replace { key: &["cluster", "sequence"] },
    )
});

impl Occurrence {
    pub(crate) fn values(&self) -> [Value<'_>; 8] {
        [
            Value::unsigned(self.cluster.0),
            Value::unsigned(self.sequence),
            Value::text(&self.tenant),
            Value::int(self.at_ms),
            Value::text(self.event.as_str()),
            Value::optional_text(self.action.map(ClusterAction::as_str)),
            Value::Int(self.job.map(i64::from)),
            Value::text(&self.document),
        ]
    }
}

type Columns = (i64, i64, String, i64, String, Option<String>, Option<i64>, String);

fn occurrence(columns: Columns) -> Result<Occurrence, StoreError> {
    let (cluster, sequence, tenant, at_ms, event, action, job, document) = columns;
    Ok(Occurrence {
        cluster: ClusterId(cluster.cast_unsigned()),
        sequence: sequence.cast_unsigned(),
        tenant,
        at_ms,
        event: event.parse()?,
        action: action.as_deref().map(callback::action).transpose()?,
        job: job.and_then(|job| u32::try_from(job).ok()),
        document,
    })
}

impl Store {
    /// What nobody has looked at yet, oldest first, at most `limit`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn occurrences(&self, limit: u32) -> Result<Vec<Occurrence>, StoreError> {
        let rows: Vec<Columns> = self.read(|engine| {
            let oldest = occurrences::table.order((occurrences::at_ms, occurrences::sequence));
            Ok(oldest.limit(limit.into()).load(engine)?)
        })?;
        rows.into_iter().map(occurrence).collect()
    }

    /// Puts the calls that an occurrence leads to in its place. Of several servers that do so at once, one does.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn fan_out(&self, fanned: Vec<(Occurrence, Vec<Delivery>)>) -> Result<(), StoreError> {
        self.write(move |engine| {
            for (occurrence, calls) in fanned {
                let key = (occurrence.cluster.0.cast_signed(), occurrence.sequence.cast_signed());
                if diesel::delete(occurrences::table.find(key)).execute(engine)? == 0 {
                    continue;
                }
                for call in &calls {
                    deliveries::insert(engine, call)?;
                }
            }
            Ok(())
        })
    }
}
