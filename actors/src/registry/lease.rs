//! The end of leases, and the warning before it.

use std::time::Duration;

use actix::{Addr, AsyncContext, Handler};
use cooperage_domain::cluster::Command;
use cooperage_domain::id::ClusterId;
use slog::{info, warn};

use super::ancestry::stays_for_children;
use super::tell::{ask, deliver};
use super::{Find, Registry, Tell, TellError};
use crate::callbacks::GateError;
use crate::cluster::{GetState, OperateError};
use crate::janitor::{Arm, Deadline, TimeUp};

/// How long a cluster that could not be told that its lease has run out is left alone.
const PAUSE: Duration = Duration::from_secs(30);
/// How long it is left alone at most when a start hook refuses its deletion, or others are built upon it.
const VETO_PAUSE: Duration = Duration::from_secs(600);
/// In whose name leases are ended.
const JANITOR: &str = "janitor";

impl Handler<TimeUp> for Registry {
    type Result = ();

    fn handle(&mut self, TimeUp(deadline): TimeUp, ctx: &mut Self::Context) {
        match deadline {
            Deadline::Lease(id) | Deadline::LeaseWarning(id) if self.taken_over.contains(&id) => {}
            Deadline::Lease(id) => {
                info!(self.office.logger, "a lease has run out"; "cluster" => id.to_string());
                self.end_lease(id, ctx.address());
            }
            Deadline::LeaseWarning(id) => self.warn_of_expiry(id, ctx.address()),
            Deadline::Attempt { .. }
            | Deadline::Pause { .. }
            | Deadline::Idle(_)
            | Deadline::Queue { .. }
            | Deadline::Straggler { .. }
            | Deadline::Probes
            | Deadline::Heartbeat(_) => {}
        }
    }
}

impl Registry {
    /// The cluster is deleted in the janitor's name, whatever is under way. A start hook that refuses keeps it for a while, but
    /// not for ever.
    fn end_lease(&self, id: ClusterId, registry: Addr<Self>) {
        let (asking, veto_ms, clock) = (self.asking(), self.veto_ms, self.office.clock.clone());
        let (janitor, logger) = (self.office.janitor.clone(), self.office.logger.clone());
        actix::spawn(async move {
            let who = JANITOR.to_owned();
            let delete = Tell { id, command: Command::Delete { now: true, by: who.clone() }, who };
            let kept_until = expires(&registry, id).await.map(|expires| expires.saturating_add(veto_ms));
            let asked = match asking.filter(|_| kept_until.is_some_and(|until| clock.now() < until)) {
                Some(asking) => ask(&registry, &delete, None, &asking).await,
                None => Ok(()),
            };
            // Somebody may have prolonged the lease while others were asked: then its end is armed again.
            let is_over = expires(&registry, id).await.is_none_or(|at| at != 0 && at <= clock.now());
            let told = match asked {
                Ok(()) if is_over => deliver(registry.clone(), delete, None, None).await.map(drop),
                asked => asked,
            };
            let Err(fault) = told else { return };
            let waits = is_veto(&fault) || stays_for_children(&fault);
            let pause = if waits { VETO_PAUSE } else { PAUSE };
            let pause = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
            let later = clock.now().saturating_add(pause);
            let at = kept_until.filter(|_| is_veto(&fault)).map_or(later, |until| later.min(until));
            warn!(logger, "not deleted yet"; "cluster" => id.to_string(), "reason" => fault.to_string(),
                "again_at" => at);
            janitor.do_send(Arm { deadline: Deadline::Lease(id), at, whom: registry.recipient() });
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

/// Whether a start hook has refused.
const fn is_veto(fault: &TellError) -> bool {
    matches!(fault, TellError::Operate(OperateError::NotLetIn(GateError::Vetoed(_))))
}

/// When the lease of a cluster ends; `None` when it cannot be asked.
async fn expires(registry: &Addr<Registry>, id: ClusterId) -> Option<i64> {
    let found = registry.send(Find { id }).await.ok()?.ok()?;
    Some(found.send(GetState).await.ok()??.expires)
}
