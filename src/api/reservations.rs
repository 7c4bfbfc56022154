//! What operations under way have reserved of their tenants' quotas, so that several at once cannot pass together.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cooperage_domain::id::ClusterId;
use cooperage_domain::quota::{OverQuota, Quota, Usage};

/// Reservations of all tenants. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Reservations(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    last: u64,
    /// By tenant id and number of the reservation.
    by_tenant: HashMap<String, BTreeMap<u64, Share>>,
}

#[derive(Debug)]
struct Share {
    /// The cluster it is for, once it has a number.
    cluster: Option<ClusterId>,
    /// One for a create, none for a cluster that grows and counts itself already.
    clusters: u64,
    nodes: u64,
}

/// Part of a quota, held until this is dropped: by then the cluster counts itself, or there will be none.
#[derive(Debug)]
pub struct Reservation {
    all: Reservations,
    tenant: String,
    number: u64,
}

impl Reservations {
    fn held(&self) -> MutexGuard<'_, Held> {
        // Each change is one step, so what a panic leaves behind is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a cluster with its nodes, or more nodes for one that counts itself already. `live` reads the clusters that
    /// count, with their nodes; it is called while nobody else reserves or gives back.
    ///
    /// # Errors
    /// When the quota would be exceeded, or `live` fails.
    pub fn reserve<F: From<OverQuota>>(
        &self,
        tenant: &str,
        more: Usage,
        quota: Quota,
        live: impl FnOnce() -> Result<Vec<(ClusterId, u32)>, F>,
    ) -> Result<Reservation, F> {
        let mut held = self.held();
        let used = held.used(tenant, &live()?);
        quota.check(used, more)?;
        held.last += 1;
        let number = held.last;
        let share = Share { cluster: None, clusters: more.clusters, nodes: more.nodes };
        held.by_tenant.entry(tenant.to_owned()).or_default().insert(number, share);
        Ok(Reservation { all: self.clone(), tenant: tenant.to_owned(), number })
    }

    /// What a tenant uses: clusters that count, and those under way.
    ///
    /// # Errors
    /// When `live` fails.
    pub fn used<F>(
        &self,
        tenant: &str,
        live: impl FnOnce() -> Result<Vec<(ClusterId, u32)>, F>,
    ) -> Result<Usage, F> {
        let held = self.held();
        Ok(held.used(tenant, &live()?))
    }
}

impl Held {
    /// A cluster that has a reservation and counts itself already counts once.
    fn used(&self, tenant: &str, live: &[(ClusterId, u32)]) -> Usage {
        let mine = || self.by_tenant.get(tenant).into_iter().flat_map(BTreeMap::values);
        let reserved = |id: &ClusterId| mine().any(|share| share.cluster == Some(*id));
        let mut used = mine().fold(Usage::default(), |sum, share| Usage {
            clusters: sum.clusters + share.clusters,
            nodes: sum.nodes.saturating_add(share.nodes),
        });
        for (_, nodes) in live.iter().filter(|(id, _)| !reserved(id)) {
            used.clusters += 1;
            used.nodes += u64::from(*nodes);
        }
        used
    }
}

impl Reservation {
    /// Says which cluster it is for.
    pub fn is_for(&self, cluster: ClusterId) {
        let mut held = self.all.held();
        let share = held.by_tenant.get_mut(&self.tenant).and_then(|shares| shares.get_mut(&self.number));
        if let Some(share) = share {
            share.cluster = Some(cluster);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut held = self.all.held();
        if let Some(shares) = held.by_tenant.get_mut(&self.tenant) {
            shares.remove(&self.number);
            if shares.is_empty() {
                held.by_tenant.remove(&self.tenant);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUOTA: Quota = Quota { max_clusters: 2, max_nodes: 10 };

    fn reserve(all: &Reservations, nodes: u64, live: &[(ClusterId, u32)]) -> Result<Reservation, OverQuota> {
        all.reserve("t", Usage { clusters: 1, nodes }, QUOTA, || Ok(live.to_vec()))
    }

    #[test]
    fn creates_at_the_same_time_cannot_pass_together() {
        let all = Reservations::default();
        let first = reserve(&all, 6, &[]).unwrap();
        assert!(reserve(&all, 6, &[]).is_err(), "12 nodes");
        let second = reserve(&all, 4, &[]).unwrap();
        assert!(reserve(&all, 0, &[]).is_err(), "3 clusters");
        assert!(
            all.reserve("other", Usage { clusters: 1, nodes: 10 }, QUOTA, || Ok::<_, OverQuota>(Vec::new()))
                .is_ok()
        );
        drop((first, second));
        assert!(reserve(&all, 10, &[]).is_ok());
    }

    #[test]
    fn a_cluster_counts_once_when_it_is_there_and_still_reserved() {
        let all = Reservations::default();
        let reservation = reserve(&all, 6, &[]).unwrap();
        reservation.is_for(ClusterId(7));
        assert!(reserve(&all, 4, &[(ClusterId(7), 6)]).is_ok());
        drop(reservation);
        assert!(reserve(&all, 4, &[(ClusterId(7), 6)]).is_ok());
        assert!(reserve(&all, 5, &[(ClusterId(7), 6)]).is_err());
    }
}
