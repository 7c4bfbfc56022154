//! Whether a tenant, and the size of one cluster, may have what is asked for.

use actix_web::http::StatusCode;
use cooperage_domain::cluster::{Cluster, Command, decide, nodes_added};
use cooperage_domain::quota::{UNLIMITED, Usage};

use super::asked::Purpose;
use super::problem::Problem;
use super::reservations::Reservation;
use super::state::AppState;
use super::tenants::specification;

/// Reserves what is about to be made of the tenant's quota; nothing where there is no limit, or nothing is made. Waits for
/// the database.
///
/// # Errors
/// When the quota would be exceeded, or the database cannot be read.
pub fn reserve(state: &AppState, tenant: &str, more: Usage) -> Result<Option<Reservation>, Problem> {
    let found = state.store.tenant_by_id(tenant)?.ok_or_else(|| Problem::not_found("tenant", tenant))?;
    let quota = specification(&found)?.quota();
    if quota == UNLIMITED || more == Usage::default() {
        return Ok(None);
    }
    let live = || Ok::<_, Problem>(state.store.nodes_of_live_clusters(tenant)?);
    state.reservations.reserve(tenant, more, quota, live).map(Some)
}

/// Reserves the nodes that a command brings along, so that several that grow at once stay within the quota together; none
/// when nothing is to be made. The limit of a cluster's size holds too.
///
/// # Errors
/// When the cluster refuses it, or they are too many. Solves, and waits for the database.
pub fn reserve_for(
    state: &AppState,
    cluster: &Cluster,
    command: &Command,
    purpose: Purpose,
) -> Result<Option<Reservation>, Problem> {
    if !command.may_add_nodes() {
        return Ok(None);
    }
    let added = nodes_added(&decide(cluster, command.clone(), state.clock.now())?);
    check_size(state, cluster.nodes.len() + added)?;
    if purpose != Purpose::Make {
        return Ok(None);
    }
    let nodes = u64::try_from(added).unwrap_or(u64::MAX);
    reserve(state, &cluster.account.tenant_id, Usage { clusters: 0, nodes })
}

fn check_size(state: &AppState, size: usize) -> Result<(), Problem> {
    let limit = state.settings.limits.max_cluster_size;
    if size <= usize::try_from(limit).unwrap_or(usize::MAX) {
        return Ok(());
    }
    let detail = format!("machines: {size} is above the max cluster size of {limit}");
    Err(Problem::new(StatusCode::BAD_REQUEST, detail)
        .at("machines", size.to_string())
        .with_remedy("ask for fewer, or raise limits.max_cluster_size"))
}
