//! The automator of simulated machines.

use std::path::PathBuf;

use async_trait::async_trait;
use cooperage_domain::entity::{AutomatorType, ServiceAction};
use cooperage_domain::task::TaskReport;

use super::execution::execute;
use super::provider::descriptor;
use crate::automator::Automator;
use crate::context::{Context, TaskFault};

/// Brings services up by waiting for a while.
#[derive(Debug, Clone)]
pub struct SimulatedAutomator {
    directory: PathBuf,
}

impl SimulatedAutomator {
    /// Works on the machines of the [`SimulatedProvider`](super::SimulatedProvider) with the same directory.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }
}

#[async_trait]
impl Automator for SimulatedAutomator {
    fn descriptor(&self) -> AutomatorType {
        AutomatorType(descriptor("Services that are brought up by waiting, for tests"))
    }

    async fn bootstrap(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        execute(&self.directory, task).await?;
        Ok(TaskReport::success())
    }

    async fn act(&self, _: ServiceAction, task: &Context) -> Result<TaskReport, TaskFault> {
        execute(&self.directory, task).await?;
        Ok(TaskReport::success())
    }
}
