//! What macros may know of a cluster.

use std::collections::{BTreeMap, HashMap};

use crate::id::NodeId;
use crate::task::NodeProperties;

/// A node: its id and what is known of it.
pub(super) type Member<'a> = (&'a NodeId, &'a NodeProperties);

/// What macros may know of a cluster. Make it once for all texts of all nodes: it holds the nodes by id and by service.
#[derive(Debug, Clone)]
pub struct ClusterView<'a> {
    pub(super) owner: &'a str,
    nodes: HashMap<&'a NodeId, &'a NodeProperties>,
    by_service: BTreeMap<&'a str, Vec<Member<'a>>>,
}

impl<'a> ClusterView<'a> {
    /// A cluster of the user `owner` with these nodes, given in any order.
    pub fn new(owner: &'a str, nodes: impl IntoIterator<Item = (&'a NodeId, &'a NodeProperties)>) -> Self {
        let mut members: Vec<Member<'a>> = nodes.into_iter().collect();
        members.sort_by_key(|(id, properties)| (properties.nodenum, *id));
        let mut by_service: BTreeMap<&str, Vec<Member<'a>>> = BTreeMap::new();
        for member in &members {
            for service in &member.1.services {
                by_service.entry(service).or_default().push(*member);
            }
        }
        Self { owner, nodes: members.into_iter().collect(), by_service }
    }

    /// The same without some of the nodes when services are asked for: those that are about to leave. Each of them still
    /// finds itself.
    #[must_use]
    pub fn without(mut self, leaving: impl Fn(&NodeId) -> bool) -> Self {
        for members in self.by_service.values_mut() {
            members.retain(|(id, _)| !leaving(id));
        }
        self.by_service.retain(|_, members| !members.is_empty());
        self
    }

    /// The same with nodes of other clusters, those of the nearest one first: they answer for services that the cluster has
    /// not itself.
    #[must_use]
    pub fn answered_by(
        mut self,
        has: impl Fn(&str) -> bool,
        others: impl IntoIterator<Item = &'a BTreeMap<NodeId, NodeProperties>>,
    ) -> Self {
        for nodes in others {
            let other = Self::new(self.owner, nodes);
            for (service, members) in other.by_service.into_iter().filter(|(service, _)| !has(service)) {
                self.by_service.entry(service).or_insert(members);
            }
        }
        self
    }

    /// The nodes that carry `service`, by node number.
    pub(super) fn carriers(&self, service: &str) -> &[Member<'a>] {
        self.by_service.get(service).map_or(&[], Vec::as_slice)
    }

    /// What is known of a node of the cluster.
    pub(super) fn node(&self, id: &NodeId) -> Option<&'a NodeProperties> {
        self.nodes.get(id).copied()
    }
}
