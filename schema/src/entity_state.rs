//! The state of an entity by which a writer shows what its change is based on, so that no change is lost unseen.

use cooperage_domain::entity::{Entity, Kind};
use sha2::{Digest, Sha256};

use crate::engine::Engine;
use crate::entities::{find_row, parse, scope};
use crate::error::StoreError;
use crate::sealed_fields;
use crate::store::Store;

/// Bytes of a document's hash that are part of its state: with the version before them enough.
const HASH_BYTES: usize = 8;

/// What must be there for a write to be done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Expected {
    /// Whatever there is.
    #[default]
    Anything,
    /// Something, in whatever state.
    Something,
    /// Nothing.
    Nothing,
    /// One of these states, as [`crate::Store::entity_with_state`] gives them.
    OneOf(Vec<String>),
}

impl Expected {
    /// Whether this is what there is.
    #[must_use]
    pub fn is_met_by(&self, state: Option<&str>) -> bool {
        match self {
            Self::Anything => true,
            Self::Something => state.is_some(),
            Self::Nothing => state.is_none(),
            Self::OneOf(states) => state.is_some_and(|state| states.iter().any(|one| one == state)),
        }
    }

    /// Refuses the write, inside the present transaction, when something else is there: as this version, or as the newest.
    pub(crate) fn check(
        &self,
        engine: &mut Engine,
        tenant: &str,
        kind: Kind,
        (name, version): (&str, Option<u64>),
    ) -> Result<(), StoreError> {
        if *self == Self::Anything {
            return Ok(());
        }
        let found = find_row(engine, scope(kind, tenant), kind, name, version)?;
        let now = found.map(|(version, json, sealed)| entity_state(version, &json, sealed.as_deref()));
        if self.is_met_by(now.as_deref()) {
            return Ok(());
        }
        Err(StoreError::Changed { what: kind.noun(), name: name.to_owned(), now })
    }
}

/// The state of an entity: its version, and a hash of its document, since an entity that is deleted and made again begins
/// with version 1 once more. Secrets count as they are sealed, so that nobody can try them out on the hash.
#[must_use]
pub(crate) fn entity_state(version: u64, document: &str, sealed: Option<&str>) -> String {
    let hash = Sha256::digest([document, sealed.unwrap_or_default()].concat().as_bytes());
    hash.iter().take(HASH_BYTES).fold(format!("{version}."), |text, byte| format!("{text}{byte:02x}"))
}

impl Store {
    /// As [`Self::entity`], with the state it is in.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn entity_with_state<E: Entity>(
        &self,
        tenant: &str,
        name: &str,
        version: Option<u64>,
    ) -> Result<Option<(E, String)>, StoreError> {
        let keyring = self.keyring();
        let found = self.read(|engine| {
            let tenant = scope(E::KIND, tenant);
            let Some((version, json, sealed)) = find_row(engine, tenant, E::KIND, name, version)? else {
                return Ok(None);
            };
            let state = entity_state(version, &json, sealed.as_deref());
            let json =
                sealed_fields::open(engine, &keyring, (tenant, E::KIND, name), json, sealed.as_deref())?;
            Ok(Some((version, json, state)))
        })?;
        let Some((version, json, state)) = found else { return Ok(None) };
        Ok(Some((parse(name, version, &json)?, state)))
    }
}
