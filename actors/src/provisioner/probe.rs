//! Finding out how a machine and what is on it are, while nothing is done to it.

use std::sync::Arc;
use std::time::Duration;

use actix::{AsyncContext, Handler, Message, ResponseFuture};
use cooperage_domain::health::Finding;
use cooperage_domain::id::NodeId;
use cooperage_plugins::{Context, PluginSet};
use tokio_util::sync::CancellationToken;

use super::Provisioner;

/// How long a probe that gives way may take to stop by itself. Then it is let go of.
const GIVE_WAY: Duration = Duration::from_secs(2);
/// How long one probe may take that does not bound itself.
const LIMIT: Duration = Duration::from_secs(90);

/// Find out how a machine is, and then how the services on it are; what is found is in the same order. `None` when an
/// execution has the machine, or came to have it meanwhile. The services of a machine that is down are not asked.
#[derive(Message)]
#[rtype(result = "Option<Vec<Finding>>")]
pub struct Probe {
    /// The machine's.
    pub machine: Context,
    /// Those of the services.
    pub services: Vec<Context>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Probed(NodeId);

impl Handler<Probe> for Provisioner {
    type Result = ResponseFuture<Option<Vec<Finding>>>;

    fn handle(&mut self, Probe { machine, services }: Probe, ctx: &mut Self::Context) -> Self::Result {
        let node = machine.order.node_id.clone();
        let Ok(turn) = Arc::clone(self.machines.entry(node.clone()).or_default()).try_lock_owned() else {
            return Box::pin(async { None });
        };
        let gives_way = CancellationToken::new();
        self.probes.insert(node.clone(), gives_way.clone());
        let plugins = self.plugins_of(&machine.tenant);
        let contexts = std::iter::once(machine).chain(services);
        let contexts: Vec<Context> =
            contexts.map(|context| Context { cancel: gives_way.clone(), ..context }).collect();
        let probe = self.runtime.spawn(async move {
            let found = tokio::select! {
                found = probe_all(&plugins, &contexts) => Some(found),
                () = async { gives_way.cancelled().await; tokio::time::sleep(GIVE_WAY).await } => None,
            };
            drop(turn);
            found.filter(|_| !gives_way.is_cancelled())
        });
        let provisioner = ctx.address();
        let probed = async move {
            // A plugin that panics has found nothing out.
            let found = probe.await.ok().flatten();
            provisioner.do_send(Probed(node));
            found
        };
        // Goes on if whoever asked goes away, so that the machine is known to be free.
        let (sender, receiver) = tokio::sync::oneshot::channel();
        actix::spawn(async move { drop(sender.send(probed.await)) });
        Box::pin(async { receiver.await.ok().flatten() })
    }
}

async fn probe_all(plugins: &PluginSet, contexts: &[Context]) -> Vec<Finding> {
    let mut found = Vec::with_capacity(contexts.len());
    for context in contexts {
        let finding = match found.first() {
            None | Some(Finding::Up | Finding::Unknown(_)) => {
                tokio::time::timeout(LIMIT, plugins.probe(context)).await.unwrap_or_else(|_| {
                    Finding::Unknown(format!("the probe took longer than {} s", LIMIT.as_secs()))
                })
            }
            Some(Finding::Down(_) | Finding::Gone(_)) => Finding::Unknown("its machine is not up".to_owned()),
        };
        found.push(finding);
    }
    found
}

impl Handler<Probed> for Provisioner {
    type Result = ();

    fn handle(&mut self, Probed(node): Probed, _: &mut Self::Context) {
        self.probes.remove(&node);
        self.forget_if_free(&node);
    }
}
