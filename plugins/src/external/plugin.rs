//! The two traits, carried out by a program.

use std::sync::Arc;

use async_trait::async_trait;
use cooperage_domain::entity::{AutomatorType, ProviderType, ServiceAction};
use cooperage_domain::health::Finding;
use cooperage_domain::task::TaskReport;
use serde_json::Value;

use super::descriptor::Declared;
use super::health::finding;
use super::host::PluginHost;
use crate::automator::Automator;
use crate::context::{Context, GENERAL_FAILURE, TaskFault};
use crate::provider::Provider;

/// A provider that is a program.
pub struct ExternalProvider {
    host: Arc<PluginHost>,
    declared: Declared,
}

impl ExternalProvider {
    /// Runs what was declared on a host.
    #[must_use]
    pub const fn new(host: Arc<PluginHost>, declared: Declared) -> Self {
        Self { host, declared }
    }
}

#[async_trait]
impl Provider for ExternalProvider {
    fn descriptor(&self) -> ProviderType {
        ProviderType(self.declared.plugin_type.clone())
    }

    async fn create(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        let mut report = self.host.carry_out(&self.declared, task).await?;
        // A machine that took the server's key is logged in to with it.
        if let Some(Value::Object(auth)) = report.result.get_mut("ssh-auth")
            && !auth.contains_key("identityfile")
            && !auth.contains_key("password")
        {
            auth.insert("identityfile".to_owned(), self.host.identity.to_string_lossy().into());
        }
        Ok(report)
    }

    async fn confirm(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        self.host.carry_out(&self.declared, task).await
    }

    async fn delete(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        self.host.carry_out(&self.declared, task).await
    }

    async fn probe(&self, task: &Context) -> Finding {
        probe(&self.host, &self.declared, task).await
    }
}

/// An automator that is a program.
pub struct ExternalAutomator {
    host: Arc<PluginHost>,
    declared: Declared,
}

impl ExternalAutomator {
    /// Runs what was declared on a host.
    #[must_use]
    pub const fn new(host: Arc<PluginHost>, declared: Declared) -> Self {
        Self { host, declared }
    }
}

#[async_trait]
impl Automator for ExternalAutomator {
    fn descriptor(&self) -> AutomatorType {
        AutomatorType(self.declared.plugin_type.clone())
    }

    async fn bootstrap(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        self.host.carry_out(&self.declared, task).await
    }

    async fn act(&self, _: ServiceAction, task: &Context) -> Result<TaskReport, TaskFault> {
        self.host.carry_out(&self.declared, task).await
    }

    /// As a task of a job it is carried out like any other, whether or not the program says more than how it ended.
    async fn probe(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        if task.order.task_id.number > 0 && !self.declared.probes {
            return self.host.carry_out(&self.declared, task).await;
        }
        match probe(&self.host, &self.declared, task).await {
            Finding::Up => Ok(TaskReport::success()),
            Finding::Down(reason) => Ok(TaskReport::failure(GENERAL_FAILURE, reason)),
            Finding::Gone(reason) | Finding::Unknown(reason) => Err(TaskFault::new(reason)),
        }
    }
}

/// Asks a program how a machine or a service is, if its descriptor says that it can tell.
async fn probe(host: &Arc<PluginHost>, declared: &Declared, task: &Context) -> Finding {
    let name = &declared.plugin_type.base.name;
    if !declared.probes {
        return Finding::Unknown(format!("plugin {name} cannot tell: its descriptor has no \"probe\": true"));
    }
    match host.carry_out(declared, task).await {
        Ok(report) => finding(name, &report),
        Err(fault) => Finding::Unknown(fault.message),
    }
}
