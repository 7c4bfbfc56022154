//! One node: its machine, then the services on it.

use std::sync::Arc;
use std::time::Duration;

use actix::fut::wrap_future;
use actix::{ActorFutureExt, AsyncContext};
use cooperage_domain::cluster::{Cluster, made_by, probe_order, to_probe};
use cooperage_domain::health::Finding;
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_domain::plan::UnitId;
use cooperage_domain::redact::Redactor;
use cooperage_domain::task::TaskOrder;
use cooperage_plugins::ssh::Target;
use cooperage_plugins::{Context as TaskContext, Output, Stream};
use cooperage_schema::OpenSecrets;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::HealthMonitor;
use super::watched::Round;
use crate::console::Context;
use crate::provisioner::Probe;
use crate::worker_pool::LOCAL_WORKER;

/// How long a machine may take to accept a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// What was found, unit by unit; nothing when a task has the node.
type Found = Vec<(UnitId, Finding)>;

/// What probes print goes nowhere but into the reason of what is found.
struct Unlogged(Redactor);

impl Output for Unlogged {
    fn line(&self, _: Stream, _: &str) {}

    fn redactor(&self) -> Redactor {
        self.0.clone()
    }
}

impl HealthMonitor {
    /// Probes a node, and takes what was found.
    pub(super) fn probe(
        &self,
        id: ClusterId,
        node: NodeId,
        cluster: &Arc<Cluster>,
        secrets: Arc<OpenSecrets>,
        ctx: &mut Context<Self>,
    ) {
        let here = made_by(cluster, &node) == Some(LOCAL_WORKER);
        let finding = if here { self.ask_plugins(&node, cluster, &secrets) } else { reach(&node, cluster) };
        ctx.spawn(wrap_future(finding).map(move |found, monitor: &mut Self, ctx: &mut Context<Self>| {
            monitor.note(id, &node, found, here, &secrets.redactor);
            monitor.end_if_done(id, ctx);
            monitor.go_on(ctx);
        }));
    }

    fn note(&mut self, id: ClusterId, node: &NodeId, found: Found, here: bool, redactor: &Redactor) {
        let now = self.office.clock.now();
        let Some(watched) = self.clusters.get_mut(&id) else { return };
        let Some(Round::Probing(probing)) = &mut watched.round else { return };
        probing.running = probing.running.saturating_sub(1);
        let policy = probing.policy;
        for (unit, finding) in found {
            let finding = without_secrets(finding, redactor);
            let finding = if here { finding } else { watched.weigh(node, finding) };
            if let Some(watch) = watched.units.get_mut(&unit) {
                watch.observe(&finding, &policy, now);
            }
        }
    }

    /// Through the plugins of this process.
    fn ask_plugins(
        &self,
        node: &NodeId,
        cluster: &Cluster,
        secrets: &OpenSecrets,
    ) -> LocalBoxFuture<'static, Found> {
        let context = |mut order: TaskOrder| {
            secrets.secrets.reveal(&mut order);
            let (tenant, cancel) = (cluster.account.tenant_id.clone(), CancellationToken::new());
            TaskContext { tenant, order, output: Arc::new(Unlogged(secrets.redactor.clone())), cancel }
        };
        let mine = to_probe(cluster).into_iter().filter(|unit| unit.node == *node);
        let (mut units, mut contexts, mut found) = (Vec::new(), Vec::new(), Vec::new());
        for unit in mine {
            match probe_order(cluster, &unit) {
                Ok(order) => {
                    units.push(unit);
                    contexts.push(context(order));
                }
                Err(fault) => found.push((unit, Finding::Unknown(fault.to_string()))),
            }
        }
        if units.first().is_none_or(|unit| !unit.is_machine()) {
            return std::future::ready(found).boxed_local();
        }
        let machine = contexts.remove(0);
        let asked = self.office.provisioner.send(Probe { machine, services: contexts });
        async move {
            let findings = asked.await.ok().flatten().unwrap_or_default();
            found.extend(units.into_iter().zip(findings));
            found
        }
        .boxed_local()
    }
}

/// A machine that plugins elsewhere made: whether its ssh port takes a connection. Of its services nothing is known.
fn reach(node: &NodeId, cluster: &Cluster) -> LocalBoxFuture<'static, Found> {
    let unit = UnitId::machine(node.clone());
    let order = probe_order(cluster, &unit).map_err(|fault| fault.to_string());
    let target = order.and_then(|order| Target::from_order(&order).map_err(|fault| fault.message));
    async move {
        let finding = match target {
            Err(fault) => Finding::Unknown(fault),
            Ok(target) => {
                let connect = TcpStream::connect((target.host.as_str(), target.port));
                match tokio::time::timeout(CONNECT_LIMIT, connect).await {
                    Ok(Ok(_)) => Finding::Up,
                    Ok(Err(fault)) => {
                        Finding::Down(format!("{} takes no connection: {fault}", target.address()))
                    }
                    Err(_) => Finding::Down(format!("{} does not answer", target.address())),
                }
            }
        };
        vec![(unit, finding)]
    }
    .boxed_local()
}

fn without_secrets(finding: Finding, redactor: &Redactor) -> Finding {
    let clean = |text: String| redactor.text(&text).into_owned();
    match finding {
        Finding::Up => Finding::Up,
        Finding::Down(why) => Finding::Down(clean(why)),
        Finding::Gone(why) => Finding::Gone(clean(why)),
        Finding::Unknown(why) => Finding::Unknown(clean(why)),
    }
}
