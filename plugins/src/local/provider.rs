//! The provider's tasks.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use cooperage_domain::entity::ProviderType;
use cooperage_domain::health::Finding;
use cooperage_domain::task::TaskReport;
use serde_json::json;
use slog::info;
use tokio::time::Instant;

use super::LocalProvider;
use super::boot::last_words;
use super::fault::LocalError;
use super::making::{Step, USER};
use super::preflight::refuse_unless_usable;
use super::ready::{Login, Readiness, look};
use super::record::{Record, Stage, machine_id};
use super::{blocking::blocking, descriptor, namespace};
use crate::context::{Context, TaskFault};
use crate::output::Stream;
use crate::provider::{Machine, MachineState, PowerAction, Provider};

/// How often a machine that is coming up is looked at.
const POLL: Duration = Duration::from_millis(50);

#[async_trait]
impl Provider for LocalProvider {
    fn descriptor(&self) -> ProviderType {
        descriptor::descriptor()
    }

    async fn create(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        let usable = || refuse_unless_usable(&self.settings);
        self.usable.get_or_try_init(usable).await.map_err(|e| TaskFault::nothing_made(e.to_string()))?;
        let record = match self.make(&task.order, Step::Boot, &task.cancel).await {
            Ok(record) => record,
            // The record comes first, so without one there is nothing.
            Err(error) if !self.has_machine(task).await? => {
                return Err(TaskFault::nothing_made(error.to_string()));
            }
            Err(error) => return Err(error.into()),
        };
        info!(self.log, "machine made"; "machine" => &record.id, "node" => &record.node, "address" => %record.address);
        task.output.line(Stream::Progress, &format!("machine {} starts at {}", record.id, record.address));
        let identity = self.settings.identity.to_string_lossy();
        Ok(success(&json!({
            "providerid": record.id,
            "ssh-auth": {"user": USER, "identityfile": identity},
            "ssh_host_keys": {"ed25519": record.host_key},
        })))
    }

    async fn confirm(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        let id = self.id_of(task).await?;
        let Some(record) = self.record(&id).await? else {
            let fault = format!("is not there, for node {}", task.order.node_id);
            return Err(LocalError::machine(id, fault, "create it first").into());
        };
        let waited = tokio::select! {
            biased;
            () = task.cancel.cancelled() => Err(LocalError::Cancelled(record.id.clone())),
            waited = self.wait_until_ready(&record) => waited,
        };
        waited?;
        task.output.line(Stream::Progress, &format!("machine {} is up at {}", record.id, record.address));
        let address = record.address.to_string();
        let kinds = ["access_v4", "bind_v4"];
        let addresses: BTreeMap<_, _> = kinds.map(|kind| (kind.to_owned(), address.clone())).into();
        let keys = json!({"ssh_host_keys": {"ed25519": record.host_key}});
        Ok(TaskReport { ipaddresses: Some(addresses), ..success(&keys) })
    }

    async fn delete(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        self.remove(&task.order.node_id).await?;
        info!(self.log, "machine deleted"; "node" => task.order.node_id.as_str());
        Ok(TaskReport::success())
    }

    async fn probe(&self, task: &Context) -> Finding {
        self.examine(task).await.unwrap_or_else(|fault| Finding::Unknown(fault.to_string()))
    }

    async fn machines(&self) -> Result<Vec<Machine>, TaskFault> {
        let records = self.records.clone();
        let all = blocking(move || records.all()).await?;
        all.into_iter().map(|record| Ok(self.machine(record)?)).collect()
    }

    async fn power(&self, machine: &str, action: PowerAction) -> Result<(), TaskFault> {
        let known = self.records.clone();
        if !blocking(move || known.ids()).await?.iter().any(|id| id == machine) {
            let remedy = "name one that this provider lists";
            return Err(LocalError::machine(machine, "is not there", remedy).into());
        }
        let _lock = self.lock_machine(machine).await?;
        let record = self.record(machine).await?;
        let Some(mut record) = record.filter(|record| record.stage == Stage::Ready) else {
            let remedy = "create its node's machine again to finish it, or delete it";
            return Err(LocalError::machine(machine, "is only partly there", remedy).into());
        };
        if action != PowerAction::On {
            self.hierarchies()?.kill(machine).await?;
        }
        if action != PowerAction::Off {
            for step in Step::ALL {
                self.carry_out(step, &mut record).await?;
            }
        }
        info!(self.log, "machine switched"; "machine" => machine, "action" => format!("{action:?}"));
        Ok(())
    }
}

fn success(result: &serde_json::Value) -> TaskReport {
    let result = result.as_object().cloned().unwrap_or_default();
    TaskReport { result, ..TaskReport::success() }
}

impl LocalProvider {
    async fn id_of(&self, task: &Context) -> Result<String, LocalError> {
        Ok(machine_id(&self.installation().await?, task.order.node_id.as_str()))
    }

    async fn has_machine(&self, task: &Context) -> Result<bool, LocalError> {
        Ok(self.record(&self.id_of(task).await?).await?.is_some())
    }

    /// Looks at a machine without waiting for its lock: what is read is small, and written in one step.
    async fn examine(&self, task: &Context) -> Result<Finding, LocalError> {
        let id = self.id_of(task).await?;
        let Some(record) = self.record(&id).await? else {
            return Ok(Finding::Gone(format!("machine {id} is not on this host")));
        };
        if record.stage != Stage::Ready {
            return Ok(Finding::Down(format!("machine {id} is only partly there")));
        }
        if !self.hierarchies()?.runs(&id)? {
            let words = last_words(&self.records.directory(&id)).await;
            return Ok(Finding::Down(format!("machine {id} is off; its console says: {words}")));
        }
        if !namespace::path(&id).exists() {
            return Ok(Finding::Down(format!("the network of machine {id} is gone")));
        }
        Ok(Finding::Up)
    }

    fn machine(&self, record: Record) -> Result<Machine, LocalError> {
        let runs = self.hierarchies()?.runs(&record.id)?;
        let state = match record.stage {
            Stage::Making | Stage::Deleting => MachineState::Partial,
            Stage::Ready if runs => MachineState::On,
            Stage::Ready => MachineState::Off,
        };
        Ok(Machine { id: record.id, node: record.node, state })
    }

    async fn wait_until_ready(&self, record: &Record) -> Result<(), LocalError> {
        let login = Login {
            address: record.address,
            host_key: record.host_key.clone(),
            identity: self.identity().await?,
        };
        let directory = self.records.directory(&record.id);
        let failed = |fault: String, remedy: &str| LocalError::machine(&record.id, fault, remedy);
        let deadline = Instant::now() + self.settings.boot_timeout;
        loop {
            let why = match look(&login).await {
                Readiness::Ready => return Ok(()),
                Readiness::NotYet(why) => why,
                Readiness::Stranger => {
                    let fault =
                        format!("shows another host key at {} than the one it was given", record.address);
                    return Err(failed(
                        fault,
                        "see who answers there (ip neigh), then delete and create it again",
                    ));
                }
            };
            if !self.hierarchies()?.runs(&record.id)? {
                let fault = format!("is off; its console says: {}", last_words(&directory).await);
                return Err(failed(fault, "switch it on, or delete and create it again"));
            }
            if Instant::now() > deadline {
                let fault = format!("does not let us in after {:?}: {why}", self.settings.boot_timeout);
                return Err(failed(
                    fault,
                    "delete and create it again; when the host is busy, allow more time",
                ));
            }
            tokio::time::sleep(POLL).await;
        }
    }
}
