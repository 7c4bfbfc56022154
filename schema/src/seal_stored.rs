//! Secrets that are stored in clear, or as earlier releases sealed them: sealed at the start of the server.
//!
//! Each step is a transaction, and finds nothing any more when it has been done: it may break off anywhere, and be repeated.
//! What was overwritten is then scrubbed out of the database's files.

use cooperage_domain::entity::{Kind, ProviderType};
use cooperage_domain::id::ClusterId;
use cooperage_domain::secret_fields::{parameters_of, take, take_from_copies};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use serde_json::{Map, Value as Json};

use crate::counters;
use crate::engine::{Engine, Role};
use crate::error::StoreError;
use crate::keyring::Keyring;
use crate::projection::TERMINATED;
use crate::sealed_fields::seal_each;
use crate::store::Store;
use crate::tables::{clusters, counters as marks, entities, journal, secrets, snapshots};
use crate::vault;

/// Set once every journal has been looked through.
const JOURNALS_SEALED: &str = "secrets: journals sealed";
/// Set while files of the database may hold what was overwritten.
const TO_SCRUB: &str = "secrets: to scrub";
/// Part of every document with a copy of a provider.
const COPY: &str = "%\"provisioner\"%";

/// What was found in clear, or sealed as earlier releases did it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredSealed {
    /// Versions of providers.
    pub providers: u64,
    /// Clusters whose values were sealed anew.
    pub clusters: u64,
    /// Clusters whose journals held copies of providers in clear.
    pub journals: u64,
    /// Why what was overwritten could not be scrubbed out of the database's files; the next call tries again.
    pub unscrubbed: Option<StoreError>,
}

impl Store {
    /// Seals what is stored in clear, and gives how much there was. Waits for the database: the first time it looks through
    /// every journal, later only through the providers.
    ///
    /// # Errors
    /// When the key file is not the right one, or the database cannot be written; it may be called again.
    pub fn seal_stored(&self) -> Result<StoredSealed, StoreError> {
        let types: Vec<ProviderType> = self.entities("")?;
        let mut sealed = StoredSealed { clusters: self.seal_legacy_clusters()?, ..StoredSealed::default() };
        sealed.providers = self.seal_providers(&types)?;
        if !self.read(|engine| is_marked(engine, JOURNALS_SEALED))? {
            for cluster in self.read(clusters_with_journals)? {
                let (types, keyring) = (types.clone(), self.keyring());
                let changed = self.write(move |engine| seal_journal(engine, &keyring, &types, cluster))?;
                sealed.journals += u64::from(changed);
            }
            self.write(|engine| Ok(counters::raise(engine, JOURNALS_SEALED, 1)?))?;
        }
        if self.read(|engine| is_marked(engine, TO_SCRUB))? {
            // It needs as much room as the database has, and nobody else at work: the server does without it for now.
            sealed.unscrubbed = self.scrub().err();
            if sealed.unscrubbed.is_none() {
                self.write(|engine| Ok(diesel::delete(marks::table.find(TO_SCRUB)).execute(engine)?))?;
            }
        }
        Ok(sealed)
    }

    fn seal_legacy_clusters(&self) -> Result<u64, StoreError> {
        let legacy: Vec<i64> = self.read(|engine| {
            Ok(secrets::table.filter(secrets::tenant.is_null()).select(secrets::cluster).load(engine)?)
        })?;
        for id in &legacy {
            let (keyring, id) = (self.keyring(), ClusterId(id.cast_unsigned()));
            self.write(move |engine| {
                let values = vault::read(engine, &keyring, id)?;
                let (tenant, _) = tenant_of(engine, id)?;
                vault::put(engine, &keyring, &tenant, id, &values)
            })?;
        }
        Ok(legacy.len() as u64)
    }

    fn seal_providers(&self, types: &[ProviderType]) -> Result<u64, StoreError> {
        let all: Vec<(String, String, i64, String)> = self.read(|engine| {
            Ok(entities::table
                .filter(entities::kind.eq(Kind::Provider.plural()))
                .select((entities::tenant, entities::name, entities::version, entities::document))
                .load(engine)?)
        })?;
        let mut sealed = 0;
        for (tenant, name, version, document) in all {
            if secrets_in(types, &document).is_none() {
                continue;
            }
            let (types, keyring) = (types.to_vec(), self.keyring());
            self.write(move |engine| seal_provider(engine, &keyring, &types, (&tenant, &name, version)))?;
            sealed += 1;
        }
        Ok(sealed)
    }

    /// Overwrites what the database's files still hold of rows that are gone.
    fn scrub(&self) -> Result<(), StoreError> {
        let mut engine = Engine::open(self.url(), Role::Writer)?;
        match &mut engine {
            Engine::Sqlite(connection) => {
                connection.batch_execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")?;
            }
            #[cfg(feature = "postgres")]
            Engine::Postgres(connection) => {
                for table in ["entities", "journal", "snapshots", "secrets"] {
                    connection.batch_execute(&format!("VACUUM FULL {table}"))?;
                }
            }
        }
        Ok(())
    }
}

/// A provider's document without secrets, and those; `None` when there are none in clear.
fn secrets_in(types: &[ProviderType], document: &str) -> Option<(Json, Map<String, Json>)> {
    let mut document: Json = serde_json::from_str(document).ok()?;
    let kind = document["providertype"].as_str().unwrap_or_default().to_owned();
    let Some(Json::Object(values)) = document.get_mut("provisioner") else { return None };
    let taken = take(parameters_of(types, &kind), values);
    (!taken.is_empty()).then_some((document, taken))
}

fn seal_provider(
    engine: &mut Engine,
    keyring: &Keyring,
    types: &[ProviderType],
    (tenant, name, version): (&str, &str, i64),
) -> Result<(), StoreError> {
    let row = entities::table.find((tenant, Kind::Provider.plural(), name, version));
    let found: Option<(String, Option<String>)> =
        row.select((entities::document, entities::sealed)).first(engine).optional()?;
    let Some((document, sealed)) = found else { return Ok(()) };
    let Some((document, taken)) = secrets_in(types, &document) else { return Ok(()) };
    let before: Option<Map<String, Json>> = sealed.and_then(|sealed| serde_json::from_str(&sealed).ok());
    let mut sealed = before.unwrap_or_default();
    sealed.extend(seal_each(engine, keyring, tenant, name, &taken)?);
    diesel::update(row)
        .set((
            entities::document.eq(document.to_string()),
            entities::sealed.eq(Json::Object(sealed).to_string()),
        ))
        .execute(engine)?;
    counters::raise(engine, TO_SCRUB, 1)?;
    Ok(())
}

/// Takes secrets out of the copies of providers in a cluster's journal and snapshots, and keeps them with the cluster's
/// other secrets while it lives. Gives whether there were any.
fn seal_journal(
    engine: &mut Engine,
    keyring: &Keyring,
    types: &[ProviderType],
    cluster: ClusterId,
) -> Result<bool, StoreError> {
    let id = cluster.0.cast_signed();
    let events: Vec<(i64, String)> = journal::table
        .filter(journal::cluster.eq(id).and(journal::event.like(COPY)))
        .select((journal::sequence, journal::event))
        .load(engine)?;
    let states: Vec<(i64, String)> = snapshots::table
        .filter(snapshots::cluster.eq(id).and(snapshots::state.like(COPY)))
        .select((snapshots::sequence, snapshots::state))
        .load(engine)?;
    let mut taken = Map::new();
    for (sequence, event) in events {
        let Some(clean) = cleaned(types, &event, &mut taken)? else { continue };
        diesel::update(journal::table.find((id, sequence))).set(journal::event.eq(clean)).execute(engine)?;
    }
    for (sequence, state) in states {
        let Some(clean) = cleaned(types, &state, &mut taken)? else { continue };
        diesel::update(snapshots::table.find((id, sequence)))
            .set(snapshots::state.eq(clean))
            .execute(engine)?;
    }
    if taken.is_empty() {
        return Ok(false);
    }
    let (tenant, lives) = tenant_of(engine, cluster)?;
    if lives {
        let mut values = vault::read(engine, keyring, cluster)?;
        values.provider.extend(taken);
        vault::put(engine, keyring, &tenant, cluster, &values)?;
    }
    counters::raise(engine, TO_SCRUB, 1)?;
    Ok(true)
}

/// A document of a journal without the secrets in it, which are put into `taken`; `None` when there are none.
fn cleaned(
    types: &[ProviderType],
    text: &str,
    taken: &mut Map<String, Json>,
) -> Result<Option<String>, StoreError> {
    let mut document: Json = serde_json::from_str(text)
        .map_err(|_| StoreError::corrupt("an event or a snapshot", "it is no JSON"))?;
    let found = take_from_copies(types, &mut document);
    let clean = (!found.is_empty()).then(|| document.to_string());
    taken.extend(found);
    Ok(clean)
}

/// Whose a cluster is, and whether it lives. One without a row is only just coming into being.
fn tenant_of(engine: &mut Engine, cluster: ClusterId) -> QueryResult<(String, bool)> {
    let row: Option<(String, String)> = clusters::table
        .find(cluster.0.cast_signed())
        .select((clusters::tenant, clusters::status))
        .first(engine)
        .optional()?;
    Ok(row.map_or((String::new(), true), |(tenant, status)| (tenant, status != TERMINATED)))
}

fn clusters_with_journals(engine: &mut Engine) -> Result<Vec<ClusterId>, StoreError> {
    let ids: Vec<i64> = journal::table.select(journal::cluster).distinct().load(engine)?;
    Ok(ids.into_iter().map(|id| ClusterId(id.cast_unsigned())).collect())
}

fn is_marked(engine: &mut Engine, mark: &str) -> Result<bool, StoreError> {
    let found: Option<i64> = marks::table.find(mark).select(marks::value).first(engine).optional()?;
    Ok(found.is_some())
}
