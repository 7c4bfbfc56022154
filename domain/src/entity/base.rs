//! What all entities share: the common fields, the name rule and the list of kinds.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::invalid::Invalid;

/// Longest name of an entity, a cluster or a plugin resource, in characters.
pub const MAX_NAME_LENGTH: usize = 255;

/// Fields every entity has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Base {
    /// Unique within a kind and a tenant; see [`is_valid_name`].
    #[serde(deserialize_with = "crate::lenient::text")]
    pub name: String,
    /// A title for people.
    #[serde(
        default,
        deserialize_with = "crate::lenient::optional_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub label: Option<String>,
    /// Free text for people.
    #[serde(
        default,
        deserialize_with = "crate::lenient::optional_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub description: Option<String>,
    /// A name or address of a picture; not interpreted.
    #[serde(
        default,
        deserialize_with = "crate::lenient::optional_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub icon: Option<String>,
    /// Given by the store, from 1; ignored when a document is written.
    #[serde(
        default,
        deserialize_with = "crate::lenient::optional_number",
        skip_serializing_if = "Option::is_none"
    )]
    pub version: Option<u64>,
}

/// A labelled address; the address may hold macros.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Link {
    /// What people read.
    #[serde(default)]
    pub label: String,
    /// Where it leads; macros are expanded when a cluster is read.
    pub url: String,
}

/// The kinds of entities, in the order in which they refer to each other (a later kind may name an earlier one).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// What a provider plugin can do and which fields it takes; global.
    ProviderType,
    /// What an automator plugin can do and which fields it takes; global.
    AutomatorType,
    /// An account at something that makes machines.
    Provider,
    /// A size of machine.
    HardwareType,
    /// A system on a machine.
    ImageType,
    /// Something that runs on nodes.
    Service,
    /// A kind of cluster on offer.
    ClusterTemplate,
    /// A part that templates include.
    PartialTemplate,
}

impl Kind {
    /// All kinds, in order of reference.
    pub const ALL: [Self; 8] = [
        Self::ProviderType,
        Self::AutomatorType,
        Self::Provider,
        Self::HardwareType,
        Self::ImageType,
        Self::Service,
        Self::ClusterTemplate,
        Self::PartialTemplate,
    ];

    /// The kinds a tenant owns, in order of reference; the others are global.
    pub const OWNED: [Self; 6] = [
        Self::Provider,
        Self::HardwareType,
        Self::ImageType,
        Self::Service,
        Self::ClusterTemplate,
        Self::PartialTemplate,
    ];

    /// The segment of a REST path, the key of an export, and the folder name of a catalog.
    #[must_use]
    pub const fn plural(self) -> &'static str {
        match self {
            Self::ProviderType => "providertypes",
            Self::AutomatorType => "automatortypes",
            Self::Provider => "providers",
            Self::HardwareType => "hardwaretypes",
            Self::ImageType => "imagetypes",
            Self::Service => "services",
            Self::ClusterTemplate => "clustertemplates",
            Self::PartialTemplate => "partialtemplates",
        }
    }

    /// The word for one of this kind in messages.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::ProviderType => "provider type",
            Self::AutomatorType => "automator type",
            Self::Provider => "provider",
            Self::HardwareType => "hardware type",
            Self::ImageType => "image type",
            Self::Service => "service",
            Self::ClusterTemplate => "cluster template",
            Self::PartialTemplate => "partial template",
        }
    }

    /// The kind whose [`Kind::plural`] is `segment`.
    #[must_use]
    pub fn from_plural(segment: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.plural() == segment)
    }
}

/// A document that can be stored by name.
pub trait Entity: Serialize + serde::de::DeserializeOwned + Clone + Send + 'static {
    /// Which kind it is.
    const KIND: Kind;

    /// The common fields.
    fn base(&self) -> &Base;

    /// The common fields, to set the version.
    fn base_mut(&mut self) -> &mut Base;

    /// Rules of this kind beyond its types; called on every write.
    ///
    /// # Errors
    /// The first rule that does not hold, with field, value and remedy.
    fn check(&self) -> Result<(), Invalid>;
}

/// Whether `name` may name an entity, a cluster or a tenant: 1 to 255 letters, digits, `_`, `.` or `-`.
#[must_use]
pub fn is_valid_name(name: &str) -> bool {
    !name.is_empty()
        && name.chars().count() <= MAX_NAME_LENGTH
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

/// [`is_valid_name`] as a check of `field`.
///
/// # Errors
/// Names the field, the value and the characters allowed.
pub fn check_name(field: &str, name: &str) -> Result<(), Invalid> {
    if is_valid_name(name) {
        return Ok(());
    }
    Err(Invalid::new(field, name, "is not a valid name", "use 1 to 255 letters, digits, '_', '.' or '-'"))
}
