//! Invariant 5: no machine is created that the journal does not know; none is left after its cluster is gone.

use std::collections::BTreeMap;

use cooperage_domain::cluster::{Cluster, ClusterStatus, Node};
use cooperage_domain::id::{ClusterId, NodeId};

use super::{Checker, Verdict};
use crate::ledger::Ledger;
use crate::seen::Seen;

/// A machine is made for a node that the journal asked one for, and is given back before its cluster is gone.
#[derive(Debug, Default)]
pub struct MachinesAreKnown {
    /// By cluster, whether each node may have a machine, and whether the cluster is gone.
    known: BTreeMap<ClusterId, (BTreeMap<NodeId, bool>, bool)>,
    /// Machines there are.
    machines: BTreeMap<NodeId, ClusterId>,
}

impl MachinesAreKnown {
    fn learn(&mut self, cluster: &Cluster) {
        let nodes = cluster.nodes.values().map(|node| (node.id.clone(), node.may_have_machine())).collect();
        self.known.insert(cluster.id, (nodes, cluster.status == ClusterStatus::Terminated));
    }
}

impl Checker for MachinesAreKnown {
    fn name(&self) -> &'static str {
        "machines-are-known"
    }

    fn see(&mut self, _: &Ledger, seen: &Seen<'_>) -> Verdict {
        match seen {
            Seen::Recorded { after, .. } => {
                self.learn(after);
                if after.status == ClusterStatus::Terminated
                    && after.nodes.values().any(Node::may_have_machine)
                {
                    return Err(format!("{} is gone, and a node of it may have a machine", after.id));
                }
                let of_it = self.machines.iter().filter(|(_, cluster)| **cluster == after.id);
                let known = |node: &NodeId| after.nodes.get(node).is_some_and(Node::may_have_machine);
                match of_it.map(|(node, _)| node).find(|node| !known(node)) {
                    Some(node) => Err(format!("{} has forgotten the machine of {node}", after.id)),
                    None => Ok(()),
                }
            }
            Seen::Gone { node } => {
                self.machines.remove(*node);
                Ok(())
            }
            Seen::Made { node, cluster } => {
                self.machines.insert((*node).clone(), *cluster);
                let known = self
                    .known
                    .get(cluster)
                    .is_some_and(|(nodes, gone)| !gone && nodes.get(*node) == Some(&true));
                if known {
                    Ok(())
                } else {
                    Err(format!("a machine was made for {node}, which {cluster} does not know of"))
                }
            }
            Seen::Over { machines, .. } => match machines.first_key_value() {
                None => Ok(()),
                Some((node, cluster)) => Err(format!("{cluster} is gone, and the machine of {node} is left")),
            },
            _ => Ok(()),
        }
    }
}
