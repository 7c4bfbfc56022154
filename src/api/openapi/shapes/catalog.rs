//! Many entities at once, and plugin resources.

use cooperage_domain::entity::{
    ClusterTemplate, HardwareType, ImageType, PartialTemplate, Provider, Service,
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// An entity and its kind.
#[derive(Serialize, ToSchema)]
pub struct AppliedEntity {
    /// `provider`, `hardwaretype`, `imagetype`, `service`, `clustertemplate`, `partialtemplate`.
    kind: String,
    name: String,
}

/// What became, or would become, of an entity.
#[derive(Serialize, ToSchema)]
pub struct AppliedChange {
    kind: String,
    name: String,
    /// `created`, `changed` or `unchanged`.
    change: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Value>,
    after: Value,
}

/// Everything a tenant describes, by kind.
#[derive(Default, Serialize, ToSchema)]
#[serde(default)]
pub struct Export {
    providers: Vec<Provider>,
    hardwaretypes: Vec<HardwareType>,
    imagetypes: Vec<ImageType>,
    services: Vec<Service>,
    clustertemplates: Vec<ClusterTemplate>,
    partialtemplates: Vec<PartialTemplate>,
}

/// A version of a plugin resource.
#[derive(Serialize, ToSchema)]
pub struct Resource {
    name: String,
    version: u64,
    /// `active`, `inactive`, `staged` or `recalled`.
    status: String,
    /// Of its bytes, in hexadecimal digits.
    sha256: String,
    /// In bytes.
    size: u64,
}
