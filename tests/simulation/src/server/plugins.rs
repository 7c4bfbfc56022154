//! Provider and automator of the simulated cloud, inside a server's process.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cooperage_domain::entity::{AutomatorType, Base, PluginType, ProviderType, ServiceAction};
use cooperage_domain::id::NodeId;
use cooperage_domain::task::TaskReport;
use cooperage_plugins::{Automator, Context, PluginSet, Provider, Stream, TaskFault};

use super::outside::Outside;
use crate::catalog::{PLUGIN, mark, secret};
use crate::cloud::{Fate, Wanted};
use crate::seen::Seen;

/// Plugins of one server.
pub struct CloudPlugins {
    pub outside: Arc<Outside>,
    /// Number of the server among all that lived.
    pub server: u32,
}

/// A plugin at work; however it ends, it has returned.
struct Call<'a> {
    plugins: &'a CloudPlugins,
    node: NodeId,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let mut state = self.plugins.outside.lock();
        let server = self.plugins.server;
        if state.calls.remove(&(server, self.node.clone())) {
            state.checkers.see(&Seen::Returned { server, node: &self.node });
        }
    }
}

fn ms(ms: i64) -> Duration {
    Duration::from_millis(ms.max(0).unsigned_abs())
}

impl CloudPlugins {
    pub fn set(self) -> PluginSet {
        let plugins = Arc::new(self);
        PluginSet::default().with_provider(Arc::clone(&plugins) as _).with_automator(plugins)
    }

    fn call(&self, wanted: &Wanted) -> Call<'_> {
        let mut state = self.outside.lock();
        let (server, execution, node) = (self.server, wanted.execution, &wanted.node);
        state.calls.insert((server, node.clone()));
        state.checkers.see(&Seen::Called { server, execution, node });
        Call { plugins: self, node: node.clone() }
    }

    async fn execute(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        let order = &task.order;
        let execution = (order.task_id, order.attempt);
        let wanted = Wanted { execution, node: order.node_id.clone(), name: order.task_name };
        let _call = self.call(&wanted);
        let printed =
            format!("{} on {} {} {}", wanted.name, wanted.node, mark(&task.tenant), secret(&task.tenant));
        task.output.line(Stream::Stdout, &printed);
        let given = serde_json::to_string(order).unwrap_or_default();
        let fate = loop {
            match self.outside.execute(&wanted, &task.tenant, &given) {
                Ok(fate) => break fate,
                Err(until) => tokio::select! {
                    biased;
                    () = task.cancel.cancelled() => return Err(TaskFault::new("cancelled")),
                    () = tokio::time::sleep(ms(until - self.outside.now())) => {}
                },
            }
        };
        self.follow(&wanted, task, &fate).await
    }

    /// Waits for the end of an execution, and for its answer.
    async fn follow(&self, wanted: &Wanted, task: &Context, fate: &Fate) -> Result<TaskReport, TaskFault> {
        let answer = fate.answers.first().copied();
        let wait = ms(fate.end - self.outside.now());
        if fate.deaf {
            tokio::time::sleep(wait).await;
        } else if !self.within(wait, wanted, task).await {
            return Err(TaskFault::new("cancelled"));
        }
        let report = self.outside.end(wanted);
        if fate.worker_dies.is_some() {
            // As a panic does, without its words on the screen.
            std::panic::resume_unwind(Box::new("the plugin dies"));
        }
        let wait = answer.map_or(Duration::from_secs(1_000_000), ms);
        if fate.deaf {
            tokio::time::sleep(wait.min(Duration::from_secs(300))).await;
        } else if !wait.is_zero() && !self.within(wait, wanted, task).await {
            return Err(TaskFault::new("cancelled"));
        }
        Ok(report)
    }

    /// Whether this time passes before the execution is cancelled.
    async fn within(&self, wait: Duration, wanted: &Wanted, task: &Context) -> bool {
        tokio::select! {
            biased;
            () = task.cancel.cancelled() => {
                self.outside.cancel(wanted);
                false
            }
            () = tokio::time::sleep(wait) => true,
        }
    }
}

impl Outside {
    /// A worker of a tenant begins an execution, or finds it.
    pub fn execute(&self, wanted: &Wanted, tenant: &str, given: &str) -> Result<Fate, i64> {
        let mut state = self.lock();
        state.settle();
        let now = state.now();
        // One that outlived its server has ended without anybody who waited for it.
        if let Some(ended) = state.cloud.ended_on(&wanted.node, now) {
            state.stopped(ended, &wanted.node);
        }
        let fate = state.cloud.begin(wanted, now)?.clone();
        if fate.end > now {
            let (execution, node) = (wanted.execution, &wanted.node);
            state.checkers.see(&Seen::Began { execution, node, tenant, given });
        }
        Ok(fate)
    }

    /// An execution has ended: its report.
    pub fn end(&self, wanted: &Wanted) -> TaskReport {
        let mut state = self.lock();
        state.settle();
        state.stopped(wanted.execution, &wanted.node);
        let fate = state.cloud.fate(wanted.execution);
        fate.map_or_else(|| TaskReport::failure(1, "never begun"), |fate| fate.report.clone())
    }

    /// Nobody wants an execution any more.
    pub fn cancel(&self, wanted: &Wanted) {
        let mut state = self.lock();
        state.settle();
        let now = state.now();
        state.cloud.cancel(wanted.execution, now);
        state.stopped(wanted.execution, &wanted.node);
    }
}

fn descriptor() -> PluginType {
    PluginType { base: Base { name: PLUGIN.to_owned(), ..Base::default() }, ..PluginType::default() }
}

#[async_trait]
impl Provider for CloudPlugins {
    fn descriptor(&self) -> ProviderType {
        ProviderType(descriptor())
    }

    async fn create(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        self.execute(task).await
    }

    async fn confirm(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        self.execute(task).await
    }

    async fn delete(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        self.execute(task).await
    }
}

#[async_trait]
impl Automator for CloudPlugins {
    fn descriptor(&self) -> AutomatorType {
        AutomatorType(descriptor())
    }

    async fn bootstrap(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        self.execute(task).await
    }

    async fn act(&self, _: ServiceAction, task: &Context) -> Result<TaskReport, TaskFault> {
        self.execute(task).await
    }
}
