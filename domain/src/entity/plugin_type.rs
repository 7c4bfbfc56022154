//! Plugin types: the descriptors of provider and automator plugins, from which forms are built and fields checked.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::base::{Base, Entity, Kind, check_name};
use crate::invalid::Invalid;

/// What a plugin is called, which fields it takes from whom, and which files it uses.
///
/// Provider types and automator types have the same shape; [`ProviderType`] and [`AutomatorType`] tell them apart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PluginType {
    /// Common fields.
    #[serde(flatten)]
    pub base: Base,
    /// Fields by who may fill them.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub parameters: Parameters,
    /// Kinds of files the plugin uses.
    #[serde(rename = "resourceTypes", default, deserialize_with = "crate::lenient::null_as_default")]
    pub resource_types: BTreeMap<String, ResourceType>,
}

/// Fields by who may fill them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Parameters {
    /// Filled in the provider entity (or a service's action) by the administrator.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub admin: ParameterSet,
    /// Given by the user with a request.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub user: ParameterSet,
}

/// Fields, and which combinations of them suffice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ParameterSet {
    /// By field name.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub fields: BTreeMap<String, FieldSchema>,
    /// Alternatives: it is enough that **one** inner set is fully present. Empty: nothing is required.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub required: Vec<BTreeSet<String>>,
}

/// How one field is shown and treated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FieldSchema {
    /// What people read beside it.
    pub label: String,
    /// `text`, `password`, `select`, `checkbox`, `textarea`; not interpreted by the server.
    #[serde(rename = "type")]
    pub kind: String,
    /// A hint for people.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub tip: String,
    /// Choices of a `select`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<Value>>,
    /// A value forms start with; nobody fills it in for an absent one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Whether a user may replace the administrator's value.
    #[serde(rename = "override", default, deserialize_with = "crate::lenient::boolean")]
    pub overridable: bool,
    /// Whether the value is a secret: kept apart, encrypted, never shown.
    #[serde(default, deserialize_with = "crate::lenient::boolean")]
    pub sensitive: bool,
}

impl FieldSchema {
    /// Whether its values are secrets: it says so, or it is a password.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.sensitive || self.kind == "password"
    }
}

/// A kind of file a plugin uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResourceType {
    /// One file, or an archive of many.
    pub format: ResourceFormat,
    /// Octal mode of the file, 3 or 4 digits; only with [`ResourceFormat::File`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<String>,
}

/// Shape of a plugin resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResourceFormat {
    /// One file, as it is.
    File,
    /// A gzipped tar of many files.
    Archive,
}

impl PluginType {
    fn check(&self) -> Result<(), Invalid> {
        check_name("name", &self.base.name)?;
        for (side, set) in [("admin", &self.parameters.admin), ("user", &self.parameters.user)] {
            set.check(side)?;
        }
        for (name, resource) in &self.resource_types {
            resource.check(name)?;
        }
        Ok(())
    }
}

impl ParameterSet {
    fn check(&self, side: &str) -> Result<(), Invalid> {
        for (name, schema) in &self.fields {
            let path = format!("parameters.{side}.fields.{name}");
            if schema.label.is_empty() {
                return Err(Invalid::new(format!("{path}.label"), "", "is empty", "give the field a label"));
            }
            if schema.kind.is_empty() {
                return Err(Invalid::new(
                    format!("{path}.type"),
                    "",
                    "is empty",
                    "use text, password, select or checkbox",
                ));
            }
        }
        for name in self.required.iter().flatten() {
            if !self.fields.contains_key(name) {
                return Err(Invalid::new(
                    format!("parameters.{side}.required"),
                    name,
                    "is not a field of this type",
                    format!("declare it under parameters.{side}.fields, or drop it here"),
                ));
            }
        }
        Ok(())
    }
}

impl ResourceType {
    fn check(&self, name: &str) -> Result<(), Invalid> {
        let Some(mode) = &self.permissions else { return Ok(()) };
        let field = format!("resourceTypes.{name}.permissions");
        if self.format != ResourceFormat::File {
            return Err(Invalid::new(field, mode, "is only for files", "drop it, or use format 'file'"));
        }
        let octal = matches!(mode.len(), 3 | 4) && mode.bytes().all(|b| (b'0'..=b'7').contains(&b));
        if octal {
            return Ok(());
        }
        Err(Invalid::new(field, mode, "is not a file mode", "use 3 or 4 octal digits, for example 0755"))
    }
}

macro_rules! plugin_type {
    ($name:ident, $kind:expr, $doc:literal) => {
        #[doc = $doc]
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub PluginType);

        impl Entity for $name {
            const KIND: Kind = $kind;

            fn base(&self) -> &Base {
                &self.0.base
            }

            fn base_mut(&mut self) -> &mut Base {
                &mut self.0.base
            }

            fn check(&self) -> Result<(), Invalid> {
                self.0.check()
            }
        }
    };
}

plugin_type!(ProviderType, Kind::ProviderType, "What a provider plugin is called and which fields it takes.");
plugin_type!(
    AutomatorType,
    Kind::AutomatorType,
    "What an automator plugin is called and which fields it takes."
);
