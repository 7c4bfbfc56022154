//! Cluster templates and the partial templates they include: what is on offer, and within which limits.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::base::{Base, Entity, Kind, Link, check_name};
use crate::health::HealthRules;
use crate::invalid::Invalid;
use crate::lease::LeaseDuration;

/// A kind of cluster on offer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ClusterTemplate {
    /// Common fields.
    #[serde(flatten)]
    pub base: Base,
    /// Used where the request says nothing.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub defaults: Defaults,
    /// White lists.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub compatibility: Compatibility,
    /// Rules of layout.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub constraints: Constraints,
    /// Limits of leases.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub administration: Administration,
    /// Cluster-wide links, expanded on read.
    #[serde(
        default,
        deserialize_with = "crate::lenient::null_as_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub links: Vec<Link>,
    /// The parent template, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<TemplateName>,
    /// Partial templates, in order.
    #[serde(
        default,
        deserialize_with = "crate::lenient::null_as_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub includes: Vec<TemplateName>,
}

/// A template mentioned by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TemplateName {
    /// Its name.
    pub name: String,
}

/// Used where a create request says nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct Defaults {
    /// Services, as names.
    #[schema(required = false)]
    pub services: BTreeSet<String>,
    /// Provider name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Pins all nodes to one hardware type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardwaretype: Option<String>,
    /// Pins all nodes to one image type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imagetype: Option<String>,
    /// Domain of the host names.
    #[serde(rename = "dnsSuffix", skip_serializing_if = "Option::is_none")]
    pub dns_suffix: Option<String>,
    /// Cluster configuration, with macros.
    #[schema(value_type = Object, required = false)]
    pub config: Map<String, Value>,
}

#[derive(Deserialize)]
struct RawDefaults {
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    services: Vec<RawService>,
    provider: Option<String>,
    hardwaretype: Option<String>,
    imagetype: Option<String>,
    #[serde(rename = "dnsSuffix")]
    dns_suffix: Option<String>,
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    config: Map<String, Value>,
}

/// A default service is a name, or a name with configuration that goes under `config.NAME`.
#[derive(Deserialize)]
#[serde(untagged)]
enum RawService {
    Name(String),
    Configured { name: String, config: Option<Value> },
}

impl<'de> Deserialize<'de> for Defaults {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawDefaults::deserialize(deserializer)?;
        let mut config = raw.config;
        let mut services = BTreeSet::new();
        for service in raw.services {
            match service {
                RawService::Name(name) => services.insert(name),
                RawService::Configured { name, config: own } => {
                    if let Some(own) = own {
                        config.insert(name.clone(), own);
                    }
                    services.insert(name)
                }
            };
        }
        Ok(Self {
            services,
            provider: raw.provider,
            hardwaretype: raw.hardwaretype,
            imagetype: raw.imagetype,
            dns_suffix: raw.dns_suffix,
            config,
        })
    }
}

/// White lists; an empty one allows everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Compatibility {
    /// Hardware types nodes may have.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub hardwaretypes: BTreeSet<String>,
    /// Image types nodes may have.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub imagetypes: BTreeSet<String>,
    /// Services clusters may have.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub services: BTreeSet<String>,
}

impl Compatibility {
    /// Whether the list allows `name`: it is empty, or holds it.
    #[must_use]
    pub fn allows(list: &BTreeSet<String>, name: &str) -> bool {
        list.is_empty() || list.contains(name)
    }
}

/// Rules of layout.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Constraints {
    /// Which services go together.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub layout: LayoutRules,
    /// By service name.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub services: BTreeMap<String, ServiceConstraint>,
    /// How many machines a cluster may have.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub size: SizeLimits,
}

/// Which services go together on a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LayoutRules {
    /// On a node, all of a set or none of it.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub mustcoexist: Vec<BTreeSet<String>>,
    /// On a node, never all of a set together.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub cantcoexist: Vec<BTreeSet<String>>,
}

/// What a service asks of its nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ServiceConstraint {
    /// Its nodes have one of these; empty: any.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub hardwaretypes: BTreeSet<String>,
    /// Its nodes have one of these; empty: any.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub imagetypes: BTreeSet<String>,
    /// How many nodes carry it.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub quantities: Quantities,
}

/// Largest number Coopr's documents use for "no limit".
const UNLIMITED: u32 = i32::MAX as u32;

/// Bounds on the number of nodes that carry a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Quantities {
    /// At least so many.
    #[serde(deserialize_with = "crate::lenient::number")]
    pub min: u32,
    /// At most so many.
    #[serde(deserialize_with = "crate::lenient::number")]
    pub max: u32,
}

impl Default for Quantities {
    fn default() -> Self {
        Self { min: 0, max: UNLIMITED }
    }
}

/// Bounds on the number of machines of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct SizeLimits {
    /// At least so many, from 1.
    #[serde(deserialize_with = "crate::lenient::number")]
    pub min: u32,
    /// At most so many.
    #[serde(deserialize_with = "crate::lenient::number")]
    pub max: u32,
}

impl Default for SizeLimits {
    fn default() -> Self {
        Self { min: 1, max: UNLIMITED }
    }
}

/// What the administrator limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Administration {
    /// How long clusters live.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub leaseduration: LeaseDuration,
    /// How the health of clusters is looked after, where it differs from the settings.
    #[serde(
        default,
        deserialize_with = "crate::lenient::null_as_default",
        skip_serializing_if = "HealthRules::is_empty"
    )]
    pub health: HealthRules,
}

impl Administration {
    fn check(&self, template: &str) -> Result<(), Invalid> {
        self.health.check()?;
        self.leaseduration.check(template)
    }
}

impl Entity for ClusterTemplate {
    const KIND: Kind = Kind::ClusterTemplate;

    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    fn check(&self) -> Result<(), Invalid> {
        check_name("name", &self.base.name)?;
        self.constraints.check()?;
        self.administration.check(&self.base.name)
    }
}

impl Constraints {
    fn check(&self) -> Result<(), Invalid> {
        let SizeLimits { min, max } = self.size;
        if min < 1 {
            return Err(Invalid::new(
                "constraints.size.min",
                min,
                "is below 1",
                "a cluster has at least one machine",
            ));
        }
        if max < min {
            return Err(Invalid::new(
                "constraints.size.max",
                max,
                format!("is below the minimum of {min}"),
                "raise max or lower min",
            ));
        }
        Ok(())
    }
}

/// A part that templates include. Sections as in [`ClusterTemplate`], all optional.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PartialTemplate {
    /// Common fields.
    #[serde(flatten)]
    pub base: Base,
    /// Whether templates that include it may not change what it sets.
    #[serde(deserialize_with = "crate::lenient::boolean")]
    pub immutable: bool,
    /// Used where the request says nothing.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub defaults: Defaults,
    /// White lists.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub compatibility: Compatibility,
    /// Rules of layout.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub constraints: Constraints,
    /// Limits of leases.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub administration: Administration,
    /// Cluster-wide links.
    #[serde(
        default,
        deserialize_with = "crate::lenient::null_as_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub links: Vec<Link>,
}

impl Entity for PartialTemplate {
    const KIND: Kind = Kind::PartialTemplate;

    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    fn check(&self) -> Result<(), Invalid> {
        check_name("name", &self.base.name)?;
        self.administration.check(&self.base.name)
    }
}
