//! A provider whose machines are SSH servers that are there already.

use std::collections::BTreeMap;

use async_trait::async_trait;
use cooperage_domain::entity::ProviderType;
use cooperage_domain::task::TaskReport;
use cooperage_plugins::{Context, Provider, TaskFault};
use serde_json::{Value, json};

use super::sshd::Doors;

/// Name of the provider type.
pub const PROVIDER_TYPE: &str = "bench";
/// Number of a cluster's first node.
pub const FIRST_NODE: u32 = 1000;

/// Answers at once. Node N gets the server and the key that its number comes to.
pub struct Machines(pub Doors);

#[async_trait]
impl Provider for Machines {
    fn descriptor(&self) -> ProviderType {
        let mut provider = ProviderType::default();
        provider.0.base.name = PROVIDER_TYPE.to_owned();
        provider
    }

    async fn create(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        let number = task.order.config.node.nodenum.saturating_sub(FIRST_NODE) as usize;
        let Doors { ports, identities, host_key, user } = &self.0;
        let (port, turn) = (ports[number % ports.len()], number / ports.len());
        let made = json!({
            "providerid": format!("{port}-{turn}"),
            "ssh-auth": {"user": user, "identityfile": identities[turn % identities.len()], "port": port},
            "ssh_host_keys": {"ed25519": host_key},
        });
        let Value::Object(result) = made else { return Err(TaskFault::new("no machine")) };
        Ok(TaskReport { result, ..TaskReport::success() })
    }

    async fn confirm(&self, _: &Context) -> Result<TaskReport, TaskFault> {
        let addresses = ["access_v4", "bind_v4"].map(|kind| (kind.to_owned(), "127.0.0.1".to_owned()));
        Ok(TaskReport { ipaddresses: Some(BTreeMap::from(addresses)), ..TaskReport::success() })
    }

    async fn delete(&self, _: &Context) -> Result<TaskReport, TaskFault> {
        Ok(TaskReport::success())
    }
}
