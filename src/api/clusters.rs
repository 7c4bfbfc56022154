//! Clusters: asked for and looked at.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, HttpResponseBuilder, web};
use cooperage_actors::registry::Create;
use cooperage_domain::cluster::{Accepted, Asking, Cluster, ClusterRequest, Nodes, create};
use cooperage_domain::id::{ClusterId, JobId};
use cooperage_domain::quota::Usage;
use cooperage_schema::ClusterFilter;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::apply::refuse_cycles;
use super::audit::about;
use super::body;
use super::cluster_changes;
use super::cluster_view::{add_lease_left, details, plan, status};
use super::edge::{Keyed, StateTag};
use super::export;
use super::identity::Identity;
use super::logs;
use super::paging::Paging;
use super::preview;
use super::problem::Problem;
use super::reservations::Reservation;
use super::routes::Routes;
use super::secret_fields::SecretFields;
use super::state::AppState;
use super::time_travel;
use super::waiting;
use super::within_quota::reserve;

/// Name of the counter that numbers clusters.
const CLUSTER_NUMBERS: &str = "clusters";
/// Name of the list of clusters in its cursors.
const LIST: &str = "clusters";

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Routes of clusters.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/clusters", |on| on.get(list).post(ask));
    routes.at("/v2/clusters/{id}", |on| {
        on.get(get).post(cluster_changes::prolong).delete(cluster_changes::delete)
    });
    routes.at("/v2/clusters/{id}/status", |on| on.get(get_status));
    routes.at("/v2/clusters/{id}/services", |on| on.get(get_services).post(cluster_changes::add_services));
    routes.at("/v2/clusters/{id}/config", |on| on.get(get_config).put(cluster_changes::configure));
    routes.at("/v2/clusters/{id}/plans", |on| on.get(get_plans));
    routes.at("/v2/clusters/{id}/plans/{job}", |on| on.get(get_plan));
    routes.at("/v2/clusters/{id}/waiting", |on| on.get(waiting::get));
    routes.at("/v2/clusters/{id}/logs", |on| on.get(logs::get));
    routes.at("/v2/clusters/{id}/export", |on| on.get(export::get));
}

#[derive(Debug, Default, Deserialize)]
struct ListQuery {
    status: Option<String>,
}

async fn list(state: State, identity: Identity, query: web::Query<ListQuery>, part: Paging) -> Answer {
    let place: Option<(i64, u64)> = part.place(LIST)?;
    let now = state.clock.now();
    let behind = place.map(|(created, id)| (created, ClusterId(id)));
    let limit = part.wanted();
    let known = ["pending", "active", "incomplete", "inconsistent", "terminated"];
    let statuses: Vec<String> = query
        .status
        .iter()
        .flat_map(|list| list.split(','))
        .map(|word| word.trim().to_lowercase())
        .filter(|word| known.contains(&word.as_str()))
        .collect();
    let mut rows = state
        .blocking(move |state| {
            let owner = identity.owner_seen();
            let filter = ClusterFilter { tenant: Some(identity.tenant), owner, statuses, behind, limit };
            Ok(state.store.clusters(&filter)?)
        })
        .await?;
    let last = part.cut(&mut rows).map(|row| (row.created_ms, row.id.0));
    let mut answer = HttpResponse::Ok();
    part.link(&mut answer, LIST, last);
    let summaries: Result<Vec<Value>, _> =
        rows.iter().map(|row| serde_json::from_str(&row.summary)).collect();
    let mut summaries = summaries.map_err(Problem::internal)?;
    summaries.iter_mut().for_each(|summary| add_lease_left(summary, now));
    Ok(answer.json(summaries))
}

/// What the caller wants of a create beyond the request.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CreateQuery {
    /// Show what would be done, and do nothing.
    dry_run: bool,
    /// Refuse a request without a layout, instead of recording a cluster that is terminated at once, as Coopr does.
    strict: bool,
}

async fn ask(
    state: State,
    identity: Identity,
    query: web::Query<CreateQuery>,
    key: Keyed,
    body: web::Bytes,
) -> Answer {
    let request: ClusterRequest = body::parse(&body)?;
    request.check(state.settings.limits.max_cluster_size)?;
    let query = query.into_inner();
    if query.dry_run {
        let shown = state.blocking(move |state| preview::of_create(state, &identity, &request)).await?;
        return Ok(HttpResponse::Ok().json(shown));
    }
    if let Some(id) = key.cluster()
        && state.blocking(move |state| Ok(state.store.cluster(id)?)).await?.is_some()
    {
        // Created before the server was killed; only the answer was not given.
        return Ok(HttpResponse::Ok().json(json!({ "id": id })));
    }
    let id = found(&state, &identity, request, move |state| number(state, &key), query.strict).await?;
    Ok(about(HttpResponse::Ok().json(json!({ "id": id })), format!("/v2/clusters/{id}")))
}

/// Creates a cluster under the number that `number` gives it once everything else is known to hold; without a layout it
/// is refused if the caller is `strict`.
///
/// # Errors
/// When the request has a fault, the quota would be exceeded, or the database cannot be used.
pub(super) async fn found(
    state: &Arc<AppState>,
    identity: &Identity,
    request: ClusterRequest,
    number: impl FnOnce(&AppState) -> Result<ClusterId, Problem> + Send + 'static,
    strict: bool,
) -> Result<ClusterId, Problem> {
    // One moment for all, so that a lease is exactly as long as it says.
    let (asker, now) = (identity.clone(), state.clock.now());
    let solved = state.blocking(move |state| solve(state, &asker, &request, number, (strict, now))).await?;
    let Solved { accepted, nodes, reserved: _reserved } = solved;
    let (id, has_secrets) = (accepted.order.id, !accepted.secrets.is_empty());
    let events = create(accepted.order, nodes, now)?;
    let message = Create { id, tenant: identity.tenant.clone(), events, who: identity.user.clone() };
    let created = state.registry.send(message).await.map_err(Problem::internal)?;
    if created.is_err() && has_secrets {
        state.blocking(move |state| Ok(state.vault.forget(id)?)).await?;
    }
    created?;
    Ok(id)
}

/// Looks up, checks, numbers and solves. Waits for the database.
fn solve(
    state: &AppState,
    identity: &Identity,
    request: &ClusterRequest,
    number: impl FnOnce(&AppState) -> Result<ClusterId, Problem>,
    (strict, now): (bool, i64),
) -> Result<Solved, Problem> {
    let reserved = reserve(state, &identity.tenant, Usage { clusters: 1, nodes: request.machines().into() })?;
    let catalog = state.catalog(&identity.tenant)?;
    // Checked before a number is used up.
    let accepted = request.accept(&catalog, asking(state, identity, now))?;
    refuse_cycles(accepted.order.definitions.values())?;
    if strict {
        accepted.solve(&catalog).map_err(|refusal| Problem::from(&refusal))?;
    }
    let id = number(state)?;
    if let Some(reserved) = &reserved {
        reserved.is_for(id);
    }
    let accepted = numbered(accepted, id);
    let nodes = accepted.lay_out(&catalog);
    if !accepted.secrets.is_empty() && nodes.is_ok() {
        // Before the cluster is there: its first task may need them at once.
        state.vault.keep(&identity.tenant, id, accepted.secrets.clone())?;
    }
    Ok(Solved { accepted, nodes, reserved })
}

/// The number of a new cluster: a fresh one, or the one that was bound to the request's key by an attempt that was cut off.
fn number(state: &AppState, key: &Keyed) -> Result<ClusterId, Problem> {
    if let Some(bound) = key.cluster() {
        return Ok(bound);
    }
    let fresh = fresh_number(state)?;
    key.bind(&state.store, fresh)?;
    Ok(fresh)
}

/// A number that no cluster has, nor ever will have but for this one. Waits for the database.
///
/// # Errors
/// When the database cannot be written.
pub(super) fn fresh_number(state: &AppState) -> Result<ClusterId, Problem> {
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

fn numbered(mut accepted: Accepted, id: ClusterId) -> Accepted {
    accepted.order.id = id;
    accepted
}

/// What is added to a request: who asks, when, and under which limits.
pub(super) fn asking(state: &AppState, identity: &Identity, now: i64) -> Asking {
    Asking {
        account: identity.account(),
        // Numbered once everything is known to hold.
        id: ClusterId(0),
        seed: Uuid::new_v4(),
        now,
        limits: state.settings.job_limits(),
    }
}

/// An answer about a cluster as it is now, on which a change may be based.
fn at_state(cluster: &Cluster) -> HttpResponseBuilder {
    let mut answer = HttpResponse::Ok();
    StateTag(cluster.sequence.to_string()).on(&mut answer);
    answer
}

#[derive(Debug, Default, Deserialize)]
struct Moment {
    at: Option<String>,
}

/// `GET /v2/clusters/{id}[?at=]`: a cluster as it is, or as it was.
async fn get(state: State, identity: Identity, id: web::Path<String>, moment: web::Query<Moment>) -> Answer {
    let now = state.cluster(&identity, &id).await?;
    let past = moment.into_inner().at;
    let (shown, secrets) = state
        .blocking(move |state| {
            let shown = past.as_deref().map(|text| time_travel::at(state, &now, "at", text)).transpose()?;
            Ok((shown.unwrap_or(now), SecretFields::load(state)?))
        })
        .await?;
    let mut details = details(&shown);
    add_lease_left(&mut details, state.clock.now());
    secrets.hide_in(&mut details["provider"]);
    Ok(at_state(&shown).json(details))
}

async fn get_status(state: State, identity: Identity, id: web::Path<String>) -> Answer {
    let cluster = state.cluster(&identity, &id).await?;
    Ok(at_state(&cluster).json(status(&cluster)))
}

async fn get_services(state: State, identity: Identity, id: web::Path<String>) -> Answer {
    let cluster = state.cluster(&identity, &id).await?;
    Ok(at_state(&cluster).json(&cluster.services))
}

async fn get_config(state: State, identity: Identity, id: web::Path<String>) -> Answer {
    let cluster = state.cluster(&identity, &id).await?;
    Ok(at_state(&cluster).json(&cluster.config))
}

async fn get_plans(state: State, identity: Identity, id: web::Path<String>) -> Answer {
    let cluster = state.cluster(&identity, &id).await?;
    let looker = waiting::look(&state, &cluster).await?;
    let plans: Vec<Value> = cluster.jobs.values().rev().map(|job| plan(&cluster, job, &looker)).collect();
    Ok(HttpResponse::Ok().json(plans))
}

async fn get_plan(state: State, identity: Identity, at: web::Path<(String, String)>) -> Answer {
    let (id, job) = at.into_inner();
    let cluster = state.cluster(&identity, &id).await?;
    let wrong =
        |text: String| Problem::new(StatusCode::BAD_REQUEST, text).with_remedy("list the cluster's plans");
    let job: JobId = job.parse().map_err(|fault| wrong(format!("{fault}")))?;
    if job.cluster != cluster.id {
        return Err(wrong(format!("job {job} does not belong to cluster {}", cluster.id)));
    }
    let found = cluster.jobs.get(&job.number).ok_or_else(|| Problem::not_found("job", job))?;
    let looker = waiting::look(&state, &cluster).await?;
    Ok(HttpResponse::Ok().json(plan(&cluster, found, &looker)))
}
