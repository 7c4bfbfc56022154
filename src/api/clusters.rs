//! Clusters: asked for and looked at.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, HttpResponseBuilder, web};
use cooperage_actors::registry::Create;
use cooperage_domain::cluster::{
    Accepted, Asking, Cluster, ClusterRequest, ClusterStatus, Event, Nodes, Origins, create, replay,
};
use cooperage_domain::id::{ClusterId, JobId};
use cooperage_domain::quota::Usage;
use cooperage_schema::ClusterFilter;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::ancestry::{Ancestry, adopt, release, warn};
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
    /// Only those that are built upon this one.
    parent: Option<String>,
}

async fn list(state: State, identity: Identity, query: web::Query<ListQuery>, part: Paging) -> Answer {
    let place: Option<(i64, u64)> = part.place(LIST)?;
    let now = state.clock.now();
    let behind = place.map(|(created, id)| (created, ClusterId(id)));
    let limit = part.wanted();
    let upon = query.parent.as_deref().map(str::parse).transpose()?;
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
            let filter = ClusterFilter {
                tenant: Some(identity.tenant),
                owner,
                upon,
                statuses,
                behind,
                limit,
                name: None,
            };
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
    let ancestry = Ancestry::find(&state, &identity, request.parent.as_ref()).await?;
    let origins = ancestry.origins();
    if query.dry_run {
        let shown =
            state.blocking(move |state| preview::of_create(state, &identity, &request, origins)).await?;
        return Ok(HttpResponse::Ok().json(shown));
    }
    if let Some(id) = key.cluster()
        && state.blocking(move |state| Ok(state.store.cluster(id)?)).await?.is_some()
    {
        // Created before the server was killed; only the answer was not given.
        return Ok(HttpResponse::Ok().json(json!({ "id": id })));
    }
    // One moment for all, so that a lease is exactly as long as it says.
    let (asker, strict, now) = (identity.clone(), query.strict, state.clock.now());
    let solved = state
        .blocking(move |state| {
            let asking = asking(state, &asker, now, origins);
            solve(state, asking, &request, &key, strict)
        })
        .await?;
    let Solved { accepted, nodes, reserved: _reserved } = solved;
    let (id, has_secrets) = (accepted.order.id, !accepted.secrets.is_empty());
    let warning = ancestry.warning(accepted.order.expires);
    let events = create(accepted.order, nodes, now)?;
    let created = found(&state, identity, id, events).await;
    if created.is_err() && has_secrets {
        state.blocking(move |state| Ok(state.vault.forget(id)?)).await?;
    }
    created?;
    let mut answer = json!({ "id": id });
    if let Some(warning) = &warning {
        answer["warning"] = warning.as_str().into();
    }
    let mut answer = HttpResponse::Ok().json(answer);
    if let Some(warning) = warning {
        warn(&mut answer, &warning);
    }
    Ok(about(answer, format!("/v2/clusters/{id}")))
}

/// Brings a cluster into being, known to those it is built upon before.
async fn found(state: &State, identity: Identity, id: ClusterId, events: Vec<Event>) -> Result<(), Problem> {
    let new = replay(&events).filter(|new| new.status != ClusterStatus::Terminated);
    if let Some(new) = &new {
        adopt(state, new, &identity.user).await?;
    }
    let who = identity.user.clone();
    let message = Create { id, tenant: identity.tenant, events, who: identity.user };
    let created = state.registry.send(message).await.map_err(Problem::internal)?;
    if let (Err(_), Some(new)) = (&created, &new) {
        release(state, new, &who).await;
    }
    Ok(created?)
}

/// Looks up, checks, numbers and solves. Waits for the database.
fn solve(
    state: &AppState,
    asking: Asking,
    request: &ClusterRequest,
    key: &Keyed,
    strict: bool,
) -> Result<Solved, Problem> {
    let tenant = asking.account.tenant_id.clone();
    let reserved = reserve(state, &tenant, Usage { clusters: 1, nodes: request.machines().into() })?;
    let catalog = state.catalog(&tenant)?;
    // Checked before a number is used up.
    let accepted = request.accept(&catalog, asking)?;
    refuse_cycles(accepted.order.definitions.values())?;
    if strict {
        accepted.solve(&catalog).map_err(|refusal| Problem::from(&refusal))?;
    }
    let id = number(state, key)?;
    if let Some(reserved) = &reserved {
        reserved.is_for(id);
    }
    let accepted = numbered(accepted, id);
    let nodes = accepted.lay_out(&catalog);
    if !accepted.secrets.is_empty() && nodes.is_ok() {
        // Before the cluster is there: its first task may need them at once.
        state.vault.keep(&tenant, id, accepted.secrets.clone())?;
    }
    Ok(Solved { accepted, nodes, reserved })
}

/// The number of a new cluster: a fresh one, or the one that was bound to the request's key by an attempt that was cut off.
fn number(state: &AppState, key: &Keyed) -> Result<ClusterId, Problem> {
    if let Some(bound) = key.cluster() {
        return Ok(bound);
    }
    let limits = &state.settings.limits;
    let number = state.store.next_number(CLUSTER_NUMBERS, limits.ids_start, limits.ids_increment)?;
    key.bind(&state.store, ClusterId(number))?;
    Ok(ClusterId(number))
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

/// What is added to a request: who asks, when, under which limits, and what the cluster is built upon.
pub(super) fn asking(state: &AppState, identity: &Identity, now: i64, origins: Origins) -> Asking {
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
