//! Clusters on clusters: what a cluster publishes, what it holds of its ancestors, and who answers for a service that it
//! does not have itself.
//!
//! ```text
//!   parent ──job ends: what it publishes, and what it holds itself──► child ──the same──► grandchild
//!   parent ◄──────────────what it needs of its ancestors───────────── child
//! ```
//!
//! A cluster keeps copies of what its ancestors published, so that deciding never asks another cluster. Ancestors are
//! given once, when a cluster is asked for, and are older than it: there are no circles.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::state::{Cluster, ClusterStatus, Node};
use crate::id::{ClusterId, NodeId};
use crate::task::NodeProperties;

/// What a cluster gives to those on top of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// Which cluster.
    pub cluster: ClusterId,
    /// Its name.
    pub name: String,
    /// The nodes that carry services and stay: their numbers, host names, addresses and services.
    pub nodes: BTreeMap<NodeId, NodeProperties>,
    /// Its services by name.
    pub services: BTreeMap<String, Offered>,
}

/// What a service of a cluster gives to clusters on top of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Offered {
    /// Names it satisfies besides its own.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub provides: BTreeSet<String>,
    /// The values it gives, by name; of each, by host name of the nodes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, Map<String, Value>>,
}

/// What a cluster holds of one of the clusters it was built upon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inheritance {
    /// The cluster.
    pub from: ClusterId,
    /// What it published, and then what its own ancestors did, the nearest first.
    pub lineage: Vec<Published>,
}

impl Inheritance {
    /// What a cluster hands down now.
    #[must_use]
    pub fn of(cluster: &Cluster) -> Self {
        Self { from: cluster.id, lineage: cluster.lineage() }
    }

    /// By which a later one is told from this.
    #[must_use]
    pub fn hash(&self) -> String {
        hash(&self.lineage)
    }
}

/// The clusters that a cluster was built upon.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Origins {
    /// The one that was named when it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Inheritance>,
    /// The tenant's foundation at that time, unless it is an ancestor anyway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foundation: Option<Inheritance>,
}

impl Origins {
    /// Built upon these, of which either may be none. A foundation that is among the parent's ancestors is not told twice.
    #[must_use]
    pub fn of(parent: Option<&Cluster>, foundation: Option<&Cluster>) -> Self {
        let parent = parent.map(Inheritance::of);
        let known = |id: ClusterId| {
            parent.iter().flat_map(|parent| &parent.lineage).any(|published| published.cluster == id)
        };
        let foundation = foundation.filter(|cluster| !known(cluster.id)).map(Inheritance::of);
        Self { parent, foundation }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.parent.is_none() && self.foundation.is_none()
    }

    /// Parent and foundation, as far as there are any.
    pub fn iter(&self) -> impl Iterator<Item = &Inheritance> {
        self.parent.iter().chain(&self.foundation)
    }

    /// What all ancestors published, the nearest first.
    pub fn ancestors(&self) -> impl Iterator<Item = &Published> {
        self.iter().flat_map(|inheritance| &inheritance.lineage)
    }

    /// The names that services of ancestors answer to.
    #[must_use]
    pub fn names(&self) -> BTreeSet<String> {
        let services = self.ancestors().flat_map(|published| &published.services);
        services.flat_map(|(name, offered)| std::iter::once(name).chain(&offered.provides)).cloned().collect()
    }

    /// The nearest ancestor that has a service of this name, or one that provides it.
    #[must_use]
    pub fn satisfying(&self, name: &str) -> Option<&Published> {
        self.ancestors().find(|published| published.satisfies(name))
    }

    fn of_cluster(&mut self, id: ClusterId) -> Option<&mut Inheritance> {
        self.parent.iter_mut().chain(&mut self.foundation).find(|inheritance| inheritance.from == id)
    }
}

/// A cluster on top of another one, as that one knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Child {
    /// Its name.
    pub name: String,
    /// Since when it is known, in ms since 1970.
    pub since: i64,
    /// What it and those on top of it require and have not themselves: names of services, or of what services provide.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub needs: BTreeSet<String>,
}

/// Whom a cluster is built upon, and who is built upon it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kin {
    /// Whom it is built upon, and what it holds of them.
    #[serde(skip_serializing_if = "Origins::is_empty")]
    pub origins: Origins,
    /// Whether something of that has changed and was not looked at: the cluster was not at rest, or in maintenance.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub news: bool,
    /// Clusters that live on top of it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub children: BTreeMap<ClusterId, Child>,
    /// Hash of what it handed down when it came to rest last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hands_down: Option<String>,
}

impl Kin {
    /// Whether nothing is to be said about it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Published {
    fn of(cluster: &Cluster) -> Self {
        let staying = || cluster.nodes.values().filter(|node| !cluster.is_leaving(&node.id));
        let carrying = staying().filter(|node| !node.properties.services.is_empty());
        let nodes = carrying.map(|node| (node.id.clone(), published_node(node))).collect();
        let mut services: BTreeMap<String, Offered> = BTreeMap::new();
        for name in staying().flat_map(|node| &node.properties.services) {
            if services.contains_key(name) {
                continue;
            }
            let Some(definition) = cluster.definitions.get(name) else { continue };
            // Secrets stay in the cluster that holds them.
            let outputs =
                definition.outputs.iter().filter(|output| !output.sensitive).map(|output| {
                    (output.name.clone(), super::inputs::given_by_hosts(cluster, name, output))
                });
            let offered =
                Offered { provides: definition.dependencies.provides.clone(), outputs: outputs.collect() };
            services.insert(name.clone(), offered);
        }
        Self { cluster: cluster.id, name: cluster.name.clone(), nodes, services }
    }

    /// Whether it has a service that is called or provides `name`.
    #[must_use]
    pub fn satisfies(&self, name: &str) -> bool {
        self.services.contains_key(name) || self.services.values().any(|it| it.provides.contains(name))
    }

    /// Its services that are called or provide `name`.
    pub(super) fn answering(&self, name: &str) -> BTreeSet<&str> {
        let answers =
            |(service, offered): &(&String, &Offered)| *service == name || offered.provides.contains(name);
        self.services.iter().filter(answers).map(|(service, _)| service.as_str()).collect()
    }

    /// Host names of the nodes that carry one of these services, by number.
    pub(super) fn members(&self, services: &BTreeSet<&str>) -> Value {
        let carries = |(_, node): &(&NodeId, &NodeProperties)| {
            services.iter().any(|service| node.services.contains(*service))
        };
        let mut nodes: Vec<_> = self.nodes.iter().filter(carries).collect();
        nodes.sort_by_key(|(id, node)| (node.nodenum, *id));
        nodes.into_iter().map(|(id, node)| node.hostname.clone().unwrap_or_else(|| id.to_string())).collect()
    }
}

/// What others may know of a node.
fn published_node(node: &Node) -> NodeProperties {
    let NodeProperties { hostname, ipaddresses, nodenum, services, .. } = node.properties.clone();
    NodeProperties { hostname, ipaddresses, nodenum, services, ..NodeProperties::default() }
}

fn hash(lineage: &[Published]) -> String {
    // Plain data with text keys always becomes JSON.
    let digest = Sha256::digest(serde_json::to_vec(lineage).unwrap_or_default());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

impl Cluster {
    /// The cluster that was named as its parent.
    #[must_use]
    pub fn parent(&self) -> Option<ClusterId> {
        self.kin.origins.parent.as_ref().map(|inheritance| inheritance.from)
    }

    /// What it hands down to those on top of it: what it publishes, and what its ancestors do.
    fn lineage(&self) -> Vec<Published> {
        let mut lineage = vec![Published::of(self)];
        for published in self.kin.origins.ancestors() {
            if lineage.iter().all(|known| known.cluster != published.cluster) {
                lineage.push(published.clone());
            }
        }
        lineage
    }

    /// Whether what it publishes now is meant to stay: no job is changing it.
    #[must_use]
    pub const fn may_hand_down(&self) -> bool {
        matches!(self.status, ClusterStatus::Active | ClusterStatus::Incomplete | ClusterStatus::Inconsistent)
    }

    /// The nearest ancestor that answers for a service; none when the cluster has it itself.
    #[must_use]
    pub fn ancestor_with(&self, service: &str) -> Option<&Published> {
        if self.services.contains(service) {
            return None;
        }
        self.kin.origins.ancestors().find(|published| published.services.contains_key(service))
    }

    /// Whether a node that stays carries a service that is called or provides `name`.
    #[must_use]
    pub(super) fn carries(&self, name: &str) -> bool {
        let staying = self.nodes.values().filter(|node| !self.is_leaving(&node.id));
        let mut services = staying.flat_map(|node| &node.properties.services);
        services.any(|service| {
            service == name || self.definitions.get(service).is_some_and(|it| it.satisfies(name))
        })
    }

    /// What it and the clusters on top of it require and it does not have: what one of its origins is to keep for it. A
    /// nearer ancestor answers before one that is farther.
    #[must_use]
    pub fn needs_of(&self, origin: ClusterId) -> BTreeSet<String> {
        let own = self.definitions.values().filter(|service| self.services.contains(service.name()));
        let required = own.flat_map(|service| {
            let needs = &service.dependencies;
            needs.install.requires.iter().chain(&needs.runtime.requires)
        });
        let above = self.kin.children.values().flat_map(|child| &child.needs);
        let answers = |name: &str| {
            let mut origins = self.kin.origins.iter();
            origins.find(|it| it.lineage.iter().any(|published| published.satisfies(name)))
        };
        required
            .chain(above)
            .filter(|name| !self.definitions.values().any(|service| service.satisfies(name)))
            .filter(|name| answers(name).is_some_and(|answering| answering.from == origin))
            .cloned()
            .collect()
    }

    /// What an ancestor published is known anew.
    pub(super) fn take_over(&mut self, from: ClusterId, lineage: &[Published]) {
        let is_looked_at = self.status == ClusterStatus::Active && self.care.maintenance.is_none();
        if let Some(known) = self.kin.origins.of_cluster(from) {
            known.lineage = lineage.to_vec();
        }
        self.kin.news = !is_looked_at;
        self.come_to_rest();
    }

    /// What it hands down, once no job changes it.
    pub(super) fn come_to_rest(&mut self) {
        if self.may_hand_down() {
            self.kin.hands_down = Some(hash(&self.lineage()));
        }
    }
}
