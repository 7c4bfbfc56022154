//! The entities operators describe, in all their versions.
//!
//! Versions count from 1 for each name. A new one is one above the highest that is there, so the number of a deleted newest
//! version is given again. Provider types and automator types are global: they are the same for every tenant.
//!
//! Secrets of providers lie sealed beside their documents; whoever asks the store gets them in their places.

use std::fmt;

use cooperage_domain::entity::{Entity, Kind};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};

use crate::engine::Engine;
use crate::entity_state::Expected;
use crate::error::StoreError;
use crate::keyring::Keyring;
use crate::sealed_fields;
use crate::sql::{Statement, Value};
use crate::store::Store;
use crate::tables::entities;

/// An entity whose type is only known as its kind: checked, and ready to be stored.
#[derive(Clone, PartialEq, Eq)]
pub struct Document {
    kind: Kind,
    name: String,
    json: String,
}

/// Names it and does not show it: it may hold secrets.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Document({} {:?})", self.kind.noun(), self.name)
    }
}

impl Document {
    /// The document of an entity, without a version.
    ///
    /// # Errors
    /// The first rule of its kind that does not hold.
    pub fn new<E: Entity>(mut entity: E) -> Result<Self, StoreError> {
        entity.check()?;
        entity.base_mut().version = None;
        let json = serde_json::to_string(&entity)
            .map_err(|fault| StoreError::corrupt(format!("a {}", E::KIND.noun()), fault))?;
        Ok(Self { kind: E::KIND, name: entity.base().name.clone(), json })
    }

    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The entity, as JSON.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }
}

/// What storing an entity came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// There was none of this name; it has this version.
    Created(u64),
    /// It differs from the newest version, and has this one.
    Changed(u64),
    /// It is the same as the newest version, which is this one.
    Unchanged(u64),
}

impl Put {
    /// The version that is now the newest.
    #[must_use]
    pub const fn version(self) -> u64 {
        match self {
            Self::Created(version) | Self::Changed(version) | Self::Unchanged(version) => version,
        }
    }
}

const NEWEST_OF_KIND: &str = "SELECT e.name, e.version, e.document, e.sealed FROM entities e \
    WHERE e.tenant = ? AND e.kind = ? AND e.version = (SELECT max(n.version) FROM entities n \
        WHERE n.tenant = e.tenant AND n.kind = e.kind AND n.name = e.name)";

const NEWEST_OF_NAME: &str = "SELECT version, document, sealed FROM entities \
    WHERE tenant = ? AND kind = ? AND name = ? AND (version = ? OR ? IS NULL) ORDER BY version DESC LIMIT 1";

/// Under which tenant a kind is stored for a tenant.
pub(crate) const fn scope(kind: Kind, tenant: &str) -> &str {
    match kind {
        Kind::ProviderType | Kind::AutomatorType => "",
        _ => tenant,
    }
}

fn newest_of_kind(
    engine: &mut Engine,
    keyring: &Keyring,
    tenant: &str,
    kind: Kind,
) -> Result<Vec<(String, u64, String)>, StoreError> {
    let tenant = scope(kind, tenant);
    let values = [Value::text(tenant), Value::text(kind.plural())];
    let mut rows: Vec<(String, i64, String, Option<String>)> =
        Statement::<_, (Text, BigInt, Text, Nullable<Text>)>::new(NEWEST_OF_KIND, &values).load(engine)?;
    // Sorted here, since the order of text in the database depends on how it was set up.
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    let open = |(name, version, json, sealed): (String, i64, String, Option<String>)| {
        let json = sealed_fields::open(engine, keyring, (tenant, kind, &name), json, sealed.as_deref())?;
        Ok((name, version.cast_unsigned(), json))
    };
    rows.into_iter().map(open).collect()
}

/// One version, or the newest when none is named.
fn find(
    engine: &mut Engine,
    keyring: &Keyring,
    (tenant, kind, name): (&str, Kind, &str),
    version: Option<u64>,
) -> Result<Option<(u64, String)>, StoreError> {
    let tenant = scope(kind, tenant);
    let Some((version, json, sealed)) = find_row(engine, tenant, kind, name, version)? else {
        return Ok(None);
    };
    let json = sealed_fields::open(engine, keyring, (tenant, kind, name), json, sealed.as_deref())?;
    Ok(Some((version, json)))
}

/// The newest version of something that is common to all tenants and holds no secrets.
pub(crate) fn find_clear(engine: &mut Engine, kind: Kind, name: &str) -> QueryResult<Option<String>> {
    Ok(find_row(engine, scope(kind, ""), kind, name, None)?.map(|(_, json, _)| json))
}

/// One version, or the newest when none is named: its number, its document with masks, and its secrets, sealed.
pub(crate) fn find_row(
    engine: &mut Engine,
    tenant: &str,
    kind: Kind,
    name: &str,
    version: Option<u64>,
) -> QueryResult<Option<(u64, String, Option<String>)>> {
    let version = Value::Int(version.map(u64::cast_signed));
    let values =
        [Value::text(tenant), Value::text(kind.plural()), Value::text(name), version.clone(), version];
    let row: Option<(i64, String, Option<String>)> =
        Statement::<_, (BigInt, Text, Nullable<Text>)>::new(NEWEST_OF_NAME, &values)
            .get_result(engine)
            .optional()?;
    Ok(row.map(|(version, json, sealed)| (version.cast_unsigned(), json, sealed)))
}

fn insert(
    engine: &mut Engine,
    keyring: &Keyring,
    tenant: &str,
    document: &Document,
    version: u64,
    at_ms: i64,
) -> Result<(), StoreError> {
    let tenant = scope(document.kind, tenant);
    let stored = sealed_fields::seal(engine, keyring, tenant, document)?;
    diesel::insert_into(entities::table)
        .values((
            entities::tenant.eq(tenant),
            entities::kind.eq(document.kind.plural()),
            entities::name.eq(&document.name),
            entities::version.eq(version.cast_signed()),
            entities::document.eq(stored.json),
            entities::created_ms.eq(at_ms),
            entities::sealed.eq(stored.sealed),
        ))
        .execute(engine)?;
    Ok(())
}

/// Gives one tenant the newest version of everything another describes, as first versions. Secrets are sealed anew for it.
pub(crate) fn copy(
    engine: &mut Engine,
    keyring: &Keyring,
    from: &str,
    to: &str,
    at_ms: i64,
) -> Result<(), StoreError> {
    for kind in Kind::OWNED {
        for (name, _, json) in newest_of_kind(engine, keyring, from, kind)? {
            insert(engine, keyring, to, &Document { kind, name, json }, 1, at_ms)?;
        }
    }
    Ok(())
}

/// Removes everything a tenant describes, in all versions.
pub(crate) fn clear(engine: &mut Engine, tenant: &str) -> QueryResult<()> {
    diesel::delete(entities::table.filter(entities::tenant.eq(tenant))).execute(engine)?;
    Ok(())
}

fn put_changed(
    engine: &mut Engine,
    keyring: &Keyring,
    tenant: &str,
    document: &Document,
    at_ms: i64,
) -> Result<Put, StoreError> {
    let put = match find(engine, keyring, (tenant, document.kind, &document.name), None)? {
        None => Put::Created(1),
        Some((version, json)) if is_same(&json, &document.json) => return Ok(Put::Unchanged(version)),
        Some((version, _)) => Put::Changed(version + 1),
    };
    insert(engine, keyring, tenant, document, put.version(), at_ms)?;
    Ok(put)
}

/// Whether two documents say the same; the order of keys means nothing.
fn is_same(a: &str, b: &str) -> bool {
    let value = |json| serde_json::from_str::<serde_json::Value>(json).ok();
    a == b || value(a).is_some_and(|a| Some(a) == value(b))
}

pub(crate) fn parse<E: Entity>(name: &str, version: u64, json: &str) -> Result<E, StoreError> {
    let mut entity: E = serde_json::from_str(json).map_err(|fault| {
        StoreError::corrupt(format!("{} {name:?} version {version}", E::KIND.noun()), fault)
    })?;
    entity.base_mut().version = Some(version);
    Ok(entity)
}

impl Store {
    /// The newest version of each entity of a kind, by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn entities<E: Entity>(&self, tenant: &str) -> Result<Vec<E>, StoreError> {
        let rows = self.read(|engine| newest_of_kind(engine, &self.keyring(), tenant, E::KIND))?;
        rows.iter().map(|(name, version, json)| parse(name, *version, json)).collect()
    }

    /// The same without its type, to copy or export.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn documents(&self, tenant: &str, kind: Kind) -> Result<Vec<Document>, StoreError> {
        let rows = self.read(|engine| newest_of_kind(engine, &self.keyring(), tenant, kind))?;
        Ok(rows.into_iter().map(|(name, _, json)| Document { kind, name, json }).collect())
    }

    /// One entity: the newest version, or the one asked for.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn entity<E: Entity>(
        &self,
        tenant: &str,
        name: &str,
        version: Option<u64>,
    ) -> Result<Option<E>, StoreError> {
        let row = self.read(|engine| find(engine, &self.keyring(), (tenant, E::KIND, name), version))?;
        row.map(|(version, json)| parse(name, version, &json)).transpose()
    }

    /// Stores the first version of an entity.
    ///
    /// # Errors
    /// [`StoreError::AlreadyExists`] when there is one of its name, [`StoreError::Invalid`] when a rule of its kind does not
    /// hold, or when the database cannot be written.
    pub fn create_entity<E: Entity>(&self, tenant: &str, entity: E, at_ms: i64) -> Result<(), StoreError> {
        let (tenant, document, keyring) = (tenant.to_owned(), Document::new(entity)?, self.keyring());
        self.write(move |engine| {
            if find_row(engine, scope(document.kind, &tenant), document.kind, &document.name, None)?.is_some()
            {
                return Err(StoreError::AlreadyExists { what: document.kind.noun(), name: document.name });
            }
            insert(engine, &keyring, &tenant, &document, 1, at_ms)
        })
    }

    /// Stores a new version of an entity, even when it is the same as the newest, and gives its number.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] when a rule of its kind does not hold, or when the database cannot be written.
    pub fn put_entity<E: Entity>(&self, tenant: &str, entity: E, at_ms: i64) -> Result<u64, StoreError> {
        self.put_entity_expecting(tenant, entity, at_ms, Expected::Anything)
    }

    /// As [`Self::put_entity`], when what is there is what is expected.
    ///
    /// # Errors
    /// Also [`StoreError::Changed`].
    pub fn put_entity_expecting<E: Entity>(
        &self,
        tenant: &str,
        entity: E,
        at_ms: i64,
        expected: Expected,
    ) -> Result<u64, StoreError> {
        let (tenant, document, keyring) = (tenant.to_owned(), Document::new(entity)?, self.keyring());
        self.write(move |engine| {
            expected.check(engine, &tenant, document.kind, (&document.name, None))?;
            let scope = scope(document.kind, &tenant);
            let newest = find_row(engine, scope, document.kind, &document.name, None)?;
            let version = newest.map_or(0, |(version, ..)| version) + 1;
            insert(engine, &keyring, &tenant, &document, version, at_ms)?;
            Ok(version)
        })
    }

    /// Stores those of the documents that differ from what is there: all of them or, after a fault, none. One result each, in
    /// their order.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_entities(
        &self,
        tenant: &str,
        documents: Vec<Document>,
        at_ms: i64,
    ) -> Result<Vec<Put>, StoreError> {
        let (tenant, keyring) = (tenant.to_owned(), self.keyring());
        self.write(move |engine| {
            let put = |document| put_changed(engine, &keyring, &tenant, document, at_ms);
            documents.iter().map(put).collect()
        })
    }

    /// Removes everything the tenant describes, in all versions, and stores the documents instead, as first versions: all of
    /// it or, after a fault, nothing.
    ///
    /// # Errors
    /// [`StoreError::AlreadyExists`] when two documents of a kind have one name, or when the database cannot be written.
    pub fn replace_entities(
        &self,
        tenant: &str,
        documents: Vec<Document>,
        at_ms: i64,
    ) -> Result<(), StoreError> {
        let (tenant, keyring) = (tenant.to_owned(), self.keyring());
        self.write(move |engine| {
            clear(engine, &tenant)?;
            for document in documents {
                if find_row(engine, scope(document.kind, &tenant), document.kind, &document.name, None)?
                    .is_some()
                {
                    return Err(StoreError::AlreadyExists {
                        what: document.kind.noun(),
                        name: document.name,
                    });
                }
                insert(engine, &keyring, &tenant, &document, 1, at_ms)?;
            }
            Ok(())
        })
    }

    /// Removes one version of an entity, or all of them, and gives how many there were.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn delete_entity(
        &self,
        tenant: &str,
        kind: Kind,
        name: &str,
        version: Option<u64>,
    ) -> Result<usize, StoreError> {
        self.delete_entity_expecting(tenant, kind, name, version, Expected::Anything)
    }

    /// As [`Self::delete_entity`], when what is there is what is expected.
    ///
    /// # Errors
    /// Also [`StoreError::Changed`].
    pub fn delete_entity_expecting(
        &self,
        tenant: &str,
        kind: Kind,
        name: &str,
        version: Option<u64>,
        expected: Expected,
    ) -> Result<usize, StoreError> {
        let (tenant, name) = (scope(kind, tenant).to_owned(), name.to_owned());
        self.write(move |engine| {
            expected.check(engine, &tenant, kind, (&name, version))?;
            let named = entities::table
                .filter(entities::tenant.eq(&tenant))
                .filter(entities::kind.eq(kind.plural()))
                .filter(entities::name.eq(&name));
            Ok(match version {
                None => diesel::delete(named).execute(engine)?,
                Some(version) => {
                    let one = named.filter(entities::version.eq(version.cast_signed()));
                    diesel::delete(one).execute(engine)?
                }
            })
        })
    }

    /// Numbers of the versions of an entity, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn entity_versions(&self, tenant: &str, kind: Kind, name: &str) -> Result<Vec<u64>, StoreError> {
        let versions: Vec<i64> = self.read(|engine| {
            Ok(entities::table
                .filter(entities::tenant.eq(scope(kind, tenant)))
                .filter(entities::kind.eq(kind.plural()))
                .filter(entities::name.eq(name))
                .order(entities::version)
                .select(entities::version)
                .load(engine)?)
        })?;
        Ok(versions.into_iter().map(i64::cast_unsigned).collect())
    }
}
