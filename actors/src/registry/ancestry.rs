//! What clusters that are built upon each other are told of each other: what one publishes, and what another needs of it.
//!
//! ```text
//!   Cluster comes to rest ──HandDown──► Registry ──Inherit──► those built upon it that know something else
//!   Cluster needs else    ──Rely──────► Registry ──Adopt────► those it is built upon
//!   Cluster is gone       ──Leave─────► Registry ──Release──► those it was built upon
//! ```
//!
//! Who is built upon whom, and who knows what, stands in the read tables: what was missed is told when the server starts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use actix::fut::wrap_future;
use actix::{ActorFutureExt, Addr, AsyncContext, Handler, Message, ResponseFuture};
use cooperage_domain::cluster::{self, ClusterStatus, Command, Inheritance, Refusal};
use cooperage_domain::id::ClusterId;
use cooperage_schema::{AncestryRow, Store};
use slog::{Logger, warn};

use super::tell::deliver;
use super::{Find, Registry, Tell, TellError};
use crate::blocking;
use crate::cluster::{GetState, OperateError};
use crate::console::Context;

/// How often it is tried to tell a cluster something. What it misses all the same it is told when the server starts.
const TRIES: u32 = 20;
/// How long a cluster is waited for that was to come into being, in ms.
const PATIENCE: i64 = 600_000;

/// A cluster has come to rest: those built upon it are told what it publishes, as far as they do not know it.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct HandDown {
    /// Which.
    pub from: ClusterId,
}

/// A cluster needs something of those it is built upon.
#[derive(Debug, Clone, Message)]
#[rtype(result = "()")]
pub struct Rely {
    /// Which.
    pub child: ClusterId,
    /// Its name.
    pub name: String,
    /// What of whom.
    pub on: BTreeMap<ClusterId, BTreeSet<String>>,
}

/// A cluster is gone.
#[derive(Debug, Clone, Message)]
#[rtype(result = "()")]
pub struct Leave {
    /// Which.
    pub child: ClusterId,
    /// Whom it was built upon.
    pub origins: Vec<ClusterId>,
}

/// Lets go of those that were to be built upon a cluster and are not there, or not any more. Answers whether there were any.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "bool")]
pub(super) struct LetGo {
    /// Of which cluster.
    pub of: ClusterId,
}

impl Registry {
    /// Those who have missed what others published are told now.
    pub(super) fn hand_down_missed(&self, rows: &[AncestryRow], ctx: &Context<Self>) {
        let handed: BTreeMap<ClusterId, &str> =
            rows.iter().filter_map(|row| Some((row.cluster, row.hands_down.as_deref()?))).collect();
        let held = rows.iter().flat_map(|row| row.parent.iter().chain(&row.foundation));
        let missed = held.filter(|(of, seen)| handed.get(of).is_some_and(|now| now != seen));
        for from in missed.map(|(of, _)| *of).collect::<BTreeSet<_>>() {
            ctx.address().do_send(HandDown { from });
        }
    }
}

impl Handler<HandDown> for Registry {
    type Result = ();

    /// One after the other for each cluster, so that nobody is told something older after something newer.
    fn handle(&mut self, HandDown { from }: HandDown, ctx: &mut Self::Context) {
        if let Some(again) = self.handing_down.get_mut(&from) {
            *again = true;
            return;
        }
        self.handing_down.insert(from, false);
        let (store, logger) = (self.office.store.clone(), self.office.logger.clone());
        let (registry, pace) = (ctx.address(), self.pace);
        let told = async move {
            for attempt in 1..=TRIES {
                match hand_down(&registry, &store, from).await {
                    Ok(()) => return,
                    Err(fault) => {
                        warn!(logger, "what a cluster publishes was not told"; "cluster" => from.to_string(),
                            "fault" => fault, "attempt" => attempt);
                        tokio::time::sleep(pace.pause_after(attempt)).await;
                    }
                }
            }
        };
        ctx.spawn(wrap_future(told).map(move |(), registry: &mut Self, ctx: &mut Context<Self>| {
            if registry.handing_down.remove(&from) == Some(true) {
                ctx.notify(HandDown { from });
            }
        }));
    }
}

/// A cluster as it is now.
async fn state_of(registry: &Addr<Registry>, id: ClusterId) -> Result<Option<Arc<cluster::Cluster>>, String> {
    let found = registry.send(Find { id }).await.map_err(|fault| fault.to_string())?;
    let found = found.map_err(|fault| fault.to_string())?;
    found.send(GetState).await.map_err(|fault| fault.to_string())
}

/// Tells all that know something else, and says what kept one from being told.
async fn hand_down(registry: &Addr<Registry>, store: &Store, from: ClusterId) -> Result<(), String> {
    let inheritance = match state_of(registry, from).await? {
        // One that is changing hands down what becomes of it.
        Some(state) if state.may_hand_down() => Inheritance::of(&state),
        _ => return Ok(()),
    };
    let hash = inheritance.hash();
    let reader = store.clone();
    let rows = blocking::spawn(move || reader.ancestry_upon(from)).await;
    let rows = rows.map_err(|fault| fault.to_string())?.map_err(|fault| fault.to_string())?;
    let knows = |row: &AncestryRow| {
        let mut held = row.parent.iter().chain(&row.foundation);
        held.any(|(of, seen)| *of == from && *seen == hash)
    };
    let mut missed = Ok(());
    for row in rows.iter().filter(|row| !knows(row)) {
        let lineage = inheritance.lineage.clone();
        let command = Command::Inherit { from, lineage };
        let tell = Tell { id: row.cluster, command, who: format!("cluster {from}") };
        if let Err(fault) = deliver(registry.clone(), tell, None, None).await {
            missed = Err(format!("cluster {}: {fault}", row.cluster));
        }
    }
    missed
}

impl Handler<Rely> for Registry {
    type Result = ();

    fn handle(&mut self, Rely { child, name, on }: Rely, ctx: &mut Self::Context) {
        let (registry, logger) = (ctx.address(), self.office.logger.clone());
        let told = async move {
            for (origin, needs) in on {
                let command = Command::Adopt { child, name: name.clone(), needs };
                tell_kin(&registry, origin, command, child, &logger).await;
                registry.do_send(HandDown { from: origin });
            }
        };
        ctx.spawn(wrap_future(told));
    }
}

impl Handler<Leave> for Registry {
    type Result = ();

    fn handle(&mut self, Leave { child, origins }: Leave, ctx: &mut Self::Context) {
        let (registry, logger) = (ctx.address(), self.office.logger.clone());
        let told = async move {
            for origin in origins {
                tell_kin(&registry, origin, Command::Release { child }, child, &logger).await;
            }
        };
        ctx.spawn(wrap_future(told));
    }
}

/// What is not told is found out when it matters.
async fn tell_kin(
    registry: &Addr<Registry>,
    id: ClusterId,
    command: Command,
    child: ClusterId,
    logger: &Logger,
) {
    let tell = Tell { id, command, who: format!("cluster {child}") };
    if let Err(fault) = deliver(registry.clone(), tell, None, None).await {
        warn!(logger, "a cluster was not told of one built upon it"; "cluster" => id.to_string(),
            "child" => child.to_string(), "fault" => fault.to_string());
    }
}

/// Whether a cluster stays because of others that are built upon it.
pub(super) const fn stays_for_children(fault: &TellError) -> bool {
    matches!(fault, TellError::Operate(OperateError::Refused(Refusal::HasChildren { .. })))
}

impl Handler<LetGo> for Registry {
    type Result = ResponseFuture<bool>;

    fn handle(&mut self, LetGo { of }: LetGo, ctx: &mut Self::Context) -> Self::Result {
        let (registry, logger) = (ctx.address(), self.office.logger.clone());
        let (store, now) = (self.office.store.clone(), self.office.clock.now());
        Box::pin(async move {
            let Ok(Some(state)) = state_of(&registry, of).await else { return false };
            let known: Vec<(ClusterId, i64)> =
                state.kin.children.iter().map(|(id, child)| (*id, child.since)).collect();
            drop(state);
            let found = blocking::spawn(move || gone(&store, known, now)).await.unwrap_or_default();
            for child in &found {
                tell_kin(&registry, of, Command::Release { child: *child }, *child, &logger).await;
            }
            !found.is_empty()
        })
    }
}

/// Those of them that are terminated, or have not come into being for a long time. Waits for the database.
fn gone(store: &Store, known: Vec<(ClusterId, i64)>, now: i64) -> Vec<ClusterId> {
    let is_gone = |(id, since): &(ClusterId, i64)| match store.cluster(*id) {
        Ok(Some(row)) => row.status == ClusterStatus::Terminated.as_str(),
        Ok(None) => since.saturating_add(PATIENCE) < now,
        Err(_) => false,
    };
    known.into_iter().filter(is_gone).map(|(id, _)| id).collect()
}
