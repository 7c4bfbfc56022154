//! What a change would do: nodes, services, tasks, time and money, without doing anything.

use std::sync::Arc;

use actix_web::HttpResponse;
use cooperage_domain::cluster::{
    Cluster, ClusterRequest, Command, Event, Origins, Outlook, PlanPreview, create, decide,
};
use serde_json::json;

use super::apply::refuse_cycles;
use super::asked::{Asked, Purpose};
use super::audit::only_shown;
use super::founding::asking;
use super::identity::Identity;
use super::problem::Problem;
use super::saved_plans;
use super::secret_fields::SecretFields;
use super::state::AppState;

/// What a create would do. Waits for the database.
///
/// # Errors
/// As a create that refuses requests without a layout.
pub fn of_create(
    state: &AppState,
    identity: &Identity,
    request: &ClusterRequest,
    origins: Origins,
) -> Result<PlanPreview, Problem> {
    let catalog = state.catalog(&identity.tenant)?;
    let now = state.clock.now();
    let accepted = request.accept(&catalog, asking(state, identity, now, origins))?;
    refuse_cycles(accepted.order.definitions.values())?;
    let nodes = accepted.lay_out(&catalog).map_err(|refusal| Problem::from(&refusal))?;
    let events = create(accepted.order, Ok(nodes), now)?;
    foretell(state, &identity.tenant, None, &events)
}

/// What events would do. Waits for the database.
///
/// # Errors
/// When the database cannot be read.
pub fn foretell(
    state: &AppState,
    tenant: &str,
    before: Option<&Cluster>,
    events: &[Event],
) -> Result<PlanPreview, Problem> {
    let prices = state.prices(tenant)?;
    let outlook = Outlook {
        length: &|cluster, task| state.estimates.length(cluster, task),
        prices: &prices,
        workers: state.workers(),
    };
    let preview = cooperage_domain::cluster::preview(before, events, &outlook);
    let mut preview = preview.ok_or_else(|| Problem::internal("a create without events"))?;
    if let Some(before) = before {
        let secrets = SecretFields::load(state)?;
        secrets.hide_values(&before.provider.providertype, &mut preview.changes.provider);
    }
    Ok(preview)
}

/// What was decided for an answer that shows it; among the extensions of the answer.
#[derive(Debug, Clone)]
pub struct Decided {
    /// What the cluster would be told.
    pub command: Command,
    /// What came of it.
    pub preview: PlanPreview,
}

/// Answers with what a command would do, and keeps it if it is to be saved.
///
/// # Errors
/// When the cluster refuses it, or is not in the state it is asked for.
pub async fn show(
    state: &Arc<AppState>,
    identity: &Identity,
    cluster: &Arc<Cluster>,
    command: Command,
    asked: &Asked,
) -> Result<HttpResponse, Problem> {
    asked.check(cluster)?;
    let events = decide(cluster, command.clone(), state.clock.now())?;
    let (before, tenant, decided) = (Arc::clone(cluster), identity.tenant.clone(), events.clone());
    let preview = state.blocking(move |state| foretell(state, &tenant, Some(&before), &decided)).await?;
    let mut shown = json!(preview);
    if asked.purpose == Purpose::Save {
        let number = saved_plans::save(state, identity, cluster, &command, &events, &preview).await?;
        shown["plan"] = number.into();
    }
    let mut answer = HttpResponse::Ok().json(shown);
    if asked.purpose == Purpose::Show {
        answer = only_shown(answer);
    }
    answer.extensions_mut().insert(Decided { command, preview });
    Ok(answer)
}
