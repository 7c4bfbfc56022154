//! Asking before a job begins.

use std::sync::Arc;

use cooperage_domain::callback::{Hook, HookEvent, Verdict, verdict};
use cooperage_domain::cluster::{Cluster, Event, FollowUp, JobStatus};
use cooperage_domain::plan::ClusterAction;
use cooperage_schema::{Attempted, Delivery, DeliveryStatus, StoreError};
use futures::future::join_all;
use serde_json::json;
use slog::{info, warn};
use uuid::Uuid;

use super::body::body;
use super::{CallbackOffice, Reply, blocking, owner};
use crate::occurrence::told;

/// Somebody who may refuse has refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("callback {hook:?} refuses {action}: {reason}")]
pub struct Veto {
    /// Name of the hook.
    pub hook: String,
    /// The kind of the job.
    pub action: ClusterAction,
    /// Why, in the hook's words.
    pub reason: String,
}

/// Why a job may not begin.
#[derive(Debug, Clone, thiserror::Error)]
pub enum GateError {
    /// Somebody has refused it.
    #[error(transparent)]
    Vetoed(#[from] Veto),
    /// It is not known whom to ask.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Asks start hooks. Cheap to clone.
#[derive(Clone)]
pub struct Gate(Arc<CallbackOffice>);

impl Gate {
    /// Asks the hooks of this office.
    #[must_use]
    pub const fn new(office: Arc<CallbackOffice>) -> Self {
        Self(office)
    }

    /// Asks all whom it concerns whether the job may begin that `events` plan on the way to `after`. They are asked at once,
    /// and the first who refuses is named. Events that begin no job concern nobody.
    ///
    /// # Errors
    /// That somebody refuses, or that the database cannot be read.
    pub(crate) async fn ask(&self, after: &Cluster, events: &[Event], at: i64) -> Result<(), GateError> {
        let planned = events.iter().rev().find_map(|event| match event {
            Event::JobPlanned { job, action, .. } => Some((*job, *action)),
            // The job under way is stopped for it, and it begins by itself when that has ended.
            Event::FollowUpSet { then: FollowUp::Delete { .. }, .. } => {
                Some((after.next_job(), ClusterAction::ClusterDelete))
            }
            _ => None,
        });
        let Some((job, action)) = planned else { return Ok(()) };
        let tenant = after.account.tenant_id.clone();
        let office = Arc::clone(&self.0);
        let hooks = blocking(move || office.hooks()).await?;
        let concerned: Vec<Hook> =
            hooks.into_iter().filter(|hook| hook.wants(HookEvent::Start, Some(action), &tenant)).collect();
        let asked = concerned.into_iter().map(|hook| self.ask_one(hook, after, (job, action), at));
        match join_all(asked).await.into_iter().flatten().next() {
            Some(veto) => Err(veto.into()),
            None => Ok(()),
        }
    }

    /// Asks one hook, and records what it said.
    async fn ask_one(
        &self,
        hook: Hook,
        after: &Cluster,
        (job, action): (u32, ClusterAction),
        at: i64,
    ) -> Option<Veto> {
        let office = &self.0;
        let id = Uuid::new_v4().to_string();
        let mut call = Delivery {
            body: question(after, (job, action), at, &id, &hook),
            id,
            callback: hook.id.clone(),
            tenant: owner(&hook).to_owned(),
            event: HookEvent::Start,
            action: Some(action),
            cluster: Some(after.id),
            job: Some(job),
            created_ms: at,
            status: DeliveryStatus::Allowed,
            attempts: 1,
            tries_left: 0,
            next_ms: None,
        };
        let (of, asked, wanted) = (Arc::clone(office), hook.clone(), call.clone());
        let (verdict, tried) = match blocking(move || of.letter(&asked, &wanted)).await {
            Ok(letter) => {
                let (reply, tried) = office.send(letter).await;
                (understood(&reply), tried)
            }
            Err(fault) => (Verdict::Unanswered(fault.to_string()), unsent(at, &fault)),
        };
        let refusal = verdict.refusal(hook.on_error);
        call.status = match (&verdict, &refusal) {
            (Verdict::Unanswered(_), _) => DeliveryStatus::Failed,
            (_, Some(_)) => DeliveryStatus::Vetoed,
            (_, None) => DeliveryStatus::Allowed,
        };
        if let Verdict::Unanswered(fault) = &verdict {
            warn!(office.logger, "a start hook could not be asked"; "callback" => &hook.name, "fault" => fault,
                "cluster" => after.id.to_string(), "job_begins" => refusal.is_none());
        }
        let (store, logger) = (office.store.clone(), office.logger.clone());
        // Nobody waits for the record: whoever asked for the job is told at once.
        actix_rt::spawn(async move {
            if let Err(fault) = blocking(move || store.add_delivery(call, tried)).await {
                warn!(logger, "a call is not on record"; "fault" => fault.to_string());
            }
        });
        let reason = refusal?;
        info!(office.logger, "a job is refused by a hook"; "callback" => &hook.name, "reason" => &reason,
            "cluster" => after.id.to_string(), "action" => action.as_str());
        Some(Veto { hook: hook.name, action, reason })
    }
}

fn understood(reply: &Reply) -> Verdict {
    match (&reply.fault, reply.code) {
        (None, Some(code)) => verdict(code, &reply.answer),
        (Some(fault), _) => Verdict::Unanswered(fault.clone()),
        (None, None) => Verdict::Unanswered("there was no answer".to_owned()),
    }
}

fn unsent(at_ms: i64, fault: &StoreError) -> Attempted {
    Attempted { at_ms, duration_ms: 0, code: None, answer: String::new(), fault: Some(fault.to_string()) }
}

/// What a start hook is asked: the cluster as it would be, with the job that would begin.
fn question(
    after: &Cluster,
    (number, action): (u32, ClusterAction),
    at: i64,
    id: &str,
    hook: &Hook,
) -> String {
    let job = after.job(number);
    let to_come = json!({ "id": after.job_id(number), "action": action, "status": JobStatus::NotSubmitted });
    let document = json!({
        "event": HookEvent::Start,
        "time": at,
        "who": job.map(|job| job.by.as_str()),
        "cluster": after.summary(),
        "job": job.map_or(to_come, told),
    });
    body(&document.to_string(), id, hook, Some((after, Some(number))))
}
