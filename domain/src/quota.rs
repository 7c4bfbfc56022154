//! Quotas: how many clusters and nodes a tenant may have at a time.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::mutant;

/// What counts against a quota: clusters that are not terminated, and their nodes. A cluster whose layout is not solved
/// yet counts with the machines asked for, so that several requests at once cannot pass together. (Coopr counts none.)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Clusters.
    pub clusters: u64,
    /// Nodes.
    pub nodes: u64,
}

/// The most a tenant may have at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quota {
    /// Clusters.
    pub max_clusters: u64,
    /// Nodes.
    pub max_nodes: u64,
}

/// No limits.
pub const UNLIMITED: Quota = Quota { max_clusters: u64::MAX, max_nodes: u64::MAX };

/// Which of its limits a quota is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Counted {
    /// Clusters.
    Clusters,
    /// Nodes.
    Nodes,
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Clusters => "clusters",
            Self::Nodes => "nodes",
        })
    }
}

/// More is asked for than the quota allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the tenant's quota of {limit} {counted} would be exceeded: {used} in use and {more} asked for; delete a cluster, \
     ask for less, or have an administrator raise the quota"
)]
pub struct OverQuota {
    /// Which limit.
    pub counted: Counted,
    /// The limit.
    pub limit: u64,
    /// How many are in use.
    pub used: u64,
    /// How many more are asked for.
    pub more: u64,
}

impl Quota {
    /// Checks that `more` still fits beside what is `used`. With nothing more: whether the quota covers what is in use,
    /// as when it is lowered.
    ///
    /// # Errors
    /// The first limit that would be exceeded, with its numbers.
    pub fn check(&self, used: Usage, more: Usage) -> Result<(), OverQuota> {
        let limits = [
            (Counted::Clusters, self.max_clusters, used.clusters, more.clusters),
            (Counted::Nodes, self.max_nodes, used.nodes, more.nodes),
        ];
        for (counted, limit, used, more) in limits {
            let slack = u64::from(mutant::is("quota-one-too-many"));
            if used.saturating_add(more) > limit.saturating_add(slack) {
                return Err(OverQuota { counted, limit, used, more });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUOTA: Quota = Quota { max_clusters: 2, max_nodes: 5 };
    const USED: Usage = Usage { clusters: 1, nodes: 2 };

    #[test]
    fn both_limits_must_hold_and_may_be_reached() {
        assert_eq!(QUOTA.check(USED, Usage { clusters: 1, nodes: 3 }), Ok(()));
        assert_eq!(
            QUOTA.check(USED, Usage { clusters: 0, nodes: 4 }),
            Err(OverQuota { counted: Counted::Nodes, limit: 5, used: 2, more: 4 })
        );
        let fault = QUOTA.check(USED, Usage { clusters: 2, nodes: 0 }).unwrap_err();
        assert_eq!(fault.counted, Counted::Clusters);
        assert!(fault.to_string().contains("quota of 2 clusters"), "{fault}");
    }

    #[test]
    fn a_quota_below_what_is_in_use_does_not_cover_it() {
        assert!(Quota { max_clusters: 0, ..QUOTA }.check(USED, Usage::default()).is_err());
        assert!(QUOTA.check(USED, Usage { clusters: u64::MAX, nodes: u64::MAX }).is_err());
    }
}
