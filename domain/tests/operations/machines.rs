//! The provider outside: which machines there are, whatever anybody was told.

use std::collections::BTreeSet;

use cooperage_domain::cluster::{Cluster, ClusterStatus, Node, Task};
use cooperage_domain::id::NodeId;
use cooperage_domain::plan::{Observed, UnitId};
use cooperage_domain::task::{TaskName, TaskReport};

/// What becomes of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
pub struct Machines(BTreeSet<NodeId>);

impl Machines {
    /// Carries an attempt out. Doing it twice is as doing it once: a machine is found again by the node it is for.
    pub fn see(&mut self, task: &Task, outcome: Outcome) {
        match task.name {
            TaskName::Create if outcome.is_effective() => drop(self.0.insert(task.node.clone())),
            TaskName::Delete if outcome.is_effective() => drop(self.0.remove(&task.node)),
            _ => {}
        }
    }

    pub fn has(&self, node: &NodeId) -> bool {
        self.0.contains(node)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Panics unless the journal knows every machine that there is, and every machine that it counts on is there.
    pub fn check(&self, cluster: &Cluster) {
        let known = |id: &NodeId| cluster.nodes.get(id).is_some_and(Node::may_have_machine);
        for id in &self.0 {
            assert!(known(id), "the journal does not know the machine of {id}");
        }
        if cluster.status == ClusterStatus::Terminated {
            assert!(self.is_empty(), "a machine is left when the cluster is gone: {self:?}");
        }
        if cluster.status == ClusterStatus::Active {
            let nodes: BTreeSet<NodeId> = cluster.nodes.keys().cloned().collect();
            assert_eq!(self.0, nodes, "an active cluster has the machines of its nodes");
        }
        if cluster.status != ClusterStatus::Pending {
            let counted = |id: &&NodeId| {
                cluster
                    .units
                    .get(&UnitId::machine((*id).clone()))
                    .is_some_and(|it| it.observed > Observed::Absent)
            };
            // One whose DELETE said that it failed is counted on until it says that it succeeded.
            let going = |id: &NodeId| deleted(cluster, id);
            for id in cluster.nodes.keys().filter(counted).filter(|id| !going(id)) {
                assert!(self.0.contains(id), "{id} has no machine");
            }
        }
    }
}

/// Whether the latest job tried to give the machine of a node back.
fn deleted(cluster: &Cluster, node: &NodeId) -> bool {
    cluster
        .jobs
        .values()
        .any(|job| job.tasks_of(node).any(|task| task.name == TaskName::Delete && !task.attempts.is_empty()))
}
