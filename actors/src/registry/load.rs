//! A cluster from its journal.

use cooperage_domain::cluster::{self, EVENT_VERSION, Event};
use cooperage_domain::id::ClusterId;
use cooperage_schema::{RecordedEvent, Store, StoreError, Vault};

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
    read_at(store, id, u64::MAX)
}

/// How many events are read at once: a journal may be longer than what should be held in memory.
const PAGE: u32 = 1_000;

/// A cluster as it was after the event numbered `last`, from the newest snapshot before it. Waits for the database.
///
/// # Errors
/// When there was none, or its journal cannot be read.
pub fn read_at(store: &Store, id: ClusterId, last: u64) -> Result<cluster::Cluster, FindError> {
    let unreadable = |fault: serde_json::Error| FindError::Unreadable(id, fault.to_string());
    let snapshot = store.snapshot_until(id, last)?;
    let mut next = snapshot.as_ref().map_or(1, |snapshot| snapshot.sequence + 1);
    let state = snapshot.map(|snapshot| serde_json::from_str(&snapshot.state));
    let mut state: Option<cluster::Cluster> = state.transpose().map_err(unreadable)?;
    while next <= last {
        let limit = PAGE.min(u32::try_from(last - next).unwrap_or(PAGE).saturating_add(1));
        let page = store.events(id, next, limit)?;
        for stored in &page {
            cluster::apply(&mut state, &event(id, stored)?);
        }
        next += page.len() as u64;
        if page.len() < limit as usize {
            break;
        }
    }
    state.ok_or(FindError::Unknown(id))
}

/// What a stored event says.
///
/// # Errors
/// When it was written by a newer version, or makes no sense.
pub fn event(id: ClusterId, stored: &RecordedEvent) -> Result<Event, FindError> {
    if stored.event.version > EVENT_VERSION {
        let fault = format!("event {} was written by a newer version of Cooperage", stored.sequence);
        return Err(FindError::Unreadable(id, fault));
    }
    let read = serde_json::from_str(&stored.event.json);
    read.map_err(|fault| FindError::Unreadable(id, format!("event {}: {fault}", stored.sequence)))
}
