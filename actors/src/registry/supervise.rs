//! What becomes of clusters that end, and of all of them when the server starts.

use std::time::Duration;

use actix::fut::wrap_future;
use actix::{ActorFutureExt, AsyncContext, Handler, Message};
use cooperage_domain::cluster::ClusterStatus;
use cooperage_domain::id::ClusterId;
use cooperage_schema::{ClusterRow, StoreError};
use serde::Deserialize;
use slog::{error, info, warn};

use super::{Ending, Find, FindError, Registry, Stopped};
use crate::blocking;
use crate::console::Context;
use crate::janitor::{Arm, Deadline};

/// Clusters that are read at the same time when the server starts: enough to keep the database busy, and few enough that the
/// first of many is not kept waiting by the others.
const TAKEN_UP_AT_ONCE: usize = 16;

/// See that this cluster is live, however often it takes.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
struct Revive {
    id: ClusterId,
}

impl Registry {
    /// Takes up every cluster that has something to do, and remembers when leases end. Tries again until the database
    /// answers: a server that starts before its database must not forget what was under way.
    pub(super) fn take_up_all(&self, attempt: u32, ctx: &mut Context<Self>) {
        let store = self.office.store.clone();
        let found = move || Ok::<_, StoreError>((store.clusters_to_take_up()?, store.ancestry()?));
        let work = async move { blocking::spawn(found).await };
        ctx.spawn(wrap_future(work).map(move |found, registry: &mut Self, ctx: &mut Context<Self>| {
            let fault = match found {
                Ok(Ok((clusters, ancestry))) => {
                    registry.take_up(&clusters, ctx);
                    return registry.hand_down_missed(&ancestry, ctx);
                }
                Ok(Err(fault)) => fault.to_string(),
                Err(fault) => fault.to_string(),
            };
            let pause = registry.pace.pause_after(attempt);
            error!(registry.office.logger, "cannot look for clusters"; "fault" => fault,
                "again_in_ms" => pause.as_millis());
            ctx.run_later(pause, move |registry, ctx| registry.take_up_all(attempt.saturating_add(1), ctx));
        }));
    }

    fn take_up(&mut self, clusters: &[ClusterRow], ctx: &Context<Self>) {
        info!(self.office.logger, "clusters found in the journal"; "to take up" => clusters.len());
        for cluster in clusters {
            if cluster.status == ClusterStatus::Pending.as_str() {
                self.to_take_up.push_back(cluster.id);
            } else if cluster.expires_ms != 0 {
                let whom = || ctx.address().recipient();
                let lease = Deadline::Lease(cluster.id);
                self.office.janitor.do_send(Arm { deadline: lease, at: cluster.expires_ms, whom: whom() });
                if let Some(at) = warning_at(cluster) {
                    let warning = Deadline::LeaseWarning(cluster.id);
                    self.office.janitor.do_send(Arm { deadline: warning, at, whom: whom() });
                }
            }
        }
        for _ in 0..TAKEN_UP_AT_ONCE {
            self.take_up_next(ctx);
        }
    }

    /// Starts the next of those that had something to do when the server started.
    fn take_up_next(&mut self, ctx: &Context<Self>) {
        if let Some(id) = self.to_take_up.pop_front() {
            ctx.address().do_send(Revive { id });
        }
    }

    /// Counts a failure, and has the cluster started again after a pause.
    fn revive_later(&mut self, id: ClusterId, reason: &str, ctx: &mut Context<Self>) {
        let failures = self.failures.entry(id).or_default();
        *failures = failures.saturating_add(1);
        let pause: Duration = self.pace.pause_after(*failures);
        warn!(self.office.logger, "a cluster failed and is started again"; "cluster" => id.to_string(),
            "reason" => reason, "failures" => *failures, "pause_ms" => pause.as_millis());
        ctx.notify_later(Revive { id }, pause);
    }
}

/// When the end of a lease is to be warned of, as the row says; those of earlier releases do not, and are looked at now.
fn warning_at(cluster: &ClusterRow) -> Option<i64> {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Summary {
        expiry_warning_time: Option<i64>,
        expiry_warned: Option<bool>,
    }
    let summary: Summary = serde_json::from_str(&cluster.summary).ok()?;
    match (summary.expiry_warning_time, summary.expiry_warned) {
        (_, Some(true)) | (None, Some(false)) => None,
        (Some(at), _) => Some(at),
        (None, None) => Some(0),
    }
}

impl Handler<Stopped> for Registry {
    type Result = ();

    fn handle(&mut self, Stopped { id, generation, ending }: Stopped, ctx: &mut Self::Context) {
        let is_current = self.live.get(&id).is_some_and(|live| live.generation == generation);
        if !is_current {
            return;
        }
        self.live.remove(&id);
        if ending == Ending::Failed {
            return self.revive_later(id, "its actor ended", ctx);
        }
        self.failures.remove(&id);
        if ending == Ending::Fenced {
            self.taken_over.insert(id);
        }
    }
}

impl Handler<Revive> for Registry {
    type Result = ();

    fn handle(&mut self, Revive { id }: Revive, ctx: &mut Self::Context) {
        let found = self.handle(Find { id }, ctx);
        ctx.spawn(wrap_future(found).map(move |found, registry: &mut Self, ctx: &mut Context<Self>| {
            registry.take_up_next(ctx);
            match found {
                Ok(_) => {}
                // It was never brought into being: whoever asked for it was told.
                Err(FindError::Unknown(_)) => {
                    registry.failures.remove(&id);
                }
                Err(FindError::Store(fault)) => registry.revive_later(id, &fault.to_string(), ctx),
                Err(fault @ FindError::Unreadable(..)) => {
                    registry.failures.remove(&id);
                    error!(registry.office.logger, "a cluster cannot be started"; "cluster" => id.to_string(),
                        "fault" => fault.to_string());
                }
            }
        }));
    }
}
