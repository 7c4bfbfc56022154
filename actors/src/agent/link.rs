//! What an agent needs from outside: a way to its server, and plugin resources.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cooperage_domain::task::TaskOrder;
use cooperage_domain::worker_protocol::{
    Extension, Finished, LinesTaken, OutputBatch, Resources, TakeBatch, TakenTask, Unwanted, Watch,
};
use cooperage_plugins::PluginSet;
use futures::future::BoxFuture;

/// Why the server did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkFault {
    /// It cannot be reached, or cannot answer now: try again later.
    #[error("{0}")]
    Away(String),
    /// It does not know this provisioner: register again.
    #[error("the server does not know this provisioner (any more)")]
    Forgotten,
    /// It refuses, and would again.
    #[error("the server refuses: {0}")]
    Refused(String),
}

/// What came of asking the server.
pub type Reply<T> = BoxFuture<'static, Result<T, LinkFault>>;

/// A way to the server. Every request ends within some time of its own.
pub trait ServerLink: Send + Sync + 'static {
    /// Registers, or tells what has changed; resolves to the extensions the server grants.
    fn register(&self, capacity: u32, draining: bool) -> Reply<BTreeSet<Extension>>;
    /// Says that it lives, and how many workers it brings by tenant.
    fn beat(&self, usage: BTreeMap<String, u32>) -> Reply<()>;
    /// Says good-bye.
    fn deregister(&self) -> Reply<()>;
    /// Takes a task for one worker of a tenant, at once.
    fn take(&self, tenant: String, worker: String) -> Reply<Option<TaskOrder>>;
    /// Takes tasks for many workers.
    fn take_batch(&self, batch: TakeBatch) -> Reply<Vec<TakenTask>>;
    /// Reports; resolves when the report is durable.
    fn finish(&self, finished: Finished) -> Reply<()>;
    /// Passes on what tasks printed.
    fn output(&self, batch: OutputBatch) -> Reply<Vec<LinesTaken>>;
    /// Asks what of it nobody waits for any more.
    fn watch(&self, watch: Watch) -> Reply<Unwanted>;
}

/// Plugins with a tenant's resources.
pub struct Prepared {
    /// The plugins, which see exactly these resources for as long as they live.
    pub plugins: Arc<PluginSet>,
    /// What could not be had, each with its reason; instead there is what was there before, or nothing.
    pub faults: Vec<String>,
}

/// Gets plugin resources.
pub trait Supplies: Send + Sync + 'static {
    /// Plugins that see these resources of a tenant.
    fn prepare(&self, tenant: String, wanted: Resources) -> BoxFuture<'static, Prepared>;
}
