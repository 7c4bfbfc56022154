//! A change of what is wanted of a cluster, whatever asks for it: more or fewer machines, other services, newer versions,
//! other values, or all that was wanted once.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::state::{Cluster, Node};
use super::wanted;
use crate::entity::{ClusterTemplate, Service};
use crate::id::NodeId;
use crate::plan::{Observed, Unit, UnitId, Wanted};
use crate::task::{NodeProperties, TaskName};

/// What changes. What is absent or empty stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WantedChange {
    /// The whole new template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Box<ClusterTemplate>>,
    /// The whole new configuration, with macros as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<Map<String, Value>>,
    /// The whole new configuration of single nodes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub node_config: BTreeMap<NodeId, Map<String, Value>>,
    /// Services that are new or change, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub definitions: BTreeMap<String, Service>,
    /// New nodes, with everything on them wanted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<NodeId, NodeProperties>,
    /// Nodes that go, and why.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub leaving: BTreeMap<NodeId, String>,
    /// Services that nodes get.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub placed: BTreeMap<NodeId, BTreeSet<String>>,
    /// Services that nodes lose.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub removed: BTreeMap<NodeId, BTreeSet<String>>,
    /// Units that are wanted in another state.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub wanted: BTreeMap<UnitId, Wanted>,
    /// Steps that units take once more.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub renew: BTreeMap<UnitId, BTreeSet<TaskName>>,
    /// Units whose steps are not to be taken once more after all: they are as they would be brought up now.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub settled: BTreeSet<UnitId>,
}

impl WantedChange {
    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether nothing else is wanted: services only take steps once more.
    pub(super) fn only_repeats(&self) -> bool {
        let (renew, settled) = (self.renew.clone(), self.settled.clone());
        *self == Self { renew, settled, ..Self::default() } && self.renew.keys().all(|id| !id.is_machine())
    }

    /// Adds steps that units take once more.
    pub(super) fn renew_also(&mut self, renew: BTreeMap<UnitId, BTreeSet<TaskName>>) {
        for (unit, steps) in renew {
            self.renew.entry(unit).or_default().extend(steps);
        }
    }
}

/// Changes what is wanted of `cluster`.
pub(super) fn adopt(cluster: &mut Cluster, change: &WantedChange) {
    if let Some(template) = &change.template {
        cluster.template = (**template).clone();
    }
    if let Some(config) = &change.config {
        cluster.config.clone_from(config);
    }
    cluster.definitions.extend(change.definitions.iter().map(|(name, it)| (name.clone(), it.clone())));
    for (id, properties) in &change.nodes {
        cluster.last_node = cluster.last_node.max(properties.nodenum);
        cluster.services.extend(properties.services.iter().cloned());
        cluster.nodes.insert(id.clone(), Node::new(id.clone(), properties.clone()));
    }
    for (id, config) in &change.node_config {
        if let Some(node) = cluster.nodes.get_mut(id) {
            node.config.clone_from(config);
        }
    }
    cluster.units.extend(wanted::everything(&change.nodes));
    for node in change.leaving.keys() {
        for (_, unit) in cluster.units.iter_mut().filter(|(id, _)| id.node == *node) {
            unit.wanted = Wanted::Absent;
        }
    }
    for (node, services) in &change.placed {
        place(cluster, node, services);
    }
    for (node, services) in &change.removed {
        remove(cluster, node, services);
    }
    for (id, wanted) in &change.wanted {
        if let Some(unit) = cluster.units.get_mut(id) {
            unit.wanted = *wanted;
        }
    }
    for id in &change.settled {
        if let Some(unit) = cluster.units.get_mut(id) {
            unit.renew.clear();
        }
    }
    renew(cluster, &change.renew);
}

fn place(cluster: &mut Cluster, id: &NodeId, services: &BTreeSet<String>) {
    let Some(node) = cluster.nodes.get_mut(id) else { return };
    node.properties.services.extend(services.iter().cloned());
    cluster.services.extend(services.iter().cloned());
    let known: BTreeMap<UnitId, Observed> =
        cluster.units.iter().map(|(id, unit)| (id.clone(), unit.observed)).collect();
    wanted::more_services(&mut cluster.units, id, services);
    // One that was on its way out is as far as it was.
    for service in services {
        let unit = UnitId::service(id.clone(), service);
        if let (Some(observed), Some(unit)) = (known.get(&unit), cluster.units.get_mut(&unit)) {
            unit.observed = *observed;
        }
    }
    take_automators(cluster, id);
}

/// A service that a node loses is not one of the node's any more for others, and its unit is there until it is gone.
fn remove(cluster: &mut Cluster, id: &NodeId, services: &BTreeSet<String>) {
    let Some(node) = cluster.nodes.get_mut(id) else { return };
    for service in services {
        node.properties.services.remove(service);
        if let Some(unit) = cluster.units.get_mut(&UnitId::service(id.clone(), service)) {
            unit.wanted = Wanted::Absent;
            unit.renew.clear();
        }
    }
}

fn renew(cluster: &mut Cluster, renew: &BTreeMap<UnitId, BTreeSet<TaskName>>) {
    for (id, steps) in renew {
        if let Some(unit) = cluster.units.get_mut(id) {
            unit.renew.extend(steps.iter().copied());
        }
    }
}

/// The automator types that a node's services use.
fn take_automators(cluster: &mut Cluster, id: &NodeId) {
    let Some(node) = cluster.nodes.get_mut(id) else { return };
    let services = node.properties.services.iter().filter_map(|name| cluster.definitions.get(name));
    let automators = services.flat_map(Service::automators).map(str::to_owned).collect();
    node.properties.automators = automators;
}

/// What was to go and is gone is forgotten: machines with their nodes, and services. A service that cannot be removed is
/// left where it is, at rest, and forgotten too.
pub(super) fn forget_gone(cluster: &mut Cluster) {
    let gone = |unit: &Unit| unit.wanted == Wanted::Absent;
    let left: BTreeSet<NodeId> = cluster
        .units
        .iter()
        .filter(|(id, unit)| id.is_machine() && gone(unit) && unit.observed == Observed::Absent)
        .filter(|(id, _)| !cluster.nodes.get(&id.node).is_some_and(Node::may_have_machine))
        .map(|(id, _)| id.node.clone())
        .collect();
    let services: BTreeSet<NodeId> = cluster
        .units
        .iter()
        .filter(|(id, unit)| !id.is_machine() && gone(unit))
        .map(|(id, _)| id.node.clone())
        .collect();
    if left.is_empty() && services.is_empty() {
        return;
    }
    cluster.nodes.retain(|id, _| !left.contains(id));
    cluster.care.nodes.retain(|id, _| !left.contains(id));
    cluster.care.health.retain(|id, _| !left.contains(&id.node));
    cluster.units.retain(|id, unit| !left.contains(&id.node) && (id.is_machine() || !gone(unit)));
    for node in &services {
        take_automators(cluster, node);
    }
    let carried: BTreeSet<String> = cluster.units.keys().filter_map(|id| id.service.clone()).collect();
    cluster.services.retain(|name| carried.contains(name));
    cluster.definitions.retain(|name, _| carried.contains(name));
}
