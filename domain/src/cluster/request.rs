//! From what a user asks for to everything a cluster is made from: the request is checked, what it names is looked up,
//! and what it leaves open comes from the template.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

use super::ancestry::Origins;
use super::create::CreateOrder;
use super::limits::Limits;
use super::numbering::number_nodes;
use super::state::Account;
use crate::cluster_secrets::ClusterSecrets;
use crate::entity::{
    ClusterTemplate, Entity, HardwareType, ImageType, Kind, PartialTemplate, Provider, ProviderType, Service,
    is_valid_name,
};
use crate::hostname::check_dns_suffix;
use crate::id::{ClusterId, NodeId};
use crate::invalid::Invalid;
use crate::layout::{self, Alternative, Layout, LayoutRequest, NoLayout, Reason, RemedyStep};
use crate::lease::LeaseWarning;
use crate::macros::{self, MacroError};
use crate::provider_fields::{self, GroupedFields, MissingFields};
use crate::resolve::{self, ResolveError};
use crate::secret_fields::{parameters_of, take};
use crate::task::NodeProperties;

/// What a user asks for. Empty and absent are the same.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterRequest {
    /// The cluster's name.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub name: String,
    /// Free text.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub description: String,
    /// Name of the template.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub cluster_template: String,
    /// Number of machines.
    #[serde(default, deserialize_with = "crate::lenient::optional_number")]
    pub num_machines: Option<i64>,
    /// Name of the provider.
    #[serde(
        default,
        deserialize_with = "crate::lenient::optional_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub provider: Option<String>,
    /// Values for the provider type's fields.
    #[serde(
        default,
        deserialize_with = "crate::lenient::null_as_default",
        skip_serializing_if = "Map::is_empty"
    )]
    #[schema(value_type = Object)]
    pub provider_fields: Map<String, Value>,
    /// Names of the services.
    #[serde(
        default,
        deserialize_with = "crate::lenient::null_as_default",
        skip_serializing_if = "BTreeSet::is_empty"
    )]
    pub services: BTreeSet<String>,
    /// The hardware type of all nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardwaretype: Option<String>,
    /// The image type of all nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imagetype: Option<String>,
    /// What the layout is to be best at.
    #[serde(
        default,
        deserialize_with = "crate::lenient::null_as_default",
        skip_serializing_if = "layout::Objective::is_default"
    )]
    pub objective: layout::Objective,
    /// Life in ms; -1 or absent: the template's.
    #[serde(
        default,
        deserialize_with = "crate::lenient::optional_number",
        skip_serializing_if = "Option::is_none"
    )]
    pub initial_lease_duration: Option<i64>,
    /// How long before its end the lease is warned of, in ms; 0: not at all, absent: the template's.
    #[serde(
        default,
        deserialize_with = "crate::lenient::optional_number",
        skip_serializing_if = "Option::is_none"
    )]
    pub lease_warning: Option<i64>,
    /// Domain of the host names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dns_suffix: Option<String>,
    /// Id or name of the cluster it is built upon.
    #[serde(
        default,
        deserialize_with = "crate::lenient::optional_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub parent: Option<String>,
    /// Configuration; replaces the template's as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub config: Option<Map<String, Value>>,
}

/// Says what is asked for, and only the names of the provider's fields: some of their values are secrets.
impl fmt::Debug for ClusterRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterRequest")
            .field("name", &self.name)
            .field("cluster_template", &self.cluster_template)
            .field("num_machines", &self.num_machines)
            .field("provider", &self.provider)
            .field("provider_fields", &self.provider_fields.keys().collect::<Vec<_>>())
            .field("services", &self.services)
            .field("hardwaretype", &self.hardwaretype)
            .field("imagetype", &self.imagetype)
            .field("parent", &self.parent)
            .finish_non_exhaustive()
    }
}

/// What there is to make clusters from: a tenant's entities, the newest version of each, and the provider types.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Provider types, global.
    pub provider_types: Vec<ProviderType>,
    /// Providers.
    pub providers: Vec<Provider>,
    /// Hardware types.
    pub hardware: Vec<HardwareType>,
    /// Image types.
    pub images: Vec<ImageType>,
    /// Services.
    pub services: Vec<Service>,
    /// Cluster templates.
    pub templates: Vec<ClusterTemplate>,
    /// Partial templates.
    pub partials: Vec<PartialTemplate>,
}

impl Catalog {
    /// A template as clusters are made from it: merged with what it extends and includes.
    ///
    /// # Errors
    /// When something it refers to does not exist or does not fit.
    pub fn resolved(&self, template: &ClusterTemplate) -> Result<ClusterTemplate, ResolveError> {
        if template.extends.is_none() && template.includes.is_empty() {
            return Ok(template.clone());
        }
        let by_name = resolve::Catalog {
            templates: self.templates.iter().map(|t| (t.base.name.clone(), t.clone())).collect(),
            partials: self.partials.iter().map(|p| (p.base.name.clone(), p.clone())).collect(),
        };
        Ok(resolve::merge(template, &by_name)?.template)
    }
}

/// Why a request is refused before anything is solved.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RequestFault {
    /// A value has a fault.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// It asks for more or fewer machines than its template allows.
    #[error("{fault}")]
    Size {
        /// What is wrong with the number.
        fault: Invalid,
        /// Which changes of the request would help.
        steps: Vec<RemedyStep>,
    },
    /// Something it names does not exist.
    #[error("{field}: there is no {} {name:?}; {remedy}", kind.noun())]
    Unknown {
        /// The field that names it.
        field: &'static str,
        /// What kind of thing.
        kind: Kind,
        /// Its name.
        name: String,
        /// What to do about it.
        remedy: String,
    },
    /// The template cannot be merged with what it refers to.
    #[error(transparent)]
    Unresolvable(#[from] ResolveError),
    /// Values the provider needs are missing.
    #[error(transparent)]
    MissingFields(#[from] MissingFields),
}

/// A request that holds, with all it needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    /// What the cluster is made from.
    pub order: CreateOrder,
    /// Values that are secrets, the provider's and those given: kept apart, never with the cluster.
    pub secrets: ClusterSecrets,
    /// What the solver is asked.
    pub layout: LayoutRequest,
}

/// What the caller adds to a request.
#[derive(Debug, Clone)]
pub struct Asking {
    /// Who asks.
    pub account: Account,
    /// The id the cluster gets.
    pub id: ClusterId,
    /// Random; node ids are derived from it.
    pub seed: Uuid,
    /// When it is asked, in ms since 1970.
    pub now: i64,
    /// Limits its jobs run under.
    pub limits: Limits,
    /// The clusters it is built upon.
    pub origins: Origins,
}

impl ClusterRequest {
    /// What can be said of the request alone: a name, a template and a number of machines within the server's limit.
    ///
    /// # Errors
    /// The first field at fault.
    pub fn check(&self, max_cluster_size: u32) -> Result<(), Invalid> {
        if self.name.is_empty() {
            return Err(Invalid::new("name", "", "is missing: a cluster needs a name", "give it one"));
        }
        if self.cluster_template.is_empty() {
            return Err(Invalid::new(
                "clusterTemplate",
                "",
                "is missing",
                "name the cluster template to use",
            ));
        }
        if let Some(warning) = self.lease_warning.filter(|ms| *ms < 0) {
            let remedy = "use milliseconds from 0 on; 0 is no warning";
            return Err(Invalid::new("leaseWarning", warning, "is no length of time", remedy));
        }
        let machines = self.num_machines.unwrap_or(0);
        if machines <= 0 {
            let fault = "is no size: a cluster has at least one machine";
            return Err(Invalid::new("numMachines", machines, fault, "ask for 1 or more"));
        }
        if machines > i64::from(max_cluster_size) {
            let fault = format!("is above the max cluster size of {max_cluster_size}");
            return Err(Invalid::new(
                "numMachines",
                machines,
                fault,
                "ask for fewer, or raise limits.max_cluster_size",
            ));
        }
        if let Some(suffix) = given(self.dns_suffix.as_ref()) {
            check_dns_suffix("dnsSuffix", suffix)?;
        }
        Ok(())
    }

    /// The size asked for, once it has been checked.
    #[must_use]
    pub fn machines(&self) -> u32 {
        self.num_machines.and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
    }

    /// Looks up what the request names and fills in what it leaves open.
    ///
    /// # Errors
    /// The first thing that is unknown, out of its limits, or missing.
    pub fn accept(&self, catalog: &Catalog, asking: Asking) -> Result<Accepted, RequestFault> {
        let template = &catalog.resolved(self.template(catalog)?)?;
        layout::check_size(template, self.machines()).map_err(
            |Reason { fault, remedy, steps, .. }| {
                let fault = format!("is not allowed: {fault}");
                let fault = Invalid::new("numMachines", self.machines(), fault, remedy);
                RequestFault::Size { fault, steps }
            },
        )?;
        let lease = template.administration.leaseduration.initial_lease(self.initial_lease_duration)?;
        let said = self.lease_warning.or(template.administration.leaseduration.warning);
        let lease_warning = LeaseWarning { said, ..asking.limits.lease_warning };
        let limits = Limits { lease_warning, ..asking.limits };
        let mut provider = self.provider(catalog, template)?;
        if !is_valid_name(&self.name) {
            let remedy = "use 1 to 255 letters, digits, '_', '.' or '-'";
            return Err(Invalid::new("name", &self.name, "is not a valid name", remedy).into());
        }
        let fields = self.provider_fields(catalog, &provider)?;
        provider_fields::overlay(&mut provider, &fields.plain);
        let parameters = parameters_of(&catalog.provider_types, &provider.providertype);
        let own = take(parameters, &mut provider.provisioner);
        let secrets = ClusterSecrets::of(own, fields.sensitive);
        let services = if self.services.is_empty() { &template.defaults.services } else { &self.services };
        let services = layout::with_companions(&catalog.services, services);
        let config = self.config.clone().unwrap_or_else(|| template.defaults.config.clone());
        check_macros(&config)?;
        let definitions = definitions(catalog, &services);
        let layout = LayoutRequest {
            machines: self.machines(),
            services: Some(services.clone()),
            hardwaretype: given(self.hardwaretype.as_ref()).cloned(),
            imagetype: given(self.imagetype.as_ref()).cloned(),
            ancestors: asking.origins.names(),
            objective: self.objective,
        };
        let order = CreateOrder {
            id: asking.id,
            name: self.name.clone(),
            description: self.description.clone(),
            account: asking.account,
            expires: if lease == 0 { 0 } else { asking.now.saturating_add(lease) },
            provider,
            template: template.clone(),
            services,
            definitions,
            config,
            dns_suffix: given(self.dns_suffix.as_ref()).or(template.defaults.dns_suffix.as_ref()).cloned(),
            seed: asking.seed,
            limits,
            origins: asking.origins,
        };
        Ok(Accepted { order, secrets, layout })
    }

    fn template<'a>(&self, catalog: &'a Catalog) -> Result<&'a ClusterTemplate, RequestFault> {
        find(&catalog.templates, "clusterTemplate", &self.cluster_template)
    }

    fn provider(&self, catalog: &Catalog, template: &ClusterTemplate) -> Result<Provider, RequestFault> {
        let named = given(self.provider.as_ref()).or(template.defaults.provider.as_ref());
        let Some(name) = named else {
            let fault = format!("is missing, and template {} has no default provider", template.base.name);
            return Err(Invalid::new("provider", "", fault, "name a provider").into());
        };
        find(&catalog.providers, "provider", name).cloned()
    }

    fn provider_fields(&self, catalog: &Catalog, provider: &Provider) -> Result<GroupedFields, RequestFault> {
        let kind = find(&catalog.provider_types, "provider", &provider.providertype)?;
        Ok(provider_fields::admit(&kind.0.parameters, provider, &self.provider_fields, &Map::new())?)
    }
}

impl Accepted {
    /// The cluster's nodes, from the same catalog.
    ///
    /// # Errors
    /// Every reason why there is no layout.
    pub fn lay_out(&self, catalog: &Catalog) -> Result<BTreeMap<NodeId, NodeProperties>, NoLayout> {
        Ok(number_nodes(&self.order, &self.solve(catalog)?, catalog))
    }

    /// The kinds of nodes and how many there are of each, from the same catalog.
    ///
    /// # Errors
    /// Every reason why there is no layout.
    pub fn solve(&self, catalog: &Catalog) -> Result<Layout, NoLayout> {
        layout::solve(&self.choice(catalog), &self.layout)
    }

    /// Layouts to choose from, whatever the request says about what it is to be best at, from the same catalog.
    ///
    /// # Errors
    /// Every reason why there is no layout.
    pub fn alternatives(&self, catalog: &Catalog) -> Result<Vec<Alternative>, NoLayout> {
        layout::alternatives(&self.choice(catalog), &self.layout)
    }

    fn choice<'a>(&'a self, catalog: &'a Catalog) -> layout::Catalog<'a> {
        layout::Catalog {
            template: &self.order.template,
            provider: &self.order.provider.base.name,
            hardware: &catalog.hardware,
            images: &catalog.images,
            services: &catalog.services,
        }
    }
}

/// A text that was given: empty and absent are the same.
fn given(text: Option<&String>) -> Option<&String> {
    text.filter(|text| !text.is_empty())
}

fn find<'a, E: Entity>(all: &'a [E], field: &'static str, name: &str) -> Result<&'a E, RequestFault> {
    all.iter().find(|entity| entity.base().name == name).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|entity| entity.base().name.as_str()).collect();
        let remedy = if known.is_empty() {
            "there are none yet; apply a catalog first".to_owned()
        } else {
            format!("use one of: {}", known.join(", "))
        };
        RequestFault::Unknown { field, kind: E::KIND, name: name.to_owned(), remedy }
    })
}

fn definitions(catalog: &Catalog, names: &BTreeSet<String>) -> BTreeMap<String, Service> {
    let wanted = catalog.services.iter().filter(|service| names.contains(service.name()));
    wanted.map(|service| (service.name().to_owned(), service.clone())).collect()
}

/// Macros that can never be expanded are refused now and not minutes into the job.
pub(super) fn check_macros(config: &Map<String, Value>) -> Result<(), Invalid> {
    macros::references(&Value::Object(config.clone())).map(drop).map_err(|fault: MacroError| {
        Invalid::new("config", "", format!("holds a macro that cannot be read: {fault}"), "correct the macro")
    })
}
