//! The provider outside: which machines there are, whatever anybody was told.

use std::collections::BTreeSet;

use cooperage_domain::cluster::{Cluster, ClusterStatus, Node, Task};
use cooperage_domain::id::NodeId;
use cooperage_domain::plan::{Observed, UnitId};
use cooperage_domain::task::{TaskName, TaskReport};

/// What becomes of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It does what it is to do, and says so.
    Done,
    /// It does what it is to do, and says that it failed.
    DoneButFailed,
    /// It does nothing, and says that it failed.
    Failed,
    /// It does nothing, and says that nothing was made.
    Refused,
}

impl Outcome {
    pub fn report(self) -> TaskReport {
        match self {
            Self::Done => TaskReport::success(),
            Self::DoneButFailed | Self::Failed => TaskReport::failure(1, "it broke"),
            Self::Refused => TaskReport::failure(250, "nothing was made"),
        }
    }

    const fn is_effective(self) -> bool {
        matches!(self, Self::Done | Self::DoneButFailed)
    }
}

/// The machines that there are, by the node that each was made for.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Machines {
    there: BTreeSet<NodeId>,
    /// Given back while the cluster still counts on them: nobody said that their DELETE succeeded.
    vanished: BTreeSet<NodeId>,
    /// Ended by themselves.
    died: BTreeSet<NodeId>,
}

impl Machines {
    /// Carries an attempt out. Doing it twice is as doing it once: a machine is found again by the node it is for.
    pub fn see(&mut self, task: &Task, outcome: Outcome) {
        if !outcome.is_effective() || !matches!(task.name, TaskName::Create | TaskName::Delete) {
            return;
        }
        let node = &task.node;
        self.died.remove(node);
        if task.name == TaskName::Create {
            self.there.insert(node.clone());
            self.vanished.remove(node);
        } else {
            self.there.remove(node);
            self.vanished.insert(node.clone());
        }
    }

    /// A machine ends by itself.
    pub fn die(&mut self, node: &NodeId) {
        if self.there.remove(node) {
            self.died.insert(node.clone());
        }
    }

    pub fn has(&self, node: &NodeId) -> bool {
        self.there.contains(node)
    }

    /// How the machine of a node is: whether it is there, was given back without a word, or ended.
    pub fn of(&self, node: &NodeId) -> (bool, bool, bool) {
        (self.has(node), self.vanished.contains(node), self.died.contains(node))
    }

    pub fn is_empty(&self) -> bool {
        self.there.is_empty()
    }

    /// Panics unless the journal knows every machine that there is, and every machine that it counts on is there.
    pub fn check(&mut self, cluster: &Cluster) {
        let counted = |id: &NodeId| {
            let machine = cluster.units.get(&UnitId::machine(id.clone()));
            machine.is_some_and(|it| it.observed > Observed::Absent)
        };
        self.vanished.retain(counted);
        self.died.retain(counted);
        let known = |id: &NodeId| cluster.nodes.get(id).is_some_and(Node::may_have_machine);
        for id in &self.there {
            assert!(known(id), "the journal does not know the machine of {id}");
        }
        if cluster.status == ClusterStatus::Terminated {
            assert!(self.is_empty(), "a machine is left when the cluster is gone: {self:?}");
        }
        if cluster.status == ClusterStatus::Active {
            let nodes: BTreeSet<NodeId> = cluster.nodes.keys().cloned().collect();
            let made: BTreeSet<NodeId> = self.there.union(&self.died).cloned().collect();
            assert_eq!(made, nodes, "an active cluster has the machines of its nodes");
        }
        for id in cluster.nodes.keys().filter(|id| counted(id)) {
            let explained = self.vanished.contains(id) || self.died.contains(id);
            assert!(self.has(id) || explained, "{id} has no machine");
        }
    }
}
