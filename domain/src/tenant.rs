//! Tenants: who shares an installation, and how much of it each may use.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::entity::check_name;
use crate::invalid::Invalid;
use crate::quota::Quota;

/// Largest number Coopr's documents use for "no limit".
const UNLIMITED: u32 = i32::MAX as u32;

/// What is known of a tenant, as operators write it. Its id is not part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantSpec {
    /// Its name, unique among tenants.
    #[serde(default, deserialize_with = "crate::lenient::text")]
    pub name: String,
    /// Free text for people.
    #[serde(
        default,
        deserialize_with = "crate::lenient::optional_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub description: Option<String>,
    /// How many workers the provisioners run for it together.
    #[serde(default, deserialize_with = "crate::lenient::number")]
    pub workers: u32,
    /// Most clusters at a time.
    #[serde(default = "unlimited", deserialize_with = "crate::lenient::number")]
    pub max_clusters: u32,
    /// Most nodes at a time.
    #[serde(default = "unlimited", deserialize_with = "crate::lenient::number")]
    pub max_nodes: u32,
}

const fn unlimited() -> u32 {
    UNLIMITED
}

impl TenantSpec {
    /// The rule for its name; the rest holds by its types.
    ///
    /// # Errors
    /// Names the field, the value and the remedy.
    pub fn check(&self) -> Result<(), Invalid> {
        check_name("tenant.name", &self.name)
    }

    /// The most it may have at a time.
    #[must_use]
    pub const fn quota(&self) -> Quota {
        Quota { max_clusters: limit(self.max_clusters), max_nodes: limit(self.max_nodes) }
    }
}

/// The number that stands for "no limit" is none.
const fn limit(most: u32) -> u64 {
    if most == UNLIMITED { u64::MAX } else { most as u64 }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_said_is_no_limit() {
        let spec: TenantSpec = serde_json::from_value(json!({"name": "dept-a"})).unwrap();
        assert_eq!((spec.workers, spec.max_clusters, spec.max_nodes), (0, 2_147_483_647, 2_147_483_647));
        assert_eq!(spec.quota(), Quota { max_clusters: u64::MAX, max_nodes: u64::MAX });
        assert_eq!(spec.check(), Ok(()));
    }

    #[test]
    fn numbers_may_be_text_and_not_negative() {
        let read = |value| serde_json::from_value::<TenantSpec>(value);
        assert_eq!(read(json!({"name": "a", "workers": "7", "maxNodes": 5.0})).unwrap().quota().max_nodes, 5);
        assert!(read(json!({"name": "a", "workers": -1})).is_err());
        assert!(read(json!({"name": "no good"})).unwrap().check().is_err());
        assert!(read(json!({})).unwrap().check().is_err());
    }
}
