//! The provider of simulated machines.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use async_trait::async_trait;
use cooperage_domain::entity::{Base, FieldSchema, ParameterSet, Parameters, PluginType, ProviderType};
use cooperage_domain::health::Finding;
use cooperage_domain::task::TaskReport;
use serde_json::{Map, Value};

use super::SIMULATED_TYPE;
use super::execution::execute;
use super::health::health;
use crate::context::{Context, TaskFault};
use crate::provider::{Machine, MachineState, Provider};

/// The one field of the provider type, which is required.
const ACCOUNT: &str = "account";

/// Makes machines that are directories.
#[derive(Debug, Clone)]
pub struct SimulatedProvider {
    directory: PathBuf,
}

impl SimulatedProvider {
    /// Keeps everything in `directory`, which is made when the first task comes.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }
}

#[async_trait]
impl Provider for SimulatedProvider {
    fn descriptor(&self) -> ProviderType {
        let account = FieldSchema {
            label: "Account".to_owned(),
            kind: "text".to_owned(),
            tip: "Any text; it is there so that something can be missing".to_owned(),
            options: None,
            default: None,
            overridable: false,
            sensitive: false,
        };
        let mut descriptor = descriptor("Machines that are directories, for tests");
        // Whoever gives it, the administrator or the user, somebody must.
        let required = ParameterSet {
            fields: [(ACCOUNT.to_owned(), account)].into(),
            required: vec![[ACCOUNT.to_owned()].into()],
        };
        descriptor.parameters = Parameters { admin: required.clone(), user: required };
        ProviderType(descriptor)
    }

    async fn create(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        execute(&self.directory, task).await?;
        let machine = Value::from(format!("simulated-{}", task.order.node_id));
        let result = Map::from_iter([("providerid".to_owned(), machine)]);
        Ok(TaskReport { result, ..TaskReport::success() })
    }

    async fn confirm(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        execute(&self.directory, task).await?;
        // Addresses of the range that is set aside for examples: nobody ever answers there.
        let number = task.order.config.node.nodenum % 254 + 1;
        let address = format!("192.0.2.{number}");
        let addresses: BTreeMap<_, _> =
            ["access_v4", "bind_v4"].map(|kind| (kind.to_owned(), address.clone())).into();
        Ok(TaskReport { ipaddresses: Some(addresses), ..TaskReport::success() })
    }

    async fn delete(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        execute(&self.directory, task).await?;
        Ok(TaskReport::success())
    }

    async fn probe(&self, task: &Context) -> Finding {
        health(&self.directory, &task.order.node_id, None)
    }

    async fn machines(&self) -> Result<Vec<Machine>, TaskFault> {
        let entries = match std::fs::read_dir(self.directory.join("machines")) {
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|fault| TaskFault::new(fault.to_string()))?,
        };
        let nodes = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let machine = |node| Machine { id: format!("simulated-{node}"), node, state: MachineState::On };
        Ok(nodes.map(machine).collect())
    }
}

/// A plugin type without fields.
pub(super) fn descriptor(description: &str) -> PluginType {
    PluginType {
        base: Base {
            name: SIMULATED_TYPE.to_owned(),
            label: Some("Simulated".to_owned()),
            description: Some(description.to_owned()),
            ..Base::default()
        },
        ..PluginType::default()
    }
}
