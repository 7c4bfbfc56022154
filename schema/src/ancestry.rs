//! Which clusters are built upon which, and who has missed what others publish; and the foundation of each tenant, the
//! cluster that all its later ones are built upon.

use std::sync::LazyLock;

use cooperage_domain::id::ClusterId;
use diesel::prelude::*;

use crate::bulk::Holds::{Int, Text};
use crate::bulk::{Insert, Present};
use crate::error::StoreError;
use crate::projection::TERMINATED;
use crate::sql::{Statement, Value};
use crate::store::Store;
use crate::tables::{ancestry, clusters, foundations};

/// Whom a cluster is built upon, and what it holds of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AncestryRow {
    /// The cluster.
    pub cluster: ClusterId,
    /// Its parent, and the hash of what it holds of it.
    pub parent: Option<(ClusterId, String)>,
    /// Its foundation, likewise.
    pub foundation: Option<(ClusterId, String)>,
    /// Hash of what it handed down itself when it came to rest last.
    pub hands_down: Option<String>,
}

pub(crate) static ANCESTRY: LazyLock<Insert<ancestry::table>> = LazyLock::new(|| {
    Insert::new(
        "ancestry",
        &[
            ("cluster", Int),
            ("parent", Int),
            ("foundation", Int),
            ("hands_down", Text),
            ("parent_seen", Text),
            ("foundation_seen", Text),
        ],
        Present::Replace { key: &["cluster"] },
    )
});

const PUT_FOUNDATION: &str = "INSERT INTO foundations (tenant, cluster) VALUES (?, ?) \
    ON CONFLICT (tenant) DO UPDATE SET cluster = excluded.cluster";

type Held = Option<(ClusterId, String)>;

impl AncestryRow {
    pub(crate) fn values(&self) -> [Value<'_>; 6] {
        let id = |held: &Held| Value::Int(held.as_ref().map(|(id, _)| id.0.cast_signed()));
        [
            Value::unsigned(self.cluster.0),
            id(&self.parent),
            id(&self.foundation),
            Value::optional_text(self.hands_down.as_deref()),
            Value::optional_text(self.parent.as_ref().map(|(_, seen)| seen.as_str())),
            Value::optional_text(self.foundation.as_ref().map(|(_, seen)| seen.as_str())),
        ]
    }
}

type Columns = (i64, Option<i64>, Option<i64>, Option<String>, Option<String>, Option<String>);

fn row((cluster, parent, foundation, hands_down, parent_seen, foundation_seen): Columns) -> AncestryRow {
    let id = |id: i64| ClusterId(id.cast_unsigned());
    let held = |of: Option<i64>, seen: Option<String>| of.map(|of| (id(of), seen.unwrap_or_default()));
    AncestryRow {
        cluster: id(cluster),
        parent: held(parent, parent_seen),
        foundation: held(foundation, foundation_seen),
        hands_down,
    }
}

impl Store {
    /// The ancestry of all clusters that are not gone, and are built upon others or carry others.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn ancestry(&self) -> Result<Vec<AncestryRow>, StoreError> {
        let live = clusters::table.filter(clusters::status.ne(TERMINATED)).select(clusters::id);
        let rows: Vec<Columns> =
            self.read(|engine| Ok(ancestry::table.filter(ancestry::cluster.eq_any(live)).load(engine)?))?;
        Ok(rows.into_iter().map(row).collect())
    }

    /// The same of those that are built upon this one: it is their parent, or their foundation.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn ancestry_upon(&self, cluster: ClusterId) -> Result<Vec<AncestryRow>, StoreError> {
        let id = cluster.0.cast_signed();
        let live = clusters::table.filter(clusters::status.ne(TERMINATED)).select(clusters::id);
        let rows: Vec<Columns> = self.read(|engine| {
            let upon = ancestry::table.filter(ancestry::parent.eq(id).or(ancestry::foundation.eq(id)));
            Ok(upon.filter(ancestry::cluster.eq_any(live)).load(engine)?)
        })?;
        Ok(rows.into_iter().map(row).collect())
    }

    /// The foundation of a tenant, by internal id, if it has named one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn foundation(&self, tenant: &str) -> Result<Option<ClusterId>, StoreError> {
        let id: Option<i64> = self.read(|engine| {
            let own = foundations::table.find(tenant);
            Ok(own.select(foundations::cluster).first(engine).optional()?)
        })?;
        Ok(id.map(|id| ClusterId(id.cast_unsigned())))
    }

    /// Names the foundation of a tenant in place of an earlier one; `None`: it has none any more.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_foundation(&self, tenant: &str, cluster: Option<ClusterId>) -> Result<(), StoreError> {
        let tenant = tenant.to_owned();
        self.write(move |engine| {
            match cluster {
                Some(cluster) => {
                    let values = [Value::text(&tenant), Value::unsigned(cluster.0)];
                    Statement::<_>::new(PUT_FOUNDATION, &values).execute(engine)?;
                }
                None => {
                    diesel::delete(foundations::table.find(&tenant)).execute(engine)?;
                }
            }
            Ok(())
        })
    }
}
