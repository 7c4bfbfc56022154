//! Taking a machine apart, whole or half made, and switching it off.

use cooperage_domain::id::NodeId;

use super::LocalProvider;
use super::blocking::blocking;
use super::bridge::Bridges;
use super::fault::LocalError;
use super::namespace;
use super::overlay::Disk;
use super::record::{Stage, machine_id};
use super::reservation::lock_host;

impl LocalProvider {
    /// Gives back the machine of a node, with all that was added to the host for it. Succeeds when there is none.
    ///
    /// # Errors
    /// When something is left; it can be given again.
    pub async fn remove(&self, node: &NodeId) -> Result<(), LocalError> {
        let id = machine_id(&self.installation().await?, node.as_str());
        let lock = self.lock_machine(&id).await?;
        self.unmake(&id).await?;
        lock.remove()
    }

    /// The caller holds the machine's lock.
    ///
    /// Everything a machine has is found by its id, so it goes even if its record is lost or damaged.
    pub(super) async fn unmake(&self, id: &str) -> Result<(), LocalError> {
        let record = match self.record(id).await {
            Err(LocalError::Refused(_)) => None,
            read => read?,
        };
        if let Some(mut doomed) = record {
            let records = self.records.clone();
            blocking(move || records.set_stage(&mut doomed, Stage::Deleting)).await?;
        }
        let hierarchies = self.hierarchies()?;
        hierarchies.kill(id).await?;
        Disk::new(&self.records.directory(id)).unmount().await?;
        namespace::remove(id).await?;
        hierarchies.remove(id).await?;
        let (records, gone) = (self.records.clone(), id.to_owned());
        blocking(move || records.remove(&gone)).await?;
        self.leave_bridges().await
    }

    /// The last machine takes its bridge with it.
    async fn leave_bridges(&self) -> Result<(), LocalError> {
        let _lock = lock_host().await?;
        let records = self.records.clone();
        let all = blocking(move || records.all()).await?;
        Bridges { owner: &self.settings.state_dir }
            .retire_all_but(|bridge| all.iter().any(|record| record.bridge == bridge))
            .await
    }
}
