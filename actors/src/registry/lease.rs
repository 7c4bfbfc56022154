//! The end of leases, and the warning before it.

use std::time::Duration;

use actix::{Addr, AsyncContext, Handler};
use cooperage_domain::cluster::Command;
use cooperage_domain::id::ClusterId;
use slog::{info, warn};

use super::tell::deliver;
use super::{Find, Registry, Tell, TellError};
use crate::callbacks::GateError;
use crate::cluster::{GetState, OperateError};
use crate::janitor::{Arm, Deadline, TimeUp};

/// How long a cluster that could not be told that its lease has run out is left alone.
const PAUSE: Duration = Duration::from_secs(30);
/// How long it is left alone at most when a start hook refuses its deletion.
const VETO_PAUSE: Duration = Duration::from_secs(600);
/// In whose name leases are ended.
const JANITOR: &str = "janitor";

impl Handler<TimeUp> for Registry {
    type Result = ();

    fn handle(&mut self, TimeUp(deadline): TimeUp, ctx: &mut Self::Context) {
        match deadline {
            Deadline::Lease(id) => {
                info!(self.office.logger, "a lease has run out"; "cluster" => id.to_string());
                self.end_lease(id, ctx.address());
            }
            Deadline::LeaseWarning(id) => self.warn_of_expiry(id, ctx.address()),
            Deadline::Attempt { .. }
            | Deadline::Pause { .. }
            | Deadline::Idle(_)
            | Deadline::Heartbeat(_) => {}
        }
    }
}

impl Registry {
    /// The cluster is deleted in the janitor's name. A start hook that refuses keeps it for a while, but not for ever.
    fn end_lease(&self, id: ClusterId, registry: Addr<Self>) {
        let (asking, veto_ms) = (self.asking(), self.veto_ms);
        let (clock, logger) = (self.office.clock.clone(), self.office.logger.clone());
        let janitor = self.office.janitor.clone();
        actix::spawn(async move {
            let kept_until = match expires(&registry, id).await {
                Some(expires) => expires.saturating_add(veto_ms),
                None => i64::MIN,
            };
            let asking = asking.filter(|_| clock.now() < kept_until);
            let who = JANITOR.to_owned();
            let delete = Tell { id, command: Command::Delete { by: who.clone() }, who };
            let Err(fault) = deliver(registry.clone(), delete, None, asking).await else { return };
            let in_a_while = |pause: Duration| {
                clock.now().saturating_add(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX))
            };
            let again = match &fault {
                // A job under way ends first; the cluster arms its lease again then.
                TellError::Operate(OperateError::Refused(_)) => None,
                TellError::Operate(OperateError::NotLetIn(GateError::Vetoed(_))) => {
                    Some(in_a_while(VETO_PAUSE).min(kept_until))
                }
                _ => Some(in_a_while(PAUSE)),
            };
            warn!(logger, "not deleted yet"; "cluster" => id.to_string(), "reason" => fault.to_string(),
                "again_at" => again);
            if let Some(at) = again {
                janitor.do_send(Arm { deadline: Deadline::Lease(id), at, whom: registry.recipient() });
            }
        });
    }

    /// The cluster records that its lease ends soon, which tells those whom it concerns. One that finds it is too early arms
    /// the right time when it comes to life.
    fn warn_of_expiry(&self, id: ClusterId, registry: Addr<Self>) {
        let (logger, janitor) = (self.office.logger.clone(), self.office.janitor.clone());
        let pause = i64::try_from(PAUSE.as_millis()).unwrap_or(i64::MAX);
        let again = self.office.clock.now().saturating_add(pause);
        actix::spawn(async move {
            let tell = Tell { id, command: Command::WarnOfExpiry, who: JANITOR.to_owned() };
            let Err(fault) = deliver(registry.clone(), tell, None, None).await else { return };
            warn!(logger, "the end of a lease was not warned of"; "cluster" => id.to_string(),
                "fault" => fault.to_string());
            if !matches!(fault, TellError::Find(super::FindError::Unknown(_))) {
                let deadline = Deadline::LeaseWarning(id);
                janitor.do_send(Arm { deadline, at: again, whom: registry.recipient() });
            }
        });
    }
}

/// When the lease of a cluster ends; `None` when it cannot be asked.
async fn expires(registry: &Addr<Registry>, id: ClusterId) -> Option<i64> {
    let found = registry.send(Find { id }).await.ok()?.ok()?;
    Some(found.send(GetState).await.ok()??.expires)
}
