//! Automators: plugins that bring services up on machines.

use async_trait::async_trait;
use cooperage_domain::entity::{AutomatorType, ServiceAction};
use cooperage_domain::task::TaskReport;

use crate::context::{Context, TaskFault};

/// Brings services up on machines.
///
/// Every call may come again with the same task and attempt after a crash: then it takes up the execution that is under
/// way, or its result, and does not start a second one.
#[async_trait]
pub trait Automator: Send + Sync {
    /// Name, fields and resource types.
    fn descriptor(&self) -> AutomatorType;

    /// Prepares a machine for the actions that follow.
    ///
    /// # Errors
    /// When the machine cannot be reached or prepared.
    async fn bootstrap(&self, task: &Context) -> Result<TaskReport, TaskFault>;

    /// Carries out one action of the service in `order.config.service`.
    ///
    /// # Errors
    /// When the action fails; with what it printed.
    async fn act(&self, action: ServiceAction, task: &Context) -> Result<TaskReport, TaskFault>;

    /// Finds out how the service in `order.config.service` is, without changing anything, soon, and as often as it is asked.
    /// The report says so: a failure with what was printed when the service is not well. It may also be a task of a job, then
    /// its number is not 0.
    ///
    /// # Errors
    /// When it could not be found out; by default because the automator cannot.
    async fn probe(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        let service = task.order.config.service.as_ref();
        let (name, automator) =
            service.map(|service| (&*service.name, &*service.action.automator)).unwrap_or_default();
        Err(TaskFault::nothing_made(format!("automator {automator:?} cannot probe service {name:?}")))
    }
}
