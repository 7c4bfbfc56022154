//! What is wanted of a cluster at one time, and the way there from another time.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::state::Cluster;
use super::upgrade;
use super::wanted_change::WantedChange;
use crate::entity::{ClusterTemplate, Service};
use crate::id::NodeId;
use crate::plan::{UnitId, Wanted};
use crate::task::NodeProperties;

/// All that is wanted of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Revision {
    /// Its template.
    pub template: ClusterTemplate,
    /// The services' definitions, by name.
    pub definitions: BTreeMap<String, Service>,
    /// Configuration with macros as written.
    pub config: Map<String, Value>,
    /// The configuration of single nodes; those without one are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub node_config: BTreeMap<NodeId, Map<String, Value>>,
    /// Its nodes, without what is only known of their machines.
    pub nodes: BTreeMap<NodeId, NodeProperties>,
    /// What is wanted of each unit.
    pub wanted: BTreeMap<UnitId, Wanted>,
}

impl Revision {
    /// What is wanted of a cluster now.
    #[must_use]
    pub fn of(cluster: &Cluster) -> Self {
        let staying = cluster.nodes.values().filter(|node| !cluster.is_leaving(&node.id));
        let nodes = staying.map(|node| {
            let mut properties = node.properties.clone();
            properties.ipaddresses.clear();
            properties.hostname.clone_from(&node.given_hostname);
            (node.id.clone(), properties)
        });
        let nodes: BTreeMap<NodeId, NodeProperties> = nodes.collect();
        // Services of a node that leaves may be wanted at rest: nothing of it is wanted all the same.
        let wanted = cluster
            .units
            .iter()
            .filter(|(id, unit)| unit.wanted != Wanted::Absent && nodes.contains_key(&id.node));
        Self {
            template: cluster.template.clone(),
            definitions: cluster.definitions.clone(),
            config: cluster.config.clone(),
            node_config: own_config(cluster),
            wanted: wanted.map(|(id, unit)| (id.clone(), unit.wanted)).collect(),
            nodes,
        }
    }

    /// What must change for a cluster to be as this says. Steps that services take because their values change are not
    /// among it.
    #[must_use]
    pub fn change_from(&self, cluster: &Cluster) -> WantedChange {
        let mut change = WantedChange::default();
        if self.template != cluster.template {
            change.template = Some(Box::new(self.template.clone()));
        }
        if self.config != cluster.config {
            change.config = Some(self.config.clone());
        }
        for (name, definition) in &self.definitions {
            if cluster.definitions.get(name) != Some(definition) {
                change.definitions.insert(name.clone(), definition.clone());
            }
        }
        for node in cluster.nodes.keys().filter(|id| !self.nodes.contains_key(*id)) {
            change.leaving.insert(node.clone(), "it was not there then".to_owned());
            super::resize::drain(cluster, node, &mut change);
        }
        for (id, properties) in &self.nodes {
            match cluster.nodes.get(id) {
                None => {
                    change.nodes.insert(id.clone(), properties.clone());
                }
                Some(node) => {
                    differ(&mut change.placed, id, &properties.services, &node.properties.services);
                    differ(&mut change.removed, id, &node.properties.services, &properties.services);
                }
            }
        }
        let present = own_config(cluster);
        for id in self.nodes.keys() {
            let then = self.node_config.get(id);
            if then != present.get(id) {
                change.node_config.insert(id.clone(), then.cloned().unwrap_or_default());
            }
        }
        for (id, wanted) in &self.wanted {
            if cluster.units.get(id).is_none_or(|unit| unit.wanted != *wanted) {
                change.wanted.insert(id.clone(), *wanted);
            }
        }
        let renew = upgrade::renewed(cluster, &change.definitions);
        change.renew_also(renew);
        change
    }
}

/// By node that stays, the configuration that it has for itself.
fn own_config(cluster: &Cluster) -> BTreeMap<NodeId, Map<String, Value>> {
    let own = cluster.nodes.values().filter(|node| !node.config.is_empty() && !cluster.is_leaving(&node.id));
    own.map(|node| (node.id.clone(), node.config.clone())).collect()
}

/// What `more` has and `less` has not.
fn differ(
    into: &mut BTreeMap<NodeId, BTreeSet<String>>,
    node: &NodeId,
    more: &BTreeSet<String>,
    less: &BTreeSet<String>,
) {
    let services: BTreeSet<String> = more.difference(less).cloned().collect();
    if !services.is_empty() {
        into.insert(node.clone(), services);
    }
}
