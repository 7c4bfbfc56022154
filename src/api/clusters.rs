//! Clusters: asked for and looked at.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, HttpResponseBuilder, web};
use cooperage_domain::cluster::{Cluster, ClusterRequest};
use cooperage_domain::id::{ClusterId, JobId};
use cooperage_schema::ClusterFilter;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ancestry::Ancestry;
use super::audit::{about, only_shown};
use super::body;
use super::cluster_changes;
use super::cluster_view::{ClusterDetails, add_lease_left, add_price, status};
use super::edge::{Keyed, StateTag};
use super::export;
use super::founding::{found, fresh_number};
use super::identity::Identity;
use super::logs;
use super::paging::Paging;
use super::plan_view::Plan;
use super::preview;
use super::problem::Problem;
use super::routes::Routes;
use super::secret_fields::SecretFields;
use super::state::AppState;
use super::time_travel;
use super::waiting;

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
    let (mut rows, prices) = state
        .blocking(move |state| {
            let owner = identity.owner_seen();
            let prices = state.prices(&identity.tenant)?;
            let filter = ClusterFilter {
                tenant: Some(identity.tenant),
                owner,
                upon,
                statuses,
                behind,
                limit,
                name: None,
            };
            Ok((state.store.clusters(&filter)?, prices))
        })
        .await?;
    let last = part.cut(&mut rows).map(|row| (row.created_ms, row.id.0));
    let mut answer = HttpResponse::Ok();
    part.link(&mut answer, LIST, last);
    let summaries: Result<Vec<Value>, _> =
        rows.iter().map(|row| serde_json::from_str(&row.summary)).collect();
    let mut summaries = summaries.map_err(Problem::internal)?;
    for summary in &mut summaries {
        add_lease_left(summary, now);
        add_price(summary, &prices);
    }
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
        return Ok(only_shown(HttpResponse::Ok().json(shown)));
    }
    if let Some(id) = key.cluster()
        && state.blocking(move |state| Ok(state.store.cluster(id)?)).await?.is_some()
    {
        // Created before the server was killed; only the answer was not given.
        return Ok(HttpResponse::Ok().json(json!({ "id": id })));
    }
    let number = move |state: &AppState| number(state, &key);
    let founded = found(&state, &identity, (request, ancestry), number, query.strict).await?;
    Ok(about(founded.told(), format!("/v2/clusters/{}", founded.id)))
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
    let tenant = identity.tenant;
    let (shown, secrets, prices) = state
        .blocking(move |state| {
            let shown = past.as_deref().map(|text| time_travel::at(state, &now, "at", text)).transpose()?;
            Ok((shown.unwrap_or(now), SecretFields::load(state)?, state.prices(&tenant)?))
        })
        .await?;
    Ok(at_state(&shown).json(ClusterDetails::of(&shown, &secrets, &prices, state.clock.now())))
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
    let looker = waiting::look(&state, &cluster).await?.remembering(&state, cluster.id, None).await?;
    let plans: Vec<Plan<'_>> =
        cluster.jobs.values().rev().map(|job| Plan::of(&cluster, job, &looker)).collect();
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
    let looker = waiting::look(&state, &cluster).await?.remembering(&state, cluster.id, Some(job)).await?;
    Ok(HttpResponse::Ok().json(Plan::of(&cluster, found, &looker)))
}
