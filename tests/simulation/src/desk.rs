//! Where clusters are asked for, as the server's front does it: the request is checked and solved, and held against the
//! tenant's quota.

use std::collections::BTreeMap;

use cooperage_domain::cluster::{
    Accepted, Account, Asking, Catalog, Cluster, ClusterRequest, ClusterStatus, Command, Event, Limits,
    Origins, create, decide, nodes_added,
};
use cooperage_domain::id::ClusterId;
use cooperage_domain::quota::Usage;
use uuid::Uuid;

use crate::catalog::{SETS, TEMPLATES, TENANTS, UPON, of_tenant};
use crate::operation::USER;
use crate::random::Random;

/// Limits of jobs in simulated clusters.
fn limits() -> Limits {
    Limits {
        max_attempts: 3,
        task_timeout: 60_000,
        retry_delay: 1_000,
        max_retry_delay: 4_000,
        max_log_length: 200,
        queue_timeout: 1_800_000,
        max_running_tasks: 4,
        ..Limits::default()
    }
}

/// Which tenant a cluster belongs to.
#[must_use]
pub fn tenant_of(cluster: u32) -> &'static str {
    TENANTS[cluster as usize % TENANTS.len()].0
}

/// Clusters from this number on are asked for upon another one.
pub const FIRST_UPON: u32 = 4;

/// The cluster that one is to be built upon: of the same tenant, and older.
#[must_use]
pub const fn parent_of(cluster: u32) -> Option<u32> {
    match cluster {
        FIRST_UPON.. => Some(cluster - TENANTS.len() as u32),
        _ => None,
    }
}

/// Asks for clusters.
pub struct Desk {
    seed: u64,
    catalogs: BTreeMap<&'static str, Catalog>,
}

impl Desk {
    /// For a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, catalogs: TENANTS.iter().map(|(name, ..)| (*name, of_tenant(name))).collect() }
    }

    /// What is asked for.
    fn request(&self, cluster: u32) -> ClusterRequest {
        let mut random = Random::about(self.seed, &[2, u64::from(cluster)]);
        let (template, least) = *random.pick(&TEMPLATES);
        let most = if random.one_in(3) { 5 } else { 2 };
        let machines = least + random.below(most);
        ClusterRequest {
            name: format!("c{cluster}"),
            cluster_template: template.to_owned(),
            num_machines: i64::try_from(machines).ok(),
            services: match parent_of(cluster) {
                Some(_) => random.pick(&UPON).iter().map(|&name| name.to_owned()).collect(),
                None => random.pick(&SETS).iter().map(|&name| name.to_owned()).collect(),
            },
            ..ClusterRequest::default()
        }
    }

    /// The cluster with this number, checked, upon these.
    ///
    /// # Errors
    /// Why it cannot be had.
    pub fn accept(&self, cluster: u32, origins: Origins, now: i64) -> Result<Accepted, String> {
        let tenant = tenant_of(cluster);
        let asking = Asking {
            account: Account { user_id: USER.to_owned(), tenant_id: tenant.to_owned() },
            id: ClusterId(u64::from(cluster)),
            seed: Uuid::from_u64_pair(self.seed, u64::from(cluster)),
            now,
            limits: limits(),
            origins,
        };
        self.request(cluster).accept(&self.catalogs[tenant], asking).map_err(|fault| fault.to_string())
    }

    /// Its first events, if the tenant may have it beside what `live` says it has.
    ///
    /// # Errors
    /// Why it cannot be had.
    pub fn found(&self, accepted: Accepted, live: Usage, now: i64) -> Result<Vec<Event>, String> {
        let tenant = accepted.order.account.tenant_id.clone();
        let more = Usage { clusters: 1, nodes: u64::from(accepted.layout.machines) };
        for (_, _, quota) in TENANTS.iter().filter(|(name, ..)| *name == tenant) {
            quota.check(live, more).map_err(|fault| fault.to_string())?;
        }
        let nodes = accepted.lay_out(&self.catalogs[tenant.as_str()]);
        create(accepted.order, nodes, now).map_err(|fault| fault.to_string())
    }
}

/// How many nodes a command adds to a cluster.
#[must_use]
pub fn more_nodes(cluster: &Cluster, command: &Command) -> Usage {
    let nodes = nodes_added(&decide(cluster, command.clone(), 0).unwrap_or_default());
    Usage { clusters: 0, nodes: nodes as u64 }
}

/// Whether a tenant may have what a command adds, beside what `live` says it has.
#[must_use]
pub fn may_have(cluster: &Cluster, command: &Command, live: Usage) -> bool {
    let more = more_nodes(cluster, command);
    let mut quotas = TENANTS.iter().filter(|(name, ..)| *name == cluster.account.tenant_id);
    more.nodes == 0 || quotas.all(|(_, _, quota)| quota.check(live, more).is_ok())
}

/// What of these clusters counts against a tenant's quota.
pub fn usage<'a>(tenant: &str, clusters: impl Iterator<Item = &'a Cluster>) -> Usage {
    let live = clusters.filter(|it| it.account.tenant_id == tenant && it.status != ClusterStatus::Terminated);
    live.fold(Usage::default(), |sum, cluster| Usage {
        clusters: sum.clusters + 1,
        nodes: sum.nodes + cluster.nodes_held() as u64,
    })
}
