//! What macros may know of a cluster.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::id::NodeId;
use crate::task::NodeProperties;

/// A node: its id and what is known of it.
pub(super) type Member<'a> = (&'a NodeId, &'a NodeProperties);

/// What macros may know of a cluster. Make it once for all texts of all nodes: nodes are looked at, and sorted by id and by
/// service, when the first macro asks for one.
pub struct ClusterView<'a> {
    pub(super) owner: &'a str,
    source: Box<dyn Fn() -> Vec<Member<'a>> + 'a>,
    members: OnceCell<Vec<Member<'a>>>,
    leaving: Box<dyn Fn() -> BTreeSet<&'a NodeId> + 'a>,
    has: Box<dyn Fn(&str) -> bool + 'a>,
    others: Vec<&'a BTreeMap<NodeId, NodeProperties>>,
    by_id: OnceCell<HashMap<&'a NodeId, &'a NodeProperties>>,
    by_service: OnceCell<BTreeMap<&'a str, Vec<Member<'a>>>>,
}

impl<'a> ClusterView<'a> {
    /// A cluster of the user `owner` with these nodes, given in any order.
    pub fn new(
        owner: &'a str,
        nodes: impl IntoIterator<Item = (&'a NodeId, &'a NodeProperties)> + Clone + 'a,
    ) -> Self {
        let (by_id, by_service) = (OnceCell::new(), OnceCell::new());
        Self {
            owner,
            source: Box::new(move || nodes.clone().into_iter().collect()),
            members: OnceCell::new(),
            leaving: Box::new(BTreeSet::new),
            has: Box::new(|_| false),
            others: Vec::new(),
            by_id,
            by_service,
        }
    }

    /// The same without some of the nodes when services are asked for: those that are about to leave. Each of them still
    /// finds itself.
    #[must_use]
    pub fn without(self, leaving: impl Fn() -> BTreeSet<&'a NodeId> + 'a) -> Self {
        Self { leaving: Box::new(leaving), by_service: OnceCell::new(), ..self }
    }

    /// The same with nodes of other clusters, those of the nearest one first: they answer for services that the cluster has
    /// not itself.
    #[must_use]
    pub fn answered_by(
        self,
        has: impl Fn(&str) -> bool + 'a,
        others: impl IntoIterator<Item = &'a BTreeMap<NodeId, NodeProperties>>,
    ) -> Self {
        let others = others.into_iter().collect();
        Self { has: Box::new(has), others, by_service: OnceCell::new(), ..self }
    }

    /// The nodes that carry `service`, by node number.
    pub(super) fn carriers(&self, service: &str) -> &[Member<'a>] {
        let by_service = self.by_service.get_or_init(|| self.sorted_by_service());
        by_service.get(service).map_or(&[], Vec::as_slice)
    }

    fn members(&self) -> &[Member<'a>] {
        self.members.get_or_init(|| (self.source)())
    }

    fn sorted_by_service(&self) -> BTreeMap<&'a str, Vec<Member<'a>>> {
        let leaving = (self.leaving)();
        let own = self.members().iter().copied().filter(|(id, _)| !leaving.contains(id));
        let mut answers = by_service(own);
        for nodes in &self.others {
            for (service, members) in by_service(nodes.iter()) {
                if !(self.has)(service) {
                    answers.entry(service).or_insert(members);
                }
            }
        }
        answers
    }

    /// What is known of a node of the cluster.
    pub(super) fn node(&self, id: &NodeId) -> Option<&'a NodeProperties> {
        self.by_id.get_or_init(|| self.members().iter().copied().collect()).get(id).copied()
    }
}

/// Nodes by the services that they carry, by node number.
fn by_service<'a>(nodes: impl Iterator<Item = Member<'a>>) -> BTreeMap<&'a str, Vec<Member<'a>>> {
    let mut by_service: BTreeMap<&str, Vec<Member<'a>>> = BTreeMap::new();
    for member in nodes {
        for service in &member.1.services {
            by_service.entry(service).or_default().push(member);
        }
    }
    for members in by_service.values_mut() {
        members.sort_by_key(|(id, properties)| (properties.nodenum, *id));
    }
    by_service
}
