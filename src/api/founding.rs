//! How a new cluster comes into being: checked, numbered, laid out, made known to those it is built upon, and created.

use std::sync::Arc;

use actix_web::HttpResponse;
use cooperage_actors::registry::Create;
use cooperage_domain::cluster::{
    Accepted, Asking, ClusterRequest, ClusterStatus, Event, Nodes, Origins, create, replay,
};
use cooperage_domain::id::ClusterId;
use cooperage_domain::quota::Usage;
use serde_json::json;
use uuid::Uuid;

use super::ancestry::{Ancestry, adopt, release, warn};
use super::apply::refuse_cycles;
use super::identity::Identity;
use super::problem::Problem;
use super::reservations::Reservation;
use super::state::AppState;
use super::within_quota::reserve;

/// Name of the counter that numbers clusters.
const CLUSTER_NUMBERS: &str = "clusters";

/// A cluster that was created.
pub struct Founded {
    /// Its number.
    pub id: ClusterId,
    /// What its owner should know.
    warning: Option<String>,
}

impl Founded {
    /// As it is told to whoever asked for it.
    pub fn told(&self) -> HttpResponse {
        let mut told = json!({ "id": self.id });
        let Some(warning) = &self.warning else { return HttpResponse::Ok().json(told) };
        told["warning"] = warning.as_str().into();
        let mut answer = HttpResponse::Ok().json(told);
        warn(&mut answer, warning);
        answer
    }
}

/// Creates a cluster under the number that `number` gives it once everything else is known to hold; without a layout it
/// is refused if the caller is `strict`.
///
/// # Errors
/// When the request has a fault, the quota would be exceeded, or the database cannot be used.
pub async fn found(
    state: &Arc<AppState>,
    identity: &Identity,
    (request, ancestry): (ClusterRequest, Ancestry),
    number: impl FnOnce(&AppState) -> Result<ClusterId, Problem> + Send + 'static,
    strict: bool,
) -> Result<Founded, Problem> {
    // One moment for all, so that a lease is exactly as long as it says.
    let now = state.clock.now();
    let asking = asking(state, identity, now, ancestry.origins());
    let solved = state.blocking(move |state| solve(state, asking, &request, number, strict)).await?;
    let Solved { accepted, nodes, reserved: _reserved } = solved;
    let (id, has_secrets) = (accepted.order.id, !accepted.secrets.is_empty());
    let warning = ancestry.warning(accepted.order.expires);
    let created = begin(state, identity, id, create(accepted.order, nodes, now)?).await;
    if created.is_err() && has_secrets {
        state.blocking(move |state| Ok(state.vault.forget(id)?)).await?;
    }
    created?;
    Ok(Founded { id, warning })
}

/// Brings a cluster into being, known to those it is built upon before.
async fn begin(
    state: &Arc<AppState>,
    identity: &Identity,
    id: ClusterId,
    events: Vec<Event>,
) -> Result<(), Problem> {
    let new = replay(&events).filter(|new| new.status != ClusterStatus::Terminated);
    if let Some(new) = &new {
        adopt(state, new, &identity.user).await?;
    }
    let message = Create { id, tenant: identity.tenant.clone(), events, who: identity.user.clone() };
    let created = state.registry.send(message).await.map_err(Problem::internal)?;
    if let (Err(_), Some(new)) = (&created, &new) {
        release(state, new, &identity.user).await;
    }
    Ok(created?)
}

/// Looks up, checks, numbers and solves. Waits for the database.
fn solve(
    state: &AppState,
    asking: Asking,
    request: &ClusterRequest,
    number: impl FnOnce(&AppState) -> Result<ClusterId, Problem>,
    strict: bool,
) -> Result<Solved, Problem> {
    let tenant = asking.account.tenant_id.clone();
    let reserved = reserve(state, &tenant, Usage { clusters: 1, nodes: request.machines().into() })?;
    let catalog = state.catalog(&tenant)?;
    // Checked before a number is used up.
    let mut accepted = request.accept(&catalog, asking)?;
    refuse_cycles(accepted.order.definitions.values())?;
    if strict {
        accepted.solve(&catalog).map_err(|refusal| Problem::from(&refusal))?;
    }
    let id = number(state)?;
    if let Some(reserved) = &reserved {
        reserved.is_for(id);
    }
    accepted.order.id = id;
    let nodes = accepted.lay_out(&catalog);
    if !accepted.secrets.is_empty() && nodes.is_ok() {
        // Before the cluster is there: its first task may need them at once.
        state.vault.keep(&tenant, id, accepted.secrets.clone())?;
    }
    Ok(Solved { accepted, nodes, reserved })
}

/// A number that no cluster has, nor ever will have but for this one. Waits for the database.
///
/// # Errors
/// When the database cannot be written.
pub fn fresh_number(state: &AppState) -> Result<ClusterId, Problem> {
    let limits = &state.settings.limits;
    Ok(ClusterId(state.store.next_number(CLUSTER_NUMBERS, limits.ids_start, limits.ids_increment)?))
}

/// A request ready to become a cluster.
struct Solved {
    accepted: Accepted,
    nodes: Nodes,
    /// Held until the cluster counts itself.
    reserved: Option<Reservation>,
}

/// What is added to a request: who asks, when, under which limits, and what the cluster is built upon.
pub fn asking(state: &AppState, identity: &Identity, now: i64, origins: Origins) -> Asking {
    Asking {
        account: identity.account(),
        // Numbered once everything is known to hold.
        id: ClusterId(0),
        seed: Uuid::new_v4(),
        now,
        limits: state.settings.job_limits(),
        origins,
    }
}
