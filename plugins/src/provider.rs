//! Providers: plugins that make machines and give them back.

use async_trait::async_trait;
use cooperage_domain::entity::ProviderType;
use cooperage_domain::health::Finding;
use cooperage_domain::task::TaskReport;

use crate::context::{Context, TaskFault};

/// Makes machines and gives them back.
///
/// Every call may come again with the same task and attempt after a crash: then it finds what the first call made, by the
/// node's id, and goes on from there.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Name, fields and resource types.
    fn descriptor(&self) -> ProviderType;

    /// Asks for a machine for `order.node_id`. By convention the report's `result` carries `providerid`, `ssh-auth`
    /// (`user` and `identityfile`) and, where known, `ssh_host_keys`.
    ///
    /// # Errors
    /// When no machine could be made; with a status from 200 to 299 when nothing is left behind.
    async fn create(&self, task: &Context) -> Result<TaskReport, TaskFault>;

    /// Waits until the machine is there and can be logged in to; reports its addresses.
    ///
    /// # Errors
    /// When it does not come up in time. The caller then deletes and creates it again.
    async fn confirm(&self, task: &Context) -> Result<TaskReport, TaskFault>;

    /// Gives the machine back, with everything that belongs to it. Succeeds when there is none.
    ///
    /// # Errors
    /// When something is left behind.
    async fn delete(&self, task: &Context) -> Result<TaskReport, TaskFault>;

    /// Finds out how the machine of a node is, without changing anything and without waiting for anybody: it is asked often,
    /// and a task may be waiting. What cannot be found out is unknown, which it is by default.
    async fn probe(&self, _: &Context) -> Finding {
        Finding::Unknown("its provider cannot tell".to_owned())
    }

    /// All machines this provider made and still has, whoever asked for them.
    ///
    /// # Errors
    /// When they cannot be listed; by default because the provider cannot list any.
    async fn machines(&self) -> Result<Vec<Machine>, TaskFault> {
        Err(TaskFault::new("this provider cannot list its machines"))
    }

    /// Switches a machine.
    ///
    /// # Errors
    /// When it cannot be switched; by default because the provider has no switch.
    async fn power(&self, machine: &str, action: PowerAction) -> Result<(), TaskFault> {
        Err(TaskFault::new(format!("this provider cannot switch machine {machine} {action:?}")))
    }
}

/// A machine as its provider sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The provider's name for it (`providerid`).
    pub id: String,
    /// The node it was made for.
    pub node: String,
    /// Whether it runs.
    pub state: MachineState,
}

/// Whether a machine runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineState {
    /// It runs.
    On,
    /// It exists and does not run.
    Off,
    /// Only parts of it are there, as after a crash.
    Partial,
}

/// What can be done to a machine's power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PowerAction {
    /// Start it.
    On,
    /// Cut its power.
    Off,
    /// Cut its power and start it.
    Reset,
}
