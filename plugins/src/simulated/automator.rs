//! The automator of simulated machines.

use std::path::PathBuf;

use async_trait::async_trait;
use cooperage_domain::entity::{AutomatorType, ServiceAction};
use cooperage_domain::health::Finding;
use cooperage_domain::task::TaskReport;

use super::execution::execute;
use super::health::health;
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

    async fn probe(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        if task.order.task_id.number > 0 {
            execute(&self.directory, task).await?;
        }
        let service = task.order.config.service.as_ref().map(|service| service.name.as_str());
        match health(&self.directory, &task.order.node_id, service) {
            Finding::Up => Ok(TaskReport::success()),
            Finding::Down(why) => Ok(TaskReport::failure(1, why)),
            Finding::Gone(why) | Finding::Unknown(why) => Err(TaskFault::new(why)),
        }
    }
}
