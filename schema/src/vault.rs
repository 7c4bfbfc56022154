//! Secrets that users gave for their clusters: encrypted, apart from the clusters, and gone with them.

use cooperage_domain::id::ClusterId;
use diesel::prelude::*;
use serde_json::{Map, Value as Json};

use crate::engine::Engine;
use crate::error::StoreError;
use crate::seal::Seal;
use crate::sql::{Statement, Value};
use crate::store::Store;
use crate::tables::secrets;

/// Where secrets are kept. Cheap to clone. Its calls block.
#[derive(Clone)]
pub struct Vault {
    store: Store,
    seal: Seal,
}

const PUT: &str = "INSERT INTO secrets (cluster, sealed) VALUES (?, ?) \
    ON CONFLICT (cluster) DO UPDATE SET sealed = excluded.sealed";

impl Vault {
    /// In this store, under this key.
    #[must_use]
    pub const fn new(store: Store, seal: Seal) -> Self {
        Self { store, seal }
    }

    /// Keeps the secrets of a cluster in place of those kept before.
    ///
    /// # Errors
    /// When they cannot be encrypted, or the database cannot be written.
    pub fn keep(&self, cluster: ClusterId, secrets: &Map<String, Json>) -> Result<(), StoreError> {
        let text = Json::Object(secrets.clone()).to_string();
        let sealed = self.seal.close(&cluster.to_string(), &text).map_err(|_| StoreError::Refused {
            cause: "the system gives no random numbers to encrypt with".to_owned(),
        })?;
        self.store.write(move |engine| {
            Statement::<_>::new(PUT, &[Value::unsigned(cluster.0), Value::text(&sealed)]).execute(engine)?;
            Ok(())
        })
    }

    /// The secrets of a cluster; none when none were kept.
    ///
    /// # Errors
    /// When the database cannot be read, or the key is not the one they were encrypted with.
    pub fn secrets(&self, cluster: ClusterId) -> Result<Map<String, Json>, StoreError> {
        let sealed: Option<String> = self.store.read(|engine| {
            let row = secrets::table.find(cluster.0.cast_signed()).select(secrets::sealed);
            Ok(row.first(engine).optional()?)
        })?;
        let Some(sealed) = sealed else { return Ok(Map::new()) };
        let text = self.seal.reveal(&cluster.to_string(), &sealed);
        let text = text.ok_or_else(|| StoreError::Sealed { cluster: cluster.to_string() })?;
        serde_json::from_str(&text)
            .map_err(|fault| StoreError::corrupt(format!("secrets of cluster {cluster}"), fault))
    }

    /// Forgets the secrets of a cluster that did not come into being; those of others go when they are terminated.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forget(&self, cluster: ClusterId) -> Result<(), StoreError> {
        self.store.write(move |engine| Ok(forget(engine, &[cluster])?))
    }
}

/// Forgets the secrets of clusters, inside the present transaction.
pub(crate) fn forget(engine: &mut Engine, clusters: &[ClusterId]) -> QueryResult<()> {
    if clusters.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = clusters.iter().map(|id| id.0.cast_signed()).collect();
    diesel::delete(secrets::table.filter(secrets::cluster.eq_any(ids))).execute(engine)?;
    Ok(())
}
