//! Clusters on clusters.

use serde::Serialize;
use utoipa::ToSchema;

/// The cluster that all new clusters of the tenant are built upon; `null` in all fields when there is none.
#[derive(Serialize, ToSchema)]
pub struct Foundation {
    /// Its id.
    cluster: Option<String>,
    name: Option<String>,
    status: Option<String>,
}

/// Which cluster is to be the foundation: its id or name, or `null` for none.
#[derive(Serialize, ToSchema)]
pub struct FoundationChange {
    cluster: Option<String>,
}
