//! How much work waits for workers, by tenant.

use std::collections::BTreeMap;

use actix_web::{HttpResponse, web};
use cooperage_actors::registry::ListPools;
use cooperage_actors::worker_pool::GetPoolUse;
use serde::Serialize;

use super::identity::Identity;
use super::problem::Problem;
use super::state::AppState;

/// What one tenant's queue holds: tasks that wait for a worker, and tasks in the hands of one.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Queue {
    queued: usize,
    in_progress: usize,
    total: usize,
}

/// `GET /v2/metrics/queues`: the superadmin sees all tenants, an admin the own one.
pub async fn get(state: web::Data<AppState>, identity: Identity) -> Result<HttpResponse, Problem> {
    let all = identity.is_superadmin();
    let tenants = state.blocking(|state| Ok(state.store.tenants()?)).await?;
    let mut names: BTreeMap<String, String> =
        tenants.into_iter().map(|tenant| (tenant.id, tenant.name)).collect();
    names.retain(|id, _| all || *id == identity.tenant);
    let mut queues: BTreeMap<String, Queue> =
        names.values().map(|name| (name.clone(), Queue::default())).collect();
    for (tenant, pool) in state.registry.send(ListPools).await.map_err(Problem::internal)? {
        let Some(name) = names.get(&tenant) else { continue };
        let found = pool.send(GetPoolUse).await.map_err(Problem::internal)?;
        let (queued, in_progress) = (found.waiting, found.in_use);
        queues.insert(name.clone(), Queue { queued, in_progress, total: queued + in_progress });
    }
    Ok(HttpResponse::Ok().json(queues))
}
