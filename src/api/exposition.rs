//! `GET /metrics`: all figures for Prometheus. What is known elsewhere is asked for now.

use std::collections::HashMap;

use actix_web::http::header::CONTENT_TYPE;
use actix_web::{HttpResponse, web};
use cooperage_actors::registry::ListPools;
use cooperage_actors::worker_pool::{GetPoolUse, PoolUse};
use cooperage_domain::cluster::ClusterStatus;

use super::problem::Problem;
use super::state::AppState;
use crate::metrics::{Metrics, process, table};

/// The format, by its name.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub async fn get(state: web::Data<AppState>) -> Result<HttpResponse, Problem> {
    let text = text(&state).await?;
    Ok(HttpResponse::Ok().insert_header((CONTENT_TYPE, OPEN_METRICS)).body(text))
}

/// All figures as they are now.
///
/// # Errors
/// When the database cannot be read.
pub async fn text(state: &web::Data<AppState>) -> Result<String, Problem> {
    let _turn = state.samples.turn().await;
    let metrics = &state.metrics;
    metrics.set(&table::BUILD, &[env!("CARGO_PKG_VERSION")], 1.0);
    metrics.set(&table::FOLLOWERS, &[], state.events.count() as f64);
    let written = state.store.journal().statistics();
    metrics.counted(&table::COMMITS, written.batches as f64);
    metrics.counted(&table::WRITES, written.jobs as f64);
    metrics.counted(&table::FAILED_COMMITS, written.failed_batches as f64);
    let tenants = state.blocking(stored).await?;
    pools(state, &tenants).await?;
    process::look(metrics);
    metrics.text().map_err(Problem::internal)
}

/// Tenants by their ids: their names, and how many workers they have elsewhere.
type Tenants = HashMap<String, (String, u32)>;

/// What the database knows.
fn stored(state: &AppState) -> Result<Tenants, Problem> {
    let metrics = &state.metrics;
    let counts = state.store.clusters_by_status()?;
    for status in ClusterStatus::ALL {
        let count = counts.iter().find(|(word, _)| word == status.as_str()).map_or(0, |(_, count)| *count);
        metrics.set(&table::CLUSTERS, &[status.as_str()], count as f64);
    }
    metrics.forget(&table::PROVISIONER_CAPACITY);
    metrics.forget(&table::PROVISIONER_FREE);
    let mut elsewhere: HashMap<String, u32> = HashMap::new();
    for one in state.store.provisioners()? {
        let found = &one.provisioner;
        for (tenant, workers) in &found.assignments {
            *elsewhere.entry(tenant.clone()).or_default() += workers;
        }
        metrics.set(&table::PROVISIONER_CAPACITY, &[&found.id], f64::from(found.capacity_total));
        metrics.set(&table::PROVISIONER_FREE, &[&found.id], f64::from(found.capacity_free()));
    }
    let tenants = state.store.tenants()?;
    let of = |id: &String| elsewhere.get(id).copied().unwrap_or_default();
    Ok(tenants.into_iter().map(|tenant| (tenant.id.clone(), (tenant.name, of(&tenant.id)))).collect())
}

/// What the pools of workers know.
async fn pools(state: &AppState, tenants: &Tenants) -> Result<(), Problem> {
    let metrics: &Metrics = &state.metrics;
    let found = state.registry.send(ListPools).await.map_err(Problem::internal)?;
    for gauge in [&table::WAITING, &table::RUNNING, &table::WORKERS] {
        metrics.forget(gauge);
    }
    let pools: HashMap<_, _> = found.into_iter().collect();
    for (id, (name, elsewhere)) in tenants {
        // A tenant's pool is there from its first task on.
        let standing = match pools.get(id) {
            Some(pool) => pool.send(GetPoolUse).await.map_err(Problem::internal)?,
            None => PoolUse::default(),
        };
        metrics.set(&table::WAITING, &[name], standing.waiting as f64);
        metrics.set(&table::RUNNING, &[name], standing.in_use as f64);
        metrics.set(&table::WORKERS, &[name], standing.slots as f64 + f64::from(*elsewhere));
    }
    Ok(())
}
