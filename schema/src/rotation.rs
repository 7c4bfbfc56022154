//! A new master key in place of the old one, and what is sealed under which.
//!
//! Three steps, each durable before the next: the file gets the new key in front of the old ones; one transaction wraps all
//! data keys with it; the file loses the old ones. After a crash between any two everything opens, and the next start goes on.

use std::path::PathBuf;

use diesel::prelude::*;

use crate::error::StoreError;
use crate::store::Store;
use crate::tables::{data_keys, entities, secrets};

/// What is sealed, and under which keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretsStatus {
    /// Where the master keys are.
    pub key_file: PathBuf,
    /// Id of the master key that wraps what is new.
    pub current: String,
    /// Ids of older master keys that are still in the file.
    pub older: Vec<String>,
    /// Data keys: one per tenant with secrets, and one of the installation.
    pub data_keys: u64,
    /// Data keys that an older master key still wraps.
    pub data_keys_behind: u64,
    /// Versions of entities with sealed values.
    pub entities: u64,
    /// Clusters with sealed values.
    pub clusters: u64,
}

impl Store {
    /// What is sealed, and under which keys.
    ///
    /// # Errors
    /// When there is no key file, or the database cannot be read.
    pub fn secrets_status(&self) -> Result<SecretsStatus, StoreError> {
        let keyring = self.keyring();
        let masters = keyring.masters()?;
        let mut ids = masters.iter().map(|master| master.id.clone());
        let (key_file, current) = (keyring.path()?.to_owned(), ids.next().unwrap_or_default());
        self.read(|engine| {
            let all: i64 = data_keys::table.count().get_result(engine)?;
            let behind = data_keys::table.filter(data_keys::master.ne(&current));
            let behind: i64 = behind.count().get_result(engine)?;
            let sealed = entities::table.filter(entities::sealed.is_not_null());
            let sealed: i64 = sealed.count().get_result(engine)?;
            let clusters: i64 = secrets::table.count().get_result(engine)?;
            Ok(SecretsStatus {
                key_file,
                older: ids.collect(),
                data_keys: all.cast_unsigned(),
                data_keys_behind: behind.cast_unsigned(),
                entities: sealed.cast_unsigned(),
                clusters: clusters.cast_unsigned(),
                current,
            })
        })
    }

    /// Puts a new master key in place of the old ones, and gives how many data keys it wraps now. Nothing that is sealed is
    /// touched, so that everything goes on meanwhile. Waits for the database.
    ///
    /// # Errors
    /// When the key file or the database cannot be written. Everything opens then too, and a further call completes it.
    pub fn rotate_secrets(&self) -> Result<usize, StoreError> {
        let _turn = self.rotation_turn();
        let keyring = self.keyring();
        keyring.add_master()?;
        let rewrapped = {
            let keyring = keyring.clone();
            self.write(move |engine| keyring.rewrap(engine))?
        };
        keyring.drop_old_masters()?;
        Ok(rewrapped)
    }
}
