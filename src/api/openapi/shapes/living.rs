//! Operations on clusters that live.

use cooperage_domain::cluster::Rollout;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Another size: exactly one of `machines`, `services` and `remove`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SizeChange {
    /// So many machines in all.
    machines: Option<u32>,
    /// By name of a service: so many more nodes that carry it, or, below zero, so many fewer.
    #[schema(value_type = Option<Object>)]
    services: Option<Value>,
    /// These nodes go: ids, host names or numbers.
    remove: Option<Vec<String>>,
    /// The hardware type of new nodes.
    hardwaretype: Option<String>,
    /// The image type of new nodes.
    imagetype: Option<String>,
    #[schema(value_type = Option<Object>)]
    provider_fields: Option<Value>,
}

/// Machines that are made anew.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachinesAnew {
    /// Ids, host names or numbers.
    nodes: Vec<String>,
    rollout: Option<Rollout>,
    #[schema(value_type = Option<Object>)]
    provider_fields: Option<Value>,
}

/// Other values: at most one of `config` and `patch`, and those of single nodes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reconfiguration {
    /// The whole new configuration.
    #[schema(value_type = Option<Object>)]
    config: Option<Value>,
    /// What changes in it: a JSON merge patch (RFC 7396).
    #[schema(value_type = Option<Object>)]
    patch: Option<Value>,
    /// By id, number or host name of a node: what changes in its own configuration, as a JSON merge patch.
    #[schema(value_type = Option<Object>)]
    nodes: Option<Value>,
    rollout: Option<Rollout>,
    #[schema(value_type = Option<Object>)]
    provider_fields: Option<Value>,
}

/// What is brought to newer versions.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpgradeOrder {
    /// Whether the template is; true unless said otherwise.
    template: Option<bool>,
    /// By name of a service: the version, or `null` for the newest. None: all services, to the newest.
    #[schema(value_type = Option<Object>)]
    services: Option<Value>,
    rollout: Option<Rollout>,
    #[schema(value_type = Option<Object>)]
    provider_fields: Option<Value>,
}

/// What is gone back to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RollBackOrder {
    /// A revision: number of the event up to which it is gone back. Absent: before the last change.
    to: Option<u64>,
    rollout: Option<Rollout>,
    #[schema(value_type = Option<Object>)]
    provider_fields: Option<Value>,
}

/// Whether what is not as wanted is mended.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Convergence {
    /// True unless said otherwise; false only looks.
    mend: Option<bool>,
    #[schema(value_type = Option<Object>)]
    provider_fields: Option<Value>,
}

/// Where an errand runs.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrandOrder {
    /// Ids, host names or numbers; as the errand says when there are none.
    nodes: Option<Vec<String>>,
    #[schema(value_type = Option<Object>)]
    provider_fields: Option<Value>,
}

/// How a job is stopped.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cancellation {
    /// Whether what was wanted before is wanted again; a create that is undone is deleted.
    undo: Option<bool>,
}
