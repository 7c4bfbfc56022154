//! A cluster from its journal.

use cooperage_domain::cluster::{self, EVENT_VERSION, Event};
use cooperage_domain::id::ClusterId;
use cooperage_schema::{Store, StoreError, Vault};

/// Why there is no such cluster to talk to.
#[derive(Debug, Clone, thiserror::Error)]
pub enum FindError {
    /// There is none.
    #[error("there is no cluster {0}")]
    Unknown(ClusterId),
    /// Its journal cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its journal makes no sense.
    #[error("the journal of cluster {0} cannot be read: {1}")]
    Unreadable(ClusterId, String),
}

/// A cluster as its journal says, and the number under which this server now owns it. Waits for the database.
pub(super) fn load(
    store: &Store,
    vault: &Vault,
    id: ClusterId,
) -> Result<(cluster::Cluster, u64), FindError> {
    store.cluster(id)?.ok_or(FindError::Unknown(id))?;
    let epoch = store.claim(id)?;
    // Its nodes give them to workers without waiting for the database.
    vault.values(id).map_err(|fault| FindError::Unreadable(id, fault.to_string()))?;
    Ok((read(store, id)?, epoch))
}

/// A cluster as its journal says, without taking it over. Waits for the database.
///
/// # Errors
/// When there is none, or its journal cannot be read.
pub fn read(store: &Store, id: ClusterId) -> Result<cluster::Cluster, FindError> {
    let unreadable = |fault: serde_json::Error| FindError::Unreadable(id, fault.to_string());
    let loaded = store.load(id)?;
    let snapshot = loaded.snapshot.map(|snapshot| serde_json::from_str(&snapshot.state));
    let mut state: Option<cluster::Cluster> = snapshot.transpose().map_err(unreadable)?;
    for stored in loaded.events {
        if stored.event.version > EVENT_VERSION {
            let fault = format!("event {} was written by a newer version of Cooperage", stored.sequence);
            return Err(FindError::Unreadable(id, fault));
        }
        let event: Event = serde_json::from_str(&stored.event.json).map_err(unreadable)?;
        cluster::apply(&mut state, &event);
    }
    state.ok_or(FindError::Unknown(id))
}
