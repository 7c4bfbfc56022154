//! What a cluster takes of its ancestors, for people.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::inputs::{MEMBERS, OUTPUTS, in_config};
use super::state::Cluster;
use crate::entity::{Input, Service};
use crate::macros;

/// Something that a cluster does not have and an ancestor answers for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Taken {
    /// The service, or what it provides.
    pub service: String,
    /// Id of the ancestor.
    pub cluster_id: String,
    /// Name of the ancestor.
    pub cluster: String,
    /// The cluster's own services that require it or take its values.
    pub by: BTreeSet<String>,
}

impl Cluster {
    /// What is taken of ancestors, by name.
    #[must_use]
    pub fn taken(&self) -> Vec<Taken> {
        let mut by: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for service in self.definitions.values().filter(|service| self.services.contains(service.name())) {
            for name in self.spoken_of(service) {
                by.entry(name).or_default().insert(service.name().to_owned());
            }
        }
        let has = |name: &str| self.definitions.values().any(|service| service.satisfies(name));
        let answered = |(service, by): (String, BTreeSet<String>)| {
            let ancestor = self.kin.origins.satisfying(&service).filter(|_| !has(&service))?;
            let (cluster_id, cluster) = (ancestor.cluster.to_string(), ancestor.name.clone());
            Some(Taken { service, cluster_id, cluster, by })
        };
        by.into_iter().filter_map(answered).collect()
    }

    /// Every layer of configuration that a service may see on some node.
    fn said_to<'a>(&'a self, service: &'a Service) -> impl Iterator<Item = &'a Map<String, Value>> {
        let of_nodes = self.nodes.values().map(|node| &node.config);
        [&service.defaults, &self.config].into_iter().chain(of_nodes)
    }

    /// The services that one requires, or whose values it takes.
    fn spoken_of(&self, service: &Service) -> BTreeSet<String> {
        let needs = &service.dependencies;
        let mut names: BTreeSet<String> =
            needs.install.requires.iter().chain(&needs.runtime.requires).cloned().collect();
        let mut texts: Vec<Value> = Vec::new();
        match &service.inputs {
            None => texts.extend(self.said_to(service).map(|config| Value::Object(config.clone()))),
            Some(inputs) => {
                for place in inputs.iter().map(Input::place) {
                    let output = place.strip_prefix(OUTPUTS).and_then(|output| output.split('.').next());
                    names.extend(output.or(place.strip_prefix(MEMBERS)).map(str::to_owned));
                    texts
                        .extend(self.said_to(service).filter_map(|config| in_config(config, place)).cloned());
                }
            }
        }
        let fields = service.provisioner.actions.values().flat_map(|action| action.fields.values());
        texts.extend(fields.map(|text| Value::String(text.clone())));
        // What only looks like a macro speaks of nothing.
        let macros = texts.iter().filter_map(|text| macros::references(text).ok()).flatten();
        names.extend(macros.map(|reference| reference.service));
        names
    }
}
