//! The keys of tenants, under which their secrets are sealed.
//!
//! Each tenant has a data key, which lies in the database wrapped by a master key. What is sealed names its data key, so that
//! a rotation of the master key wraps the data keys anew and touches no secret.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use diesel::prelude::*;
use zeroize::Zeroizing;

use crate::engine::Engine;
use crate::error::StoreError;
use crate::key_file::{KeyFile, MasterKey, MasterKeys};
use crate::seal::{self, KEY_LENGTH, SecretKey, new_key};
use crate::secrets_error::SecretsError;
use crate::tables::{data_keys, secrets};

/// Says how a text is sealed; in front of it.
const SCHEME: &str = "xc20p2";
/// What wrapped data keys are bound to, besides their id and tenant.
const WRAPPED: &str = "data key";
/// The tenant whose data key is there from the start, so that a wrong key file is always noticed.
const INSTALLATION: &str = "";

/// Where a secret belongs; it opens nowhere else.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) tenant: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) name: &'a str,
    pub(crate) field: &'a str,
}

impl<'a> Place<'a> {
    const fn parts(&self) -> [&'a str; 4] {
        [self.tenant, self.kind, self.name, self.field]
    }
}

/// The master keys, and the data keys that have been looked at. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Keyring(Option<Arc<Inner>>);

struct Inner {
    file: KeyFile,
    masters: RwLock<MasterKeys>,
    /// Data keys by id; what an id stands for never changes.
    opened: RwLock<HashMap<String, SecretKey>>,
}

type Wrapped = (String, String, String, String);

impl Keyring {
    /// With the keys in the file at `path`, which is made when nothing is sealed yet. Every data key is tried.
    pub(crate) fn load(path: Option<PathBuf>, engine: &mut Engine) -> Result<Self, StoreError> {
        let Some(path) = path else { return Ok(Self(None)) };
        let file = KeyFile::new(path);
        let masters = match file.read()? {
            Some(masters) => masters,
            None if holds_secrets(engine)? => {
                return Err(SecretsError::Missing { path: file.path().to_owned() }.into());
            }
            None => {
                file.create(&MasterKeys::first())?;
                file.read()?.ok_or_else(|| SecretsError::Missing { path: file.path().to_owned() })?
            }
        };
        let inner = Inner { file, masters: RwLock::new(masters), opened: RwLock::default() };
        let keyring = Self(Some(Arc::new(inner)));
        engine.alone(|engine| {
            keyring.sealing_key(engine, INSTALLATION)?;
            let all: Vec<Wrapped> = data_keys::table.load(engine)?;
            all.iter().try_for_each(|wrapped| keyring.unwrap(wrapped).map(drop))?;
            Ok(())
        })?;
        keyring.finish_rotation(engine)?;
        Ok(keyring)
    }

    fn inner(&self) -> Result<&Inner, SecretsError> {
        self.0.as_deref().ok_or(SecretsError::NoKeyFile)
    }

    /// Where the master keys are.
    pub(crate) fn path(&self) -> Result<&Path, SecretsError> {
        Ok(self.inner()?.file.path())
    }

    /// The master keys; a copy, which nobody changes.
    pub(crate) fn masters(&self) -> Result<MasterKeys, SecretsError> {
        Ok(self.inner()?.masters.read().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn set_masters(&self, masters: MasterKeys) -> Result<(), SecretsError> {
        *self.inner()?.masters.write().unwrap_or_else(PoisonError::into_inner) = masters;
        Ok(())
    }

    /// Seals a text, inside a transaction that may write.
    pub(crate) fn seal(
        &self,
        engine: &mut Engine,
        place: Place<'_>,
        text: &str,
    ) -> Result<String, StoreError> {
        let (id, key) = self.sealing_key(engine, place.tenant)?;
        Ok(format!("{SCHEME}:{id}:{}", seal::seal(&key, &place.parts(), text.as_bytes())))
    }

    /// What was sealed for this place.
    pub(crate) fn open(
        &self,
        engine: &mut Engine,
        place: Place<'_>,
        sealed: &str,
    ) -> Result<Zeroizing<String>, StoreError> {
        let Place { tenant, kind, name, field } = place;
        let what = || format!("the secret {field} of {name:?} ({kind} of tenant {tenant:?})");
        let damaged = || SecretsError::Damaged { what: what() };
        let mut parts = sealed.splitn(3, ':');
        let (Some(SCHEME), Some(id), Some(bytes)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(damaged().into());
        };
        let key = self.data_key(engine, id)?.ok_or_else(damaged)?;
        let text = seal::open(&key, &place.parts(), bytes).ok_or_else(damaged)?;
        let text = std::str::from_utf8(&text).map_err(|_| damaged())?;
        Ok(Zeroizing::new(text.to_owned()))
    }

    /// The data key of a tenant, which is made when there is none. It is asked for each time: one that is remembered could
    /// be of a transaction that came to nothing.
    fn sealing_key(&self, engine: &mut Engine, tenant: &str) -> Result<(String, SecretKey), StoreError> {
        self.inner()?;
        let find = |engine: &mut Engine| {
            let mine = data_keys::table.filter(data_keys::tenant.eq(tenant));
            mine.first::<Wrapped>(engine).optional()
        };
        let mut found = find(engine)?;
        if found.is_none() {
            // Another server may just be making it, or rotating the master key.
            engine.lock_data_keys()?;
            found = find(engine)?;
        }
        if let Some(wrapped) = found {
            let key = self.unwrap(&wrapped)?;
            return Ok((wrapped.0, key));
        }
        self.reload()?;
        let (id, key) = (new_id(), new_key());
        self.insert(engine, &id, tenant, &key)?;
        Ok((id, key))
    }

    fn insert(&self, engine: &mut Engine, id: &str, tenant: &str, key: &SecretKey) -> Result<(), StoreError> {
        let masters = self.masters()?;
        let master = masters.current().ok_or(SecretsError::NoKeyFile)?;
        diesel::insert_into(data_keys::table)
            .values((
                data_keys::id.eq(id),
                data_keys::tenant.eq(tenant),
                data_keys::master.eq(&master.id),
                data_keys::wrapped.eq(wrap(master, id, tenant, key)),
            ))
            .execute(engine)?;
        Ok(())
    }

    /// The data key with this id; `None` when there is none.
    fn data_key(&self, engine: &mut Engine, id: &str) -> Result<Option<SecretKey>, StoreError> {
        let opened = &self.inner()?.opened;
        if let Some(key) = opened.read().unwrap_or_else(PoisonError::into_inner).get(id) {
            return Ok(Some(key.clone()));
        }
        let found: Option<Wrapped> = data_keys::table.find(id).first(engine).optional()?;
        let Some(wrapped) = found else { return Ok(None) };
        let key = self.unwrap(&wrapped)?;
        opened.write().unwrap_or_else(PoisonError::into_inner).insert(wrapped.0, key.clone());
        Ok(Some(key))
    }

    fn unwrap(&self, (id, tenant, master, wrapped): &Wrapped) -> Result<SecretKey, SecretsError> {
        if self.masters()?.find(master).is_none() {
            self.reload()?;
        }
        let masters = self.masters()?;
        let Some(found) = masters.find(master) else {
            return Err(SecretsError::WrongKey { path: self.path()?.to_owned(), master: master.clone() });
        };
        let damaged = || SecretsError::Damaged { what: format!("the data key of tenant {tenant:?}") };
        let key = seal::open(&found.key, &[WRAPPED, id, tenant], wrapped).ok_or_else(damaged)?;
        <[u8; KEY_LENGTH]>::try_from(key.as_slice()).map(Zeroizing::new).map_err(|_| damaged())
    }

    /// Reads the file again: another server may have rotated the keys.
    fn reload(&self) -> Result<(), SecretsError> {
        match self.inner()?.file.read()? {
            Some(masters) => self.set_masters(masters),
            None => Err(SecretsError::Missing { path: self.path()?.to_owned() }),
        }
    }

    /// Puts a new master key in front of the others, in the file before anything is wrapped with it.
    pub(crate) fn add_master(&self) -> Result<(), SecretsError> {
        let masters = self.masters()?.behind(MasterKey::random());
        self.inner()?.file.write(&masters)?;
        self.set_masters(masters)
    }

    /// Wraps every data key with the current master key that another one wraps, inside the present transaction, and gives
    /// how many there were.
    pub(crate) fn rewrap(&self, engine: &mut Engine) -> Result<usize, StoreError> {
        engine.lock_data_keys()?;
        let masters = self.masters()?;
        let Some(current) = masters.current() else { return Ok(0) };
        let old: Vec<Wrapped> = data_keys::table.filter(data_keys::master.ne(&current.id)).load(engine)?;
        for wrapped in &old {
            let (id, tenant, ..) = wrapped;
            let key = self.unwrap(wrapped)?;
            diesel::update(data_keys::table.find(id))
                .set((
                    data_keys::master.eq(&current.id),
                    data_keys::wrapped.eq(wrap(current, id, tenant, &key)),
                ))
                .execute(engine)?;
        }
        Ok(old.len())
    }

    /// Takes the old master keys out of the file; only when no data key needs them any more.
    pub(crate) fn drop_old_masters(&self) -> Result<(), SecretsError> {
        let newest = self.masters()?.newest();
        self.inner()?.file.write(&newest)?;
        self.set_masters(newest)
    }

    /// What a crash left of a rotation.
    fn finish_rotation(&self, engine: &mut Engine) -> Result<(), StoreError> {
        if self.masters()?.iter().count() > 1 {
            engine.alone(|engine| self.rewrap(engine))?;
            self.drop_old_masters()?;
        }
        Ok(())
    }

    /// What an earlier release sealed for a cluster with the master key itself.
    pub(crate) fn open_legacy(
        &self,
        bound: &str,
        sealed: &str,
    ) -> Result<Option<Zeroizing<Vec<u8>>>, SecretsError> {
        let masters = self.masters()?;
        Ok(masters.iter().find_map(|master| seal::open_bound(&master.key, bound.as_bytes(), sealed)))
    }
}

impl MasterKeys {
    /// One new key.
    fn first() -> Self {
        Self::none().behind(MasterKey::random())
    }
}

/// Whether something is stored that only a key opens.
fn holds_secrets(engine: &mut Engine) -> Result<bool, StoreError> {
    let keys: i64 = data_keys::table.count().get_result(engine)?;
    let sealed: i64 = secrets::table.count().get_result(engine)?;
    Ok(keys + sealed > 0)
}

fn wrap(master: &MasterKey, id: &str, tenant: &str, key: &SecretKey) -> String {
    seal::seal(&master.key, &[WRAPPED, id, tenant], key.as_slice())
}

/// 128 random bits, as text.
fn new_id() -> String {
    new_key()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Forgets the data key of a tenant that is gone, inside the present transaction: what was sealed with it is noise.
pub(crate) fn forget(engine: &mut Engine, tenant: &str) -> QueryResult<()> {
    diesel::delete(data_keys::table.filter(data_keys::tenant.eq(tenant))).execute(engine)?;
    Ok(())
}
