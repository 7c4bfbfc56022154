//! Values with the layers they come from.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// The values that a node's services see; without a node, what all have in common.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterValues {
    cluster_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<ValuesNode>,
    values: Vec<LayeredValue>,
    /// The configuration put together, macros as written.
    #[schema(value_type = Object)]
    config: Value,
}

/// The node that values are of.
#[derive(Serialize, ToSchema)]
pub struct ValuesNode {
    id: String,
    number: u32,
    host: Option<String>,
}

/// A value with the layer it comes from.
#[derive(Serialize, ToSchema)]
pub struct LayeredValue {
    /// Keys from the root, with dots between them.
    path: String,
    /// As written.
    value: Value,
    /// With macros replaced, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    expanded: Option<Value>,
    /// `output`, `service`, `template`, `cluster` or `node`, the weakest first.
    layer: String,
    /// The service whose default or output it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<String>,
}
