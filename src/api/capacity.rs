//! How many workers can still be promised to tenants.

use cooperage_actors::fleet::ListProvisioners;
use cooperage_domain::tenant::TenantSpec;

use super::problem::Problem;
use super::state::AppState;
use super::tenants::specification;

/// Workers all provisioners together can bring: those elsewhere, and those of this process.
///
/// # Errors
/// When nobody knows the provisioners, because the server is stopping.
pub async fn total_capacity(state: &AppState) -> Result<u64, Problem> {
    let elsewhere = state.fleet.send(ListProvisioners).await.map_err(Problem::internal)?;
    // One that is about to go brings nothing any more.
    let staying = elsewhere.iter().filter(|provisioner| !provisioner.draining);
    let elsewhere: u64 = staying.map(|provisioner| u64::from(provisioner.capacity_total)).sum();
    Ok(elsewhere + state.settings.workers.local as u64)
}

/// Workers of these that no tenant has been promised yet. Waits for the database.
///
/// # Errors
/// When the database cannot be read.
pub fn free_of(total: u64, state: &AppState) -> Result<u64, Problem> {
    let tenants = state.store.tenants()?;
    let specs = tenants.iter().map(specification).collect::<Result<Vec<TenantSpec>, _>>()?;
    let promised: u64 = specs.iter().map(|spec| u64::from(spec.workers)).sum();
    Ok(total.saturating_sub(promised))
}
