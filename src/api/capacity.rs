//! How many workers can still be promised to tenants.

use cooperage_domain::tenant::TenantSpec;

use super::problem::Problem;
use super::state::AppState;
use super::tenants::specification;

/// Workers of this installation that no tenant has been promised yet. Waits for the database.
///
/// # Errors
/// When the database cannot be read.
pub fn free_capacity(state: &AppState) -> Result<u64, Problem> {
    let tenants = state.store.tenants()?;
    let specs = tenants.iter().map(specification).collect::<Result<Vec<TenantSpec>, _>>()?;
    let promised: u64 = specs.iter().map(|spec| u64::from(spec.workers)).sum();
    Ok((state.settings.workers.local as u64).saturating_sub(promised))
}
