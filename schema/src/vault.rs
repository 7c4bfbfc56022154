//! Secret values of clusters: sealed in the database, open only in memory.
//!
//! Each cluster's values are one text, sealed with XChaCha20-Poly1305 under a random nonce and bound to the cluster's id, so
//! that a row copied to another cluster does not open. The key is a file outside the database, readable by the server's user
//! only; without it the rows are noise.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, AeadCore, KeyInit, OsRng, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use cooperage_domain::id::ClusterId;
use diesel::prelude::*;
use serde_json::{Map, Value as Json};

use crate::engine::Engine;
use crate::error::StoreError;
use crate::sql::{Statement, Value};
use crate::store::Store;
use crate::tables::secrets;

/// Length of the key, in bytes.
const KEY_LENGTH: usize = 32;
/// Length of a nonce, in bytes.
const NONCE_LENGTH: usize = 24;
/// Says how a row is sealed; in front of it.
const SCHEME: &str = "xc20p1:";

const PUT: &str = "INSERT INTO secrets (cluster, sealed) VALUES (?, ?) \
    ON CONFLICT (cluster) DO UPDATE SET sealed = excluded.sealed";

/// Why secrets cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The key file cannot be used.
    #[error("the key of the vault, {path}: {source}; restore it from a backup, or make the folder writable")]
    KeyFile {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The key does not open what is stored.
    #[error(
        "the secrets of cluster {0} do not open: the key file is not the one they were sealed with; restore it"
    )]
    WrongKey(ClusterId),
    /// The database refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Values that have been looked at.
type Opened = HashMap<ClusterId, Arc<Map<String, Json>>>;

/// Secret values of clusters.
#[derive(Clone)]
pub struct Vault {
    store: Store,
    cipher: Arc<XChaCha20Poly1305>,
    open: Arc<Mutex<Opened>>,
}

impl Vault {
    /// With the key in the file at `key`, which is made when it is missing.
    ///
    /// # Errors
    /// When the file cannot be read, made, or is no key.
    pub fn open(store: Store, key: &Path) -> Result<Self, VaultError> {
        let fault = |source| VaultError::KeyFile { path: key.to_owned(), source };
        let bytes = match fs::read(key) {
            Ok(bytes) => bytes,
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => make_key(key).map_err(fault)?,
            Err(other) => return Err(fault(other)),
        };
        if bytes.len() != KEY_LENGTH {
            let text = format!("it has {} bytes, a key has {KEY_LENGTH}", bytes.len());
            return Err(fault(io::Error::new(io::ErrorKind::InvalidData, text)));
        }
        let cipher = Arc::new(XChaCha20Poly1305::new(Key::from_slice(&bytes)));
        Ok(Self { store, cipher, open: Arc::default() })
    }

    /// Keeps a cluster's values, replacing those kept before. Blocks until they are durable.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn keep(&self, cluster: ClusterId, values: Map<String, Json>) -> Result<(), VaultError> {
        let sealed = self.seal(cluster, &values);
        self.store.write(move |engine| {
            let values = [Value::unsigned(cluster.0), Value::text(&sealed)];
            Statement::<_>::new(PUT, &values).execute(engine)?;
            Ok(())
        })?;
        self.lock().insert(cluster, Arc::new(values));
        Ok(())
    }

    /// A cluster's values; none when none are kept. Reads the database the first time.
    ///
    /// # Errors
    /// When the database cannot be read, or the key is another one.
    pub fn values(&self, cluster: ClusterId) -> Result<Arc<Map<String, Json>>, VaultError> {
        if let Some(values) = self.lock().get(&cluster) {
            return Ok(Arc::clone(values));
        }
        let row: Option<String> = self.store.read(|engine| {
            let row = secrets::table.find(cluster.0.cast_signed()).select(secrets::sealed);
            Ok(row.first(engine).optional()?)
        })?;
        let values = match row {
            Some(sealed) => self.unseal(cluster, &sealed).ok_or(VaultError::WrongKey(cluster))?,
            None => Map::new(),
        };
        let values = Arc::new(values);
        self.lock().insert(cluster, Arc::clone(&values));
        Ok(values)
    }

    /// A cluster's values if they have been looked at since the server started. Never blocks.
    #[must_use]
    pub fn known(&self, cluster: ClusterId) -> Option<Arc<Map<String, Json>>> {
        self.lock().get(&cluster).cloned()
    }

    /// Closes a cluster's values in memory, because it is terminated: the database wiped them with its last event.
    pub fn close(&self, cluster: ClusterId) {
        self.lock().remove(&cluster);
    }

    /// Forgets the values of a cluster that did not come into being. Blocks until the database has.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forget(&self, cluster: ClusterId) -> Result<(), VaultError> {
        self.lock().remove(&cluster);
        Ok(self.store.write(move |engine| Ok(wipe(engine, &[cluster])?))?)
    }

    /// Seals a text; it opens only for the same `purpose`.
    #[must_use]
    pub fn seal_text(&self, purpose: &str, text: &str) -> String {
        let nonce = XChaCha20Poly1305::generate_nonce(&mut OsRng);
        let payload = Payload { msg: text.as_bytes(), aad: purpose.as_bytes() };
        // Sealing fails only for texts of more than 256 GiB.
        let sealed = self.cipher.encrypt(&nonce, payload).unwrap_or_default();
        format!("{SCHEME}{}", STANDARD.encode([nonce.as_slice(), &sealed].concat()))
    }

    /// Opens a text that was sealed for `purpose` with this key; `None` for any other.
    #[must_use]
    pub fn open_text(&self, purpose: &str, sealed: &str) -> Option<String> {
        let bytes = STANDARD.decode(sealed.strip_prefix(SCHEME)?).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE_LENGTH)?;
        let payload = Payload { msg: sealed, aad: purpose.as_bytes() };
        let text = self.cipher.decrypt(XNonce::from_slice(nonce), payload).ok()?;
        String::from_utf8(text).ok()
    }

    fn seal(&self, cluster: ClusterId, values: &Map<String, Json>) -> String {
        self.seal_text(&cluster.to_string(), &Json::Object(values.clone()).to_string())
    }

    fn unseal(&self, cluster: ClusterId, sealed: &str) -> Option<Map<String, Json>> {
        serde_json::from_str(&self.open_text(&cluster.to_string(), sealed)?).ok()
    }

    fn lock(&self) -> MutexGuard<'_, Opened> {
        // A thread that panicked while it held the lock left whole entries behind.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

fn make_key(path: &Path) -> io::Result<Vec<u8>> {
    let key = XChaCha20Poly1305::generate_key(&mut OsRng);
    let mut file = fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)?;
    file.write_all(&key)?;
    file.sync_all()?;
    Ok(key.to_vec())
}
