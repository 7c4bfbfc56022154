//! Invariant 8: quotas hold at every moment.

use std::collections::BTreeMap;

use cooperage_domain::cluster::ClusterStatus;
use cooperage_domain::id::ClusterId;

use super::{Checker, Verdict};
use crate::catalog::TENANTS;
use crate::ledger::Ledger;
use crate::seen::Seen;

/// Counted anew with every event.
#[derive(Debug, Default)]
pub struct QuotasHold {
    /// By cluster: its tenant, and its nodes while it is not gone.
    live: BTreeMap<ClusterId, (String, u64)>,
}

impl Checker for QuotasHold {
    fn name(&self) -> &'static str {
        "quotas-hold"
    }

    fn see(&mut self, _: &Ledger, seen: &Seen<'_>) -> Verdict {
        let Seen::Recorded { after, .. } = seen else { return Ok(()) };
        let tenant = after.account.tenant_id.clone();
        if after.status == ClusterStatus::Terminated {
            self.live.remove(&after.id);
        } else {
            self.live.insert(after.id, (tenant.clone(), after.nodes.len() as u64));
        }
        let of_tenant = || self.live.values().filter(|(owner, _)| *owner == tenant);
        let (clusters, nodes) =
            (of_tenant().count() as u64, of_tenant().map(|(_, nodes)| nodes).sum::<u64>());
        for (name, _, quota) in TENANTS.iter().filter(|(name, ..)| *name == tenant) {
            if clusters > quota.max_clusters || nodes > quota.max_nodes {
                return Err(format!(
                    "{name} has {clusters} clusters with {nodes} nodes, and its quota is {quota:?}"
                ));
            }
        }
        Ok(())
    }
}
