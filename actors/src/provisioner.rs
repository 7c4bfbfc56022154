//! Carries out tasks with the plugins of this process: the server's own, or those of a provisioner on another machine, where
//! the [agent](crate::agent) asks and not a node.
//!
//! ```text
//!   Node ──Execute(context)──► Provisioner ──► plugin, on the plugins' own runtime ──► TaskReport ──► Node
//!   Node ──Cancel(execution)──► Provisioner    its time is up
//!   Node ──Forget(execution)──► Provisioner    the report is in the journal, or nobody wants it any more
//!   HealthMonitor ──Probe──► Provisioner       how is it? only while no execution has the machine
//! ```
//!
//! Two rules are kept here, where neither the end of a node's actor nor of its cluster's can break them:
//!
//! - One execution (task and attempt) is carried out once, however often it is asked for. Its report is kept until it is
//!   known to be durable, so that a cluster which failed in between gets the same report and not a second execution.
//! - A machine has one execution at a time. The next one waits until the plugin has really returned, even if the attempt
//!   was given up long ago because the plugin would not stop. One that is cancelled while it waits never starts.
//!
//! A probe never runs beside an execution: it is not begun while a machine has one, and gives way to one that comes.
//!
//! Plugins never run on an arbiter, so that a slow one delays nobody.

mod probe;

use std::collections::HashMap;
use std::sync::Arc;

use actix::{Actor, AsyncContext, Handler, Message, ResponseFuture};
use cooperage_domain::id::{NodeId, TaskId};
use cooperage_domain::task::TaskReport;
use cooperage_plugins::{Context, PluginSet, Stream};
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

pub use probe::Probe;

/// Code of the failure of an execution that never started, or broke off.
const NOT_CARRIED_OUT: i64 = 1;

/// One execution of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Execution {
    /// The task.
    pub task: TaskId,
    /// Number of the attempt.
    pub attempt: u32,
}

/// An execution that is under way, or whose report is not durable yet.
struct Known {
    node: NodeId,
    /// Of the context it was begun with; whoever joins later cannot have another.
    cancel: CancellationToken,
    report: Shared<BoxFuture<'static, TaskReport>>,
    /// Whether somebody will still ask for the report.
    wanted: bool,
}

/// Carries out tasks with the plugins of this process.
pub struct Provisioner {
    plugins: Arc<PluginSet>,
    /// Instead of those, for some tenants, by internal id.
    tenants: HashMap<String, Arc<PluginSet>>,
    runtime: Handle,
    known: HashMap<Execution, Known>,
    /// Held by the execution that a machine is busy with.
    machines: HashMap<NodeId, Arc<Mutex<()>>>,
    /// What makes a probe under way give way to an execution.
    probes: HashMap<NodeId, CancellationToken>,
}

impl Provisioner {
    /// With these plugins, run on `runtime`.
    #[must_use]
    pub fn new(plugins: Arc<PluginSet>, runtime: Handle) -> Self {
        let (tenants, known, machines) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { plugins, tenants, runtime, known, machines, probes: HashMap::new() }
    }
}

impl Provisioner {
    /// The plugins that a tenant's work is begun with now.
    fn plugins_of(&self, tenant: &str) -> Arc<PluginSet> {
        Arc::clone(self.tenants.get(tenant).unwrap_or(&self.plugins))
    }

    fn forget_if_free(&mut self, node: &NodeId) {
        if self.machines.get(node).is_some_and(|machine| Arc::strong_count(machine) == 1) {
            self.machines.remove(node);
        }
    }
}

impl Actor for Provisioner {
    type Context = crate::console::Context<Self>;
}

/// Carry out this execution, or wait for it if it is under way.
#[derive(Message)]
#[rtype(result = "TaskReport")]
pub struct Execute(pub Context);

/// Nobody wants the result of this execution any more: its plugin is to stop what it can, and return.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Cancel(pub Execution);

/// The report of this execution will not be asked for again.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Forget(pub Execution);

/// From now on a tenant's tasks are begun with these plugins. Those under way go on with what they began with.
#[derive(Message)]
#[rtype(result = "()")]
pub struct UsePlugins {
    /// Internal id.
    pub tenant: String,
    /// The plugins.
    pub plugins: Arc<PluginSet>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Ended(Execution);

impl Handler<Execute> for Provisioner {
    type Result = ResponseFuture<TaskReport>;

    fn handle(&mut self, Execute(context): Execute, ctx: &mut Self::Context) -> Self::Result {
        let execution = Execution { task: context.order.task_id, attempt: context.order.attempt };
        if let Some(known) = self.known.get(&execution) {
            return Box::pin(known.report.clone());
        }
        let node = context.order.node_id.clone();
        let cancel = context.cancel.clone();
        let machine = Arc::clone(self.machines.entry(node.clone()).or_default());
        let probe = self.probes.get(&node);
        probe.inspect(|gives_way| gives_way.cancel());
        let busy = if probe.is_some() { Busy::Probed } else { Busy::Executing };
        // Taken here, so that no probe can come between.
        let turn = Arc::clone(&machine).try_lock_owned().map_err(|_| busy);
        let plugins = self.plugins_of(&context.tenant);
        let task = self.runtime.spawn(carry_out(plugins, machine, turn, context));
        let provisioner = ctx.address();
        let report = async move {
            let report = match task.await {
                Ok(report) => report,
                // The program is stopping: whoever takes the attempt up again will know how it ended.
                Err(fault) if fault.is_cancelled() => std::future::pending().await,
                Err(fault) => TaskReport::failure(
                    NOT_CARRIED_OUT,
                    format!("The plugin broke off: {fault}. This is a fault of the plugin."),
                ),
            };
            provisioner.do_send(Ended(execution));
            report
        };
        let report = report.boxed().shared();
        self.known.insert(execution, Known { node, cancel, report: report.clone(), wanted: true });
        // Polled even if whoever asked goes away, so that the machine becomes free when it has ended.
        actix::spawn(report.clone().map(drop));
        Box::pin(report)
    }
}

/// What has a machine that is not free.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Busy {
    /// An earlier execution.
    Executing,
    /// A probe, which gives way soon.
    Probed,
}

/// Waits for the machine, then for the plugin.
async fn carry_out(
    plugins: Arc<PluginSet>,
    machine: Arc<Mutex<()>>,
    turn: Result<OwnedMutexGuard<()>, Busy>,
    context: Context,
) -> TaskReport {
    let _turn = match turn {
        Ok(turn) => turn,
        Err(busy) => {
            if busy == Busy::Executing {
                let waiting =
                    "Waits for the machine: an earlier attempt that was given up has not stopped yet.";
                context.output.line(Stream::Progress, waiting);
            }
            tokio::select! {
                // In this order, so that one that was cancelled never starts, and a simulated run is the same every time.
                biased;
                () = context.cancel.cancelled() => {
                    let reason = "The machine is still busy with an earlier attempt that does not stop.";
                    return TaskReport::failure(NOT_CARRIED_OUT, reason);
                }
                turn = machine.lock_owned() => turn,
            }
        }
    };
    plugins.execute(context).await
}

impl Handler<UsePlugins> for Provisioner {
    type Result = ();

    fn handle(&mut self, UsePlugins { tenant, plugins }: UsePlugins, _: &mut Self::Context) {
        self.tenants.insert(tenant, plugins);
    }
}

impl Handler<Ended> for Provisioner {
    type Result = ();

    fn handle(&mut self, Ended(execution): Ended, _: &mut Self::Context) {
        let Some(known) = self.known.get(&execution) else { return };
        let (node, wanted) = (known.node.clone(), known.wanted);
        self.forget_if_free(&node);
        if !wanted {
            self.known.remove(&execution);
        }
    }
}

impl Handler<Cancel> for Provisioner {
    type Result = ();

    fn handle(&mut self, Cancel(execution): Cancel, _: &mut Self::Context) {
        if let Some(known) = self.known.get(&execution) {
            known.cancel.cancel();
        }
    }
}

impl Handler<Forget> for Provisioner {
    type Result = ();

    fn handle(&mut self, Forget(execution): Forget, _: &mut Self::Context) {
        let Some(known) = self.known.get_mut(&execution) else { return };
        known.wanted = false;
        if known.report.peek().is_some() {
            self.known.remove(&execution);
        }
    }
}
