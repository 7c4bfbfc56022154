//! Secret values of clusters: sealed in the database, open only in memory.
//!
//! Each cluster's values are one text, sealed under the key of its tenant and bound to the cluster, so that a row copied to
//! another cluster does not open.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cooperage_domain::cluster_secrets::ClusterSecrets;
use cooperage_domain::id::ClusterId;
use cooperage_domain::redact::Redactor;
use diesel::prelude::*;
use serde_json::{Map, Value as Json};
use zeroize::Zeroizing;

use crate::engine::Engine;
use crate::error::StoreError;
use crate::keyring::{Keyring, Place};
use crate::known_secrets::KnownSecrets;
use crate::seal;
use crate::secrets_error::SecretsError;
use crate::sql::{Statement, Value};
use crate::store::Store;
use crate::tables::secrets;

/// What a cluster's values are called where they are bound to their place.
const KIND: &str = "clusters";
/// All of them together are one text.
const FIELD: &str = "values";

const PUT: &str = "INSERT INTO secrets (cluster, sealed, tenant) VALUES (?, ?, ?) \
    ON CONFLICT (cluster) DO UPDATE SET sealed = excluded.sealed, tenant = excluded.tenant";

/// A cluster's values, and what finds them in text. Printed without them.
#[derive(Debug, Default)]
pub struct OpenSecrets {
    /// The values.
    pub secrets: ClusterSecrets,
    /// Finds them in what tasks print and report.
    pub redactor: Redactor,
}

impl OpenSecrets {
    fn new(secrets: ClusterSecrets) -> Self {
        let texts: Vec<Zeroizing<String>> = secrets.texts().into_iter().map(Zeroizing::new).collect();
        let redactor = Redactor::new(texts.iter().map(|text| text.as_str()));
        Self { secrets, redactor }
    }
}

/// Secret values of clusters.
#[derive(Clone)]
pub struct Vault {
    store: Store,
    known: KnownSecrets,
    open: Arc<Mutex<HashMap<ClusterId, Arc<OpenSecrets>>>>,
}

impl Vault {
    /// In this store, under its keys. `known` hears of every value that is opened.
    #[must_use]
    pub fn new(store: Store, known: KnownSecrets) -> Self {
        Self { store, known, open: Arc::default() }
    }

    /// The store it is in.
    #[must_use]
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// Keeps a cluster's values, replacing those kept before. Blocks until they are durable.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn keep(&self, tenant: &str, cluster: ClusterId, values: ClusterSecrets) -> Result<(), StoreError> {
        let (keyring, tenant, kept) = (self.store.keyring(), tenant.to_owned(), values.clone());
        self.store.write(move |engine| put(engine, &keyring, &tenant, cluster, &kept))?;
        self.remember(cluster, values);
        Ok(())
    }

    /// Keeps what was given with a request, in place of what was given before; the provider's own stay. Blocks until it is
    /// durable.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub fn give(&self, tenant: &str, cluster: ClusterId, given: Map<String, Json>) -> Result<(), StoreError> {
        self.change(tenant, cluster, move |values| values.given = given)
    }

    /// Keeps secret outputs of a cluster's services, and gives the tokens that stand for them, by the names of the values.
    /// `in_use` are the hashes of the tokens that the cluster holds. Blocks until the values are durable.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub fn seal_outputs(
        &self,
        tenant: &str,
        cluster: ClusterId,
        values: BTreeMap<String, Json>,
        in_use: BTreeSet<String>,
    ) -> Result<BTreeMap<String, Json>, StoreError> {
        let fresh = seal::new_key().iter().map(|byte| format!("{byte:02x}")).collect();
        self.change(tenant, cluster, move |kept| kept.seal(values, &in_use, fresh))
    }

    /// Changes what is kept of a cluster, in one transaction, so that nothing is lost that others keep meanwhile.
    fn change<T: Send + 'static>(
        &self,
        tenant: &str,
        cluster: ClusterId,
        change: impl FnOnce(&mut ClusterSecrets) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let (keyring, tenant) = (self.store.keyring(), tenant.to_owned());
        let (values, given) = self.store.write(move |engine| {
            let mut values = read(engine, &keyring, cluster)?;
            let given = change(&mut values);
            put(engine, &keyring, &tenant, cluster, &values)?;
            Ok((values, given))
        })?;
        self.remember(cluster, values);
        Ok(given)
    }

    /// A cluster's values; none when none are kept. Reads the database the first time.
    ///
    /// # Errors
    /// When the database cannot be read, or the key is another one.
    pub fn values(&self, cluster: ClusterId) -> Result<Arc<OpenSecrets>, StoreError> {
        if let Some(values) = self.known(cluster) {
            return Ok(values);
        }
        let keyring = self.store.keyring();
        let values = self.store.read(|engine| read(engine, &keyring, cluster))?;
        Ok(self.remember(cluster, values))
    }

    /// A cluster's values if they have been looked at since the server started. Never blocks.
    #[must_use]
    pub fn known(&self, cluster: ClusterId) -> Option<Arc<OpenSecrets>> {
        self.lock().get(&cluster).cloned()
    }

    /// Closes a cluster's values in memory, because it is terminated: the database wiped them with its last event.
    pub fn close(&self, cluster: ClusterId) {
        let closed = self.lock().remove(&cluster);
        if let Some(closed) = closed {
            self.known.forget(closed.secrets.texts());
        }
    }

    /// Forgets the values of a cluster that did not come into being. Blocks until the database has.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forget(&self, cluster: ClusterId) -> Result<(), StoreError> {
        self.close(cluster);
        self.store.write(move |engine| Ok(wipe(engine, &[cluster])?))
    }

    fn remember(&self, cluster: ClusterId, values: ClusterSecrets) -> Arc<OpenSecrets> {
        self.known.learn(values.texts());
        let values = Arc::new(OpenSecrets::new(values));
        let before = self.lock().insert(cluster, Arc::clone(&values));
        if let Some(before) = before {
            self.known.forget(before.secrets.texts());
        }
        values
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ClusterId, Arc<OpenSecrets>>> {
        // A thread that panicked while it held the lock left whole entries behind.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Seals and stores a cluster's values, inside the present transaction.
pub(crate) fn put(
    engine: &mut Engine,
    keyring: &Keyring,
    tenant: &str,
    cluster: ClusterId,
    values: &ClusterSecrets,
) -> Result<(), StoreError> {
    let text = Zeroizing::new(serde_json::to_string(values).unwrap_or_default());
    let name = cluster.to_string();
    let sealed = keyring.seal(engine, Place { tenant, kind: KIND, name: &name, field: FIELD }, &text)?;
    let row = [Value::unsigned(cluster.0), Value::text(&sealed), Value::text(tenant)];
    Statement::<_>::new(PUT, &row).execute(engine)?;
    Ok(())
}

/// A cluster's values as they are stored; none when there is no row.
pub(crate) fn read(
    engine: &mut Engine,
    keyring: &Keyring,
    cluster: ClusterId,
) -> Result<ClusterSecrets, StoreError> {
    let columns = (secrets::sealed, secrets::tenant);
    let row: Option<(String, Option<String>)> =
        secrets::table.find(cluster.0.cast_signed()).select(columns).first(engine).optional()?;
    let name = cluster.to_string();
    match row {
        None => Ok(ClusterSecrets::default()),
        Some((sealed, None)) => open_legacy(keyring, &name, &sealed),
        Some((sealed, Some(tenant))) => {
            let place = Place { tenant: &tenant, kind: KIND, name: &name, field: FIELD };
            let text = keyring.open(engine, place, &sealed)?;
            // The fault's words would show a part of the text.
            serde_json::from_str(&text)
                .map_err(|_| StoreError::corrupt(format!("the secrets of cluster {name}"), "it is no JSON"))
        }
    }
}

/// Says how earlier releases sealed a row; in front of it.
const LEGACY: &str = "xc20p1:";

/// Values that an earlier release sealed: only what was given, under the master key itself.
fn open_legacy(keyring: &Keyring, cluster: &str, sealed: &str) -> Result<ClusterSecrets, StoreError> {
    let damaged = || SecretsError::Damaged { what: format!("the secrets of cluster {cluster}") };
    let sealed = sealed.strip_prefix(LEGACY).ok_or_else(damaged)?;
    let text = keyring.open_legacy(cluster, sealed)?.ok_or_else(damaged)?;
    let given = serde_json::from_slice(&text).map_err(|_| damaged())?;
    Ok(ClusterSecrets::of(Map::new(), given))
}

/// Wipes the values of clusters, inside the present transaction.
pub(crate) fn wipe(engine: &mut Engine, clusters: &[ClusterId]) -> QueryResult<()> {
    if clusters.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = clusters.iter().map(|id| id.0.cast_signed()).collect();
    diesel::delete(secrets::table.filter(secrets::cluster.eq_any(ids))).execute(engine)?;
    Ok(())
}
