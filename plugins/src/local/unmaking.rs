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
    /// What the host has by the machine's name goes even if there is no record, as when the record was lost.
    pub(super) async fn unmake(&self, id: &str) -> Result<(), LocalError> {
        let mut record = self.record(id).await?;
        if let Some(record) = &mut record {
            let (records, mut doomed) = (self.records.clone(), record.clone());
            blocking(move || records.set_stage(&mut doomed, Stage::Deleting)).await?;
        }
        let hierarchies = self.hierarchies()?;
        hierarchies.kill(id).await?;
        Disk::new(&self.records.directory(id)).unmount().await?;
        namespace::remove(id).await?;
        hierarchies.remove(id).await?;
        let (records, gone) = (self.records.clone(), id.to_owned());
        blocking(move || records.remove(&gone)).await?;
        match record {
            Some(record) => self.leave_bridge(&record.bridge).await,
            None => Ok(()),
        }
    }

    /// The last machine takes the bridge with it.
    async fn leave_bridge(&self, bridge: &str) -> Result<(), LocalError> {
        let _lock = lock_host().await?;
        let records = self.records.clone();
        let all = blocking(move || records.all()).await?;
        if all.iter().any(|record| record.bridge == bridge) {
            return Ok(());
        }
        Bridges { owner: &self.settings.state_dir }.retire(bridge).await
    }
}
