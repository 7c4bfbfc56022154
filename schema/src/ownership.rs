//! Which server owns which cluster, when several share a database.
//!
//! A server owns a cluster under an epoch. Taking over raises the epoch, and the journal refuses appends with any other: a
//! server that was believed dead and is not cannot write any more.

use cooperage_domain::id::ClusterId;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use crate::error::StoreError;
use crate::projection::TERMINATED;
use crate::sql::{Statement, Value};
use crate::store::Store;
use crate::tables::{clusters, ownership, servers};

/// Who may append to a cluster's journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Which cluster.
    pub cluster: ClusterId,
    /// Name of the server.
    pub server: String,
    /// Under which epoch.
    pub epoch: u64,
}

const CLAIM: &str = "INSERT INTO ownership (cluster, server, epoch) VALUES (?, ?, 1) \
    ON CONFLICT (cluster) DO UPDATE SET server = excluded.server, epoch = ownership.epoch + 1 RETURNING epoch";

const TAKE_OVER: &str = "UPDATE ownership SET server = ?, epoch = epoch + 1 \
    WHERE cluster = ? AND epoch = ? RETURNING epoch";

const HEARTBEAT: &str = "INSERT INTO servers (name, seen_ms) VALUES (?, ?) \
    ON CONFLICT (name) DO UPDATE SET seen_ms = excluded.seen_ms";

impl Store {
    /// Makes this server the owner of a cluster, whoever was, and gives the epoch for its appends.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn claim(&self, cluster: ClusterId) -> Result<u64, StoreError> {
        let server = self.server().to_owned();
        self.write(move |engine| {
            let values = [Value::unsigned(cluster.0), Value::text(&server)];
            let epoch: i64 = Statement::<_, BigInt>::new(CLAIM, &values).get_result(engine)?;
            Ok(epoch.cast_unsigned())
        })
    }

    /// Makes this server the owner of a cluster if its epoch still is `seen`, and gives the new epoch; nothing when another
    /// server was faster.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn take_over(&self, cluster: ClusterId, seen: u64) -> Result<Option<u64>, StoreError> {
        let server = self.server().to_owned();
        self.write(move |engine| {
            let values = [Value::text(&server), Value::unsigned(cluster.0), Value::unsigned(seen)];
            let epoch: Option<i64> =
                Statement::<_, BigInt>::new(TAKE_OVER, &values).get_result(engine).optional()?;
            Ok(epoch.map(i64::cast_unsigned))
        })
    }

    /// Says that this server lives, at `now_ms` (milliseconds since 1970).
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn heartbeat(&self, now_ms: i64) -> Result<(), StoreError> {
        let server = self.server().to_owned();
        self.write(move |engine| {
            Statement::<_>::new(HEARTBEAT, &[Value::text(&server), Value::int(now_ms)]).execute(engine)?;
            Ok(())
        })
    }

    /// Who owns a cluster; nobody when it has no events and was never claimed.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn owner(&self, cluster: ClusterId) -> Result<Option<Owner>, StoreError> {
        self.read(|engine| {
            let found: Option<(i64, String, i64)> =
                ownership::table.find(cluster.0.cast_signed()).first(engine).optional()?;
            Ok(found.map(owner))
        })
    }

    /// Clusters that are not terminated, with their owners.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn live_clusters(&self) -> Result<Vec<Owner>, StoreError> {
        self.read(|engine| {
            let rows: Vec<(i64, String, i64)> = clusters::table
                .inner_join(ownership::table.on(ownership::cluster.eq(clusters::id)))
                .filter(clusters::status.ne(TERMINATED))
                .order(clusters::id)
                .select((clusters::id, ownership::server, ownership::epoch))
                .load(engine)?;
            Ok(rows.into_iter().map(owner).collect())
        })
    }

    /// Clusters that are not terminated and whose owner, another server, was not heard of since `since_ms`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn abandoned_clusters(&self, since_ms: i64) -> Result<Vec<Owner>, StoreError> {
        let alive: Vec<String> = self.read(|engine| {
            Ok(servers::table.filter(servers::seen_ms.ge(since_ms)).select(servers::name).load(engine)?)
        })?;
        let mut owners = self.live_clusters()?;
        owners.retain(|owner| owner.server != self.server() && !alive.contains(&owner.server));
        Ok(owners)
    }
}

fn owner((cluster, server, epoch): (i64, String, i64)) -> Owner {
    Owner { cluster: ClusterId(cluster.cast_unsigned()), server, epoch: epoch.cast_unsigned() }
}
