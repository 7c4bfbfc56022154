//! The events of all clusters in the order in which they became durable, for those who follow them.
//!
//! An event's place in that order is the number of its row: nothing is ever removed from the journal, and each database has
//! one connection that appends, so that who has seen a place has seen all before it.

use cooperage_domain::id::ClusterId;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use crate::engine::Engine;
use crate::error::StoreError;
use crate::sql::{Statement, Value};
use crate::store::Store;

/// An event as those who follow all clusters are told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedEvent {
    /// Its place among the events of all clusters.
    pub place: u64,
    /// Whose event it is.
    pub cluster: ClusterId,
    /// The cluster's tenant.
    pub tenant: String,
    /// The cluster's owner.
    pub owner: String,
    /// Its number among the events of the cluster.
    pub sequence: u64,
    /// When it was decided, in milliseconds since 1970.
    pub at_ms: i64,
    /// On whose behalf.
    pub who: String,
    /// The event.
    pub json: String,
}

/// Which events are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedFilter {
    /// Only of this cluster.
    pub cluster: Option<ClusterId>,
    /// Only of clusters of this tenant.
    pub tenant: Option<String>,
    /// Only of clusters of this user of the tenant.
    pub owner: Option<String>,
}

type Types = (BigInt, BigInt, Text, Text, BigInt, BigInt, Text, Text);
type Row = (i64, i64, String, String, i64, i64, String, String);

impl Store {
    /// The wanted events behind a place and not behind `until`, at most `limit`, in order. Who goes on from the last one misses
    /// none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn feed(
        &self,
        after: u64,
        until: u64,
        filter: &FeedFilter,
        limit: u32,
    ) -> Result<Vec<PlacedEvent>, StoreError> {
        let rows = self.read(|engine| {
            let place = place(engine);
            let mut text = format!(
                "SELECT j.{place}, j.cluster, c.tenant, c.owner, j.sequence, j.at_ms, j.who, j.event \
                 FROM journal j JOIN clusters c ON c.id = j.cluster WHERE j.{place} > ? AND j.{place} <= ?"
            );
            let mut values =
                [after, until].map(|place| Value::unsigned(place.min(i64::MAX.cast_unsigned()))).to_vec();
            if let Some(cluster) = filter.cluster {
                text.push_str(" AND j.cluster = ?");
                values.push(Value::unsigned(cluster.0));
            }
            for (column, wanted) in [("c.tenant", &filter.tenant), ("c.owner", &filter.owner)] {
                if let Some(wanted) = wanted {
                    text.push_str(&format!(" AND {column} = ?"));
                    values.push(Value::text(wanted));
                }
            }
            text.push_str(&format!(" ORDER BY j.{place} LIMIT {limit}"));
            let rows: QueryResult<Vec<Row>> = match engine {
                Engine::Sqlite(connection) => Statement::<_, Types>::new(&text, &values).load(connection),
                #[cfg(feature = "postgres")]
                Engine::Postgres(connection) => Statement::<_, Types>::new(&text, &values).load(connection),
            };
            Ok(rows?)
        })?;
        let placed = |(place, cluster, tenant, owner, sequence, at_ms, who, json): Row| PlacedEvent {
            place: place.cast_unsigned(),
            cluster: ClusterId(cluster.cast_unsigned()),
            tenant,
            owner,
            sequence: sequence.cast_unsigned(),
            at_ms,
            who,
            json,
        };
        Ok(rows.into_iter().map(placed).collect())
    }

    /// The place of the newest event; 0 when there is none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn newest_place(&self) -> Result<u64, StoreError> {
        let newest: i64 = self.read(|engine| {
            let text = format!("SELECT coalesce(max({}), 0) FROM journal", place(engine));
            Ok(match engine {
                Engine::Sqlite(connection) => {
                    Statement::<Value<'_>, BigInt>::new(&text, &[]).get_result(connection)?
                }
                #[cfg(feature = "postgres")]
                Engine::Postgres(connection) => {
                    Statement::<Value<'_>, BigInt>::new(&text, &[]).get_result(connection)?
                }
            })
        })?;
        Ok(newest.cast_unsigned())
    }
}

/// The column with the place.
const fn place(engine: &Engine) -> &'static str {
    match engine {
        Engine::Sqlite(_) => "rowid",
        #[cfg(feature = "postgres")]
        Engine::Postgres(_) => "place",
    }
}
