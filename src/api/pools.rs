//! Where tenants' workers wait: asked of the registry once, since workers ask all the time.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use actix::Addr;
use cooperage_actors::registry::{FindPool, Registry};
use cooperage_actors::worker_pool::WorkerPool;

use super::problem::Problem;

/// Worker pools that were found, by internal id of their tenant.
#[derive(Debug, Default)]
pub struct Pools(RwLock<HashMap<String, Addr<WorkerPool>>>);

impl Pools {
    /// The pool of a tenant.
    ///
    /// # Errors
    /// When the registry is gone.
    pub async fn find(&self, registry: &Addr<Registry>, tenant: &str) -> Result<Addr<WorkerPool>, Problem> {
        if let Some(known) = self.known(tenant) {
            return Ok(known);
        }
        let pool = FindPool { tenant: tenant.to_owned() };
        let pool = registry.send(pool).await.map_err(Problem::internal)?;
        // Nobody panics while holding it: entries are only put in.
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(tenant.to_owned(), pool.clone());
        Ok(pool)
    }

    /// One that is still there.
    fn known(&self, tenant: &str) -> Option<Addr<WorkerPool>> {
        let pools = self.0.read().unwrap_or_else(PoisonError::into_inner);
        pools.get(tenant).filter(|pool| pool.connected()).cloned()
    }
}
