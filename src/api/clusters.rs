//! Clusters: asked for, looked at, deleted.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_actors::cluster::Operate;
use cooperage_actors::registry::{Create, Find};
use cooperage_domain::cluster::{Accepted, Asking, ClusterRequest, Command, Nodes, create};
use cooperage_domain::id::{ClusterId, JobId};
use cooperage_schema::ClusterFilter;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::apply::refuse_cycles;
use super::body;
use super::cluster_view::{details, plan, status};
use super::identity::Identity;
use super::preview::preview;
use super::problem::Problem;
use super::state::AppState;

/// Name of the counter that numbers clusters.
const CLUSTER_NUMBERS: &str = "clusters";

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Routes of clusters.
pub fn routes(config: &mut web::ServiceConfig) {
    config
        .route("/v2/clusters", web::get().to(list))
        .route("/v2/clusters", web::post().to(ask))
        .route("/v2/clusters/{id}", web::get().to(get))
        .route("/v2/clusters/{id}", web::delete().to(delete))
        .route("/v2/clusters/{id}/status", web::get().to(get_status))
        .route("/v2/clusters/{id}/services", web::get().to(get_services))
        .route("/v2/clusters/{id}/config", web::get().to(get_config))
        .route("/v2/clusters/{id}/plans", web::get().to(get_plans))
        .route("/v2/clusters/{id}/plans/{job}", web::get().to(get_plan))
        .route("/v2/clusters/{id}/abort", web::post().to(abort))
        .route("/v2/clusters/{id}/retry", web::post().to(retry));
}

#[derive(Debug, Default, Deserialize)]
struct ListQuery {
    status: Option<String>,
}

async fn list(state: State, identity: Identity, query: web::Query<ListQuery>) -> Answer {
    let known = ["pending", "active", "incomplete", "inconsistent", "terminated"];
    let statuses: Vec<String> = query
        .status
        .iter()
        .flat_map(|list| list.split(','))
        .map(|word| word.trim().to_lowercase())
        .filter(|word| known.contains(&word.as_str()))
        .collect();
    let rows = state
        .blocking(move |state| {
            let owner = (!identity.is_admin()).then(|| identity.user.clone());
            let filter =
                ClusterFilter { tenant: Some(identity.tenant), owner, statuses, ..ClusterFilter::default() };
            Ok(state.store.clusters(&filter)?)
        })
        .await?;
    let summaries: Result<Vec<Value>, _> =
        rows.iter().map(|row| serde_json::from_str(&row.summary)).collect();
    Ok(HttpResponse::Ok().json(summaries.map_err(Problem::internal)?))
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

async fn ask(state: State, identity: Identity, query: web::Query<CreateQuery>, body: web::Bytes) -> Answer {
    let request: ClusterRequest = body::parse(&body)?;
    request.check(state.settings.limits.max_cluster_size)?;
    let query = query.into_inner();
    if query.dry_run {
        let shown = state.blocking(move |state| preview(state, &identity, &request)).await?;
        return Ok(HttpResponse::Ok().json(shown));
    }
    // One moment for all, so that a lease is exactly as long as it says.
    let (asker, strict, now) = (identity.clone(), query.strict, state.clock.now());
    let (accepted, nodes) = state.blocking(move |state| solve(state, &asker, &request, strict, now)).await?;
    let id = accepted.order.id;
    let events = create(accepted.order, nodes, now)?;
    let message = Create { id, tenant: identity.tenant, events, who: identity.user };
    state.registry.send(message).await.map_err(Problem::internal)??;
    Ok(HttpResponse::Ok().json(json!({ "id": id })))
}

/// Looks up, checks, numbers and solves. Waits for the database.
fn solve(
    state: &AppState,
    identity: &Identity,
    request: &ClusterRequest,
    strict: bool,
    now: i64,
) -> Result<(Accepted, Nodes), Problem> {
    let catalog = state.catalog(&identity.tenant)?;
    // Checked before a number is used up.
    let accepted = request.accept(&catalog, asking(state, identity, now))?;
    refuse_secrets(&accepted)?;
    refuse_cycles(accepted.order.definitions.values())?;
    if strict {
        accepted.solve(&catalog).map_err(|refusal| Problem::from(&refusal))?;
    }
    let limits = &state.settings.limits;
    let number = state.store.next_number(CLUSTER_NUMBERS, limits.ids_start, limits.ids_increment)?;
    let accepted = numbered(accepted, ClusterId(number));
    let nodes = accepted.lay_out(&catalog);
    Ok((accepted, nodes))
}

fn refuse_secrets(accepted: &Accepted) -> Result<(), Problem> {
    if accepted.secrets.is_empty() {
        return Ok(());
    }
    let names: Vec<&String> = accepted.secrets.keys().collect();
    let detail = format!("providerFields: {names:?} are secrets, and secrets of users cannot be kept yet");
    Err(Problem::new(StatusCode::NOT_IMPLEMENTED, detail).with_remedy("put them into the provider"))
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

async fn get(state: State, identity: Identity, id: web::Path<String>) -> Answer {
    let cluster = state.cluster(&identity, &id).await?;
    Ok(HttpResponse::Ok().json(details(&cluster)))
}

async fn get_status(state: State, identity: Identity, id: web::Path<String>) -> Answer {
    let cluster = state.cluster(&identity, &id).await?;
    Ok(HttpResponse::Ok().json(status(&cluster)))
}

async fn get_services(state: State, identity: Identity, id: web::Path<String>) -> Answer {
    let cluster = state.cluster(&identity, &id).await?;
    Ok(HttpResponse::Ok().json(&cluster.services))
}

async fn get_config(state: State, identity: Identity, id: web::Path<String>) -> Answer {
    let cluster = state.cluster(&identity, &id).await?;
    Ok(HttpResponse::Ok().json(&cluster.config))
}

async fn get_plans(state: State, identity: Identity, id: web::Path<String>) -> Answer {
    let cluster = state.cluster(&identity, &id).await?;
    let plans: Vec<Value> =
        cluster.jobs.values().rev().map(|job| plan(&cluster, job, &state.estimates)).collect();
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
    Ok(HttpResponse::Ok().json(plan(&cluster, found, &state.estimates)))
}

async fn delete(state: State, identity: Identity, id: web::Path<String>) -> Answer {
    operate(&state, identity, &id, |by| Command::Delete { by }).await
}

async fn abort(state: State, identity: Identity, id: web::Path<String>) -> Answer {
    operate(&state, identity, &id, |by| Command::Abort { by }).await
}

async fn retry(state: State, identity: Identity, id: web::Path<String>) -> Answer {
    operate(&state, identity, &id, |by| Command::Retry { by }).await
}

async fn operate(
    state: &Arc<AppState>,
    identity: Identity,
    id: &str,
    command: fn(String) -> Command,
) -> Answer {
    let cluster = state.cluster(&identity, id).await?;
    let address = state.registry.send(Find { id: cluster.id }).await.map_err(Problem::internal)??;
    let operate = Operate { command: command(identity.user.clone()), who: identity.user };
    address.send(operate).await.map_err(Problem::internal)??;
    Ok(HttpResponse::Ok().finish())
}
