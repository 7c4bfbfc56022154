//! The entities an operator describes: what exists and what is offered.
//!
//! Their JSON is Coopr's (the six tenant-owned kinds, and the two plugin types that are global), so documents written
//! for Coopr load unchanged: unknown fields are ignored, absent and `null` are the same, and a number may be text.

mod base;
mod cluster_template;
mod image_type;
mod plugin_type;
mod price_list;
mod provider;
mod requirement;
mod service;

pub use base::{Base, Entity, Kind, Link, check_name, is_valid_name};
pub use cluster_template::{
    Administration, ClusterTemplate, Compatibility, Constraints, Defaults, LayoutRules, PartialTemplate,
    Quantities, ServiceConstraint, SizeLimits, TemplateName,
};
pub use image_type::{HardwareType, ImageType};
pub use plugin_type::{
    AutomatorType, FieldSchema, ParameterSet, Parameters, PluginType, ProviderType, ResourceFormat,
    ResourceType,
};
pub use price_list::PriceList;
pub use provider::Provider;
pub use requirement::{Members, Requirement, Requirements, Scope};
pub use service::{
    ActionSpec, Dependencies, Errand, ErrandNodes, Input, OnChange, Output, PhaseDependencies, Service,
    ServiceAction, ServiceProvisioner,
};
