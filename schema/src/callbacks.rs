//! Hooks that tenants made. The secrets that sign their calls are sealed.

use std::collections::BTreeSet;
use std::str::FromStr;

use cooperage_domain::callback::{self, Hook, HookEvent, OnError};
use cooperage_domain::invalid::Invalid;
use cooperage_domain::plan::ClusterAction;
use diesel::prelude::*;
use zeroize::Zeroizing;

use crate::deliveries;
use crate::engine::Engine;
use crate::error::StoreError;
use crate::keyring::Place;
use crate::store::Store;
use crate::tables::callbacks;

/// What secrets of hooks are called where they are bound to their place.
const KIND: &str = "callbacks";
/// A hook has one.
const FIELD: &str = "secret";

/// A hook of a tenant, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredHook {
    /// The hook.
    pub hook: Hook,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// Who made it.
    pub created_by: String,
}

/// What changes of a hook; `None` stays.
#[derive(Clone, Default)]
pub struct HookChange {
    /// Another target.
    pub url: Option<String>,
    /// Other events.
    pub events: Option<BTreeSet<HookEvent>>,
    /// Other kinds of jobs.
    pub actions: Option<BTreeSet<ClusterAction>>,
    /// Another limit of time, in ms.
    pub timeout: Option<u32>,
    /// Something else to do when it cannot be asked.
    pub on_error: Option<OnError>,
    /// Another secret.
    pub secret: Option<Zeroizing<String>>,
}

type Columns = (String, String, String, String, String, String, i64, String, Option<String>, i64, String);

fn words<T: ToString>(words: &BTreeSet<T>) -> String {
    words.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn stored(columns: Columns) -> Result<StoredHook, StoreError> {
    let (id, tenant, name, url, events, actions, timeout_ms, on_error, _, created_ms, created_by) = columns;
    let unreadable = |fault: Invalid| StoreError::Unreadable { what: "callback", cause: fault.to_string() };
    let events = events.split_whitespace().map(HookEvent::from_str).collect::<Result<_, _>>();
    let actions = actions.split_whitespace().map(callback::action).collect::<Result<_, _>>();
    let hook = Hook {
        id,
        tenant: Some(tenant),
        name,
        url,
        events: events.map_err(unreadable)?,
        actions: actions.map_err(unreadable)?,
        timeout: u32::try_from(timeout_ms)
            .map_err(|_| StoreError::corrupt("column callbacks.timeout_ms", timeout_ms))?,
        on_error: on_error.parse().map_err(unreadable)?,
    };
    Ok(StoredHook { hook, created_ms, created_by })
}

fn place<'a>(tenant: &'a str, id: &'a str) -> Place<'a> {
    Place { tenant, kind: KIND, name: id, field: FIELD }
}

/// Removes all hooks of a tenant, inside the present transaction.
pub(crate) fn clear(engine: &mut Engine, tenant: &str) -> QueryResult<()> {
    let mine = callbacks::table.filter(callbacks::tenant.eq(tenant));
    let ids: Vec<String> = mine.select(callbacks::id).load(engine)?;
    for id in ids {
        deliveries::forget_of_hook(engine, &id)?;
    }
    diesel::delete(mine).execute(engine)?;
    Ok(())
}

fn find(engine: &mut Engine, tenant: &str, name: &str) -> Result<Option<Columns>, StoreError> {
    let mine = callbacks::table.filter(callbacks::tenant.eq(tenant)).filter(callbacks::name.eq(name));
    Ok(mine.first(engine).optional()?)
}

impl Store {
    /// The hooks of a tenant, or of all, by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn hooks(&self, tenant: Option<&str>) -> Result<Vec<StoredHook>, StoreError> {
        let rows: Vec<Columns> = self.read(|engine| {
            let mut query = callbacks::table.into_boxed::<<Engine as Connection>::Backend>();
            if let Some(tenant) = tenant {
                query = query.filter(callbacks::tenant.eq(tenant));
            }
            Ok(query.order((callbacks::tenant, callbacks::name)).load(engine)?)
        })?;
        rows.into_iter().map(stored).collect()
    }

    /// A hook of a tenant.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn hook(&self, tenant: &str, name: &str) -> Result<Option<StoredHook>, StoreError> {
        self.read(|engine| find(engine, tenant, name))?.map(stored).transpose()
    }

    /// The secret that signs the calls of a hook.
    ///
    /// # Errors
    /// When the database cannot be read, or the secret not be opened.
    pub fn hook_secret(&self, tenant: &str, id: &str) -> Result<Option<Zeroizing<String>>, StoreError> {
        let keyring = self.keyring();
        self.read(|engine| {
            let sealed: Option<Option<String>> =
                callbacks::table.find(id).select(callbacks::sealed).first(engine).optional()?;
            let sealed = sealed.flatten();
            sealed.map(|sealed| keyring.open(engine, place(tenant, id), &sealed)).transpose()
        })
    }

    /// Stores a new hook of a tenant with its secret.
    ///
    /// # Errors
    /// [`StoreError::AlreadyExists`], or when the database cannot be written.
    pub fn add_hook(&self, stored: StoredHook, secret: Zeroizing<String>) -> Result<(), StoreError> {
        let keyring = self.keyring();
        self.write(move |engine| {
            let StoredHook { hook, created_ms, created_by } = stored;
            let tenant = hook.tenant.unwrap_or_default();
            if find(engine, &tenant, &hook.name)?.is_some() {
                return Err(StoreError::AlreadyExists { what: "callback", name: hook.name });
            }
            let sealed = keyring.seal(engine, place(&tenant, &hook.id), &secret)?;
            diesel::insert_into(callbacks::table)
                .values((
                    callbacks::id.eq(&hook.id),
                    callbacks::tenant.eq(&tenant),
                    callbacks::name.eq(&hook.name),
                    callbacks::url.eq(&hook.url),
                    callbacks::events.eq(words(&hook.events)),
                    callbacks::actions.eq(words(&hook.actions)),
                    callbacks::timeout_ms.eq(i64::from(hook.timeout)),
                    callbacks::on_error.eq(hook.on_error.as_str()),
                    callbacks::sealed.eq(sealed),
                    callbacks::created_ms.eq(created_ms),
                    callbacks::created_by.eq(created_by),
                ))
                .execute(engine)?;
            Ok(())
        })
    }

    /// Changes a hook of a tenant, and gives it as it is then.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], or when the database cannot be written.
    pub fn change_hook(
        &self,
        tenant: &str,
        name: &str,
        change: HookChange,
    ) -> Result<StoredHook, StoreError> {
        let (tenant, name, keyring) = (tenant.to_owned(), name.to_owned(), self.keyring());
        self.write(move |engine| {
            let missing = || StoreError::NotFound { what: "callback", name: name.clone() };
            let mut found = stored(find(engine, &tenant, &name)?.ok_or_else(missing)?)?;
            let hook = &mut found.hook;
            hook.url = change.url.unwrap_or_else(|| hook.url.clone());
            hook.events = change.events.unwrap_or_else(|| hook.events.clone());
            hook.actions = change.actions.unwrap_or_else(|| hook.actions.clone());
            hook.timeout = change.timeout.unwrap_or(hook.timeout);
            hook.on_error = change.on_error.unwrap_or(hook.on_error);
            let one = callbacks::table.find(&hook.id);
            diesel::update(one)
                .set((
                    callbacks::url.eq(&hook.url),
                    callbacks::events.eq(words(&hook.events)),
                    callbacks::actions.eq(words(&hook.actions)),
                    callbacks::timeout_ms.eq(i64::from(hook.timeout)),
                    callbacks::on_error.eq(hook.on_error.as_str()),
                ))
                .execute(engine)?;
            if let Some(secret) = &change.secret {
                let sealed = keyring.seal(engine, place(&tenant, &hook.id), secret)?;
                diesel::update(one).set(callbacks::sealed.eq(sealed)).execute(engine)?;
            }
            Ok(found)
        })
    }

    /// Removes a hook of a tenant with the record of its calls; those that wait are not made. Gives whether there was one.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn delete_hook(&self, tenant: &str, name: &str) -> Result<bool, StoreError> {
        let (tenant, name) = (tenant.to_owned(), name.to_owned());
        self.write(move |engine| {
            let Some(found) = find(engine, &tenant, &name)? else { return Ok(false) };
            deliveries::forget_of_hook(engine, &found.0)?;
            diesel::delete(callbacks::table.find(found.0)).execute(engine)?;
            Ok(true)
        })
    }
}
