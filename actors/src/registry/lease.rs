//! The end of leases.

use std::time::Duration;

use actix::{AsyncContext, Handler};
use cooperage_domain::cluster::Command;
use slog::{info, warn};

use super::{Registry, Tell, TellError};
use crate::cluster::OperateError;
use crate::janitor::{Arm, Deadline, TimeUp};

/// How long a cluster that could not be told that its lease has run out is left alone.
const PAUSE: Duration = Duration::from_secs(30);

impl Handler<TimeUp> for Registry {
    type Result = ();

    /// A lease has run out: the cluster is deleted in the janitor's name.
    fn handle(&mut self, TimeUp(deadline): TimeUp, ctx: &mut Self::Context) {
        let Deadline::Lease(id) = deadline else { return };
        info!(self.office.logger, "a lease has run out"; "cluster" => id.to_string());
        let (registry, logger) = (ctx.address(), self.office.logger.clone());
        let janitor = self.office.janitor.clone();
        let pause = i64::try_from(PAUSE.as_millis()).unwrap_or(i64::MAX);
        let at = self.office.clock.now().saturating_add(pause);
        actix::spawn(async move {
            let who = "janitor".to_owned();
            let delete = Tell { id, command: Command::Delete { now: false, by: who.clone() }, who };
            let Ok(Err(fault)) = registry.send(delete).await else { return };
            match fault {
                TellError::Operate(OperateError::Refused(refusal)) => {
                    // A job under way ends first; the cluster arms its lease again then.
                    info!(logger, "not deleted yet"; "cluster" => id.to_string(), "reason" => refusal.to_string());
                }
                fault => {
                    warn!(logger, "not deleted yet"; "cluster" => id.to_string(), "fault" => fault.to_string());
                    janitor.do_send(Arm { deadline: Deadline::Lease(id), at, whom: registry.recipient() });
                }
            }
        });
    }
}
