//! Which layouts a request could have, and why a cluster has the one it has.

use std::collections::BTreeSet;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_domain::cluster::{Cluster, ClusterRequest, Placed, placement};
use serde::Deserialize;

use super::ancestry::Ancestry;
use super::body;
use super::founding::asking;
use super::identity::Identity;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;

/// Routes of layouts.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/layouts", |on| on.post(alternatives));
    routes.at("/v2/clusters/{id}/placement", |on| on.get(places));
}

/// `POST /v2/layouts`: layouts of a cluster that is not created, each the best at something.
async fn alternatives(
    state: web::Data<AppState>,
    identity: Identity,
    body: web::Bytes,
) -> Result<HttpResponse, Problem> {
    let request: ClusterRequest = body::parse(&body)?;
    request.check(state.settings.limits.max_cluster_size)?;
    let origins = Ancestry::find(&state, &identity, request.parent.as_ref()).await?.origins();
    let found = state
        .blocking(move |state| {
            let catalog = state.catalog(&identity.tenant)?;
            let accepted = request.accept(&catalog, asking(state, &identity, state.clock.now(), origins))?;
            accepted.alternatives(&catalog).map_err(|refusal| Problem::from(&refusal))
        })
        .await?;
    Ok(HttpResponse::Ok().json(found))
}

#[derive(Debug, Default, Deserialize)]
struct Which {
    service: Option<String>,
}

/// `GET /v2/clusters/{id}/placement[?service=]`: why each kind of node carries a service or does not.
async fn places(
    state: web::Data<AppState>,
    identity: Identity,
    id: web::Path<String>,
    which: web::Query<Which>,
) -> Result<HttpResponse, Problem> {
    let cluster = state.cluster(&identity, &id).await?;
    let services = match &which.service {
        None => cluster.services.clone(),
        Some(service) if cluster.services.contains(service) => BTreeSet::from([service.clone()]),
        Some(service) => return Err(no_such_service(&cluster, service)),
    };
    let placed: Vec<Placed> = services.iter().flat_map(|service| placement(&cluster, service)).collect();
    Ok(HttpResponse::Ok().json(placed))
}

fn no_such_service(cluster: &Cluster, service: &str) -> Problem {
    let known: Vec<&str> = cluster.services.iter().map(String::as_str).collect();
    let detail = format!("cluster {} has no service {service:?}", cluster.id);
    Problem::new(StatusCode::NOT_FOUND, detail)
        .at("service", service)
        .with_remedy(format!("use one of: {}", known.join(", ")))
}
