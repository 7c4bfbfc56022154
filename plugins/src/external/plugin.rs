//! The two traits, carried out by a program.

use std::sync::Arc;

use async_trait::async_trait;
use cooperage_domain::entity::{AutomatorType, ProviderType, ServiceAction};
use cooperage_domain::task::TaskReport;
use serde_json::Value;

use super::descriptor::Declared;
use super::host::PluginHost;
use crate::automator::Automator;
use crate::context::{Context, TaskFault};
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
}
