//! The in-process provisioner: carries out tasks with the plugins of this process.
//!
//! ```text
//!   Node ──Execute(context)──► Provisioner ──► plugin, on the plugins' own runtime ──► TaskReport ──► Node
//! ```
//!
//! One execution (task and attempt) is under way at most once, however often it is asked for: who asks again gets the
//! same result. Plugins never run on an arbiter, so that a slow one delays nobody.

use std::collections::HashMap;
use std::sync::Arc;

use actix::{Actor, AsyncContext, Context as ActorContext, Handler, Message, ResponseFuture};
use cooperage_domain::id::TaskId;
use cooperage_domain::task::TaskReport;
use cooperage_plugins::{Context, PluginSet};
use cooperage_schema::Vault;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use tokio::runtime::Handle;

use crate::secrets::unlock;

/// One execution of a task: task and number of the attempt.
type Execution = (TaskId, u32);

/// Carries out tasks with the plugins of this process.
pub struct Provisioner {
    plugins: Arc<PluginSet>,
    runtime: Handle,
    vault: Option<Vault>,
    under_way: HashMap<Execution, Shared<BoxFuture<'static, TaskReport>>>,
}

impl Provisioner {
    /// With these plugins, run on `runtime`.
    #[must_use]
    pub fn new(plugins: Arc<PluginSet>, runtime: Handle) -> Self {
        Self { plugins, runtime, vault: None, under_way: HashMap::new() }
    }

    /// With the secrets of clusters, which it gives to their tasks.
    #[must_use]
    pub fn with_vault(mut self, vault: Vault) -> Self {
        self.vault = Some(vault);
        self
    }
}

impl Actor for Provisioner {
    type Context = ActorContext<Self>;
}

/// Carry out this execution, or wait for it if it is under way.
#[derive(Message)]
#[rtype(result = "TaskReport")]
pub struct Execute(pub Context);

#[derive(Message)]
#[rtype(result = "()")]
struct Ended(Execution);

impl Handler<Execute> for Provisioner {
    type Result = ResponseFuture<TaskReport>;

    fn handle(&mut self, Execute(context): Execute, ctx: &mut Self::Context) -> Self::Result {
        let execution = (context.order.task_id, context.order.attempt);
        if let Some(under_way) = self.under_way.get(&execution) {
            return Box::pin(under_way.clone());
        }
        let (plugins, vault) = (Arc::clone(&self.plugins), self.vault.clone());
        let task = self.runtime.spawn(carry_out(plugins, vault, context));
        let provisioner = ctx.address();
        let result = async move {
            let report = task.await.unwrap_or_else(|fault| {
                TaskReport::failure(
                    1,
                    format!("The plugin broke off: {fault}. This is a fault of the plugin."),
                )
            });
            provisioner.do_send(Ended(execution));
            report
        };
        let shared = result.boxed().shared();
        self.under_way.insert(execution, shared.clone());
        // Polled even if whoever asked goes away, so that the execution is forgotten when it has ended.
        actix::spawn(shared.clone().map(drop));
        Box::pin(shared)
    }
}

async fn carry_out(plugins: Arc<PluginSet>, vault: Option<Vault>, mut context: Context) -> TaskReport {
    if let Some(vault) = vault
        && let Err(fault) = unlock(&vault, &mut context.order).await
    {
        return TaskReport::failure(1, fault.to_string());
    }
    plugins.execute(context).await
}

impl Handler<Ended> for Provisioner {
    type Result = ();

    fn handle(&mut self, Ended(execution): Ended, _: &mut Self::Context) {
        self.under_way.remove(&execution);
    }
}
