//! Why no plan can be made.

use crate::id::NodeId;
use crate::plan::needs::Phase;
use crate::plan::unit::UnitId;
use crate::task::TaskName;

/// Why no plan can be made: what is wrong, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Services wait for each other.
    #[error(
        "dependencies.{phase}: the services {} wait for each other; drop one of these dependencies",
        services.join(" → ")
    )]
    Cycle {
        /// The phase whose dependencies go round.
        phase: Phase,
        /// The services on the way round; the first is named again at the end.
        services: Vec<String>,
    },
    /// Tasks wait for each other although the services do not.
    #[error(
        "the tasks {} wait for each other; give the steps of each unit in the order of its life",
        tasks.join(" → ")
    )]
    Tangled {
        /// The tasks on the way round, each before the next; the first is named again at the end.
        tasks: Vec<String>,
    },
    /// A service is on a node and nobody knows what it is.
    #[error("service {service:?} on node {node} is not defined; store a service of that name first")]
    UndefinedService {
        /// The service.
        service: String,
        /// A node that carries it.
        node: NodeId,
    },
    /// A service was named that no node carries.
    #[error(
        "service {service:?} is on no node of the cluster; name one that is, or add it to the cluster first"
    )]
    NotOnCluster {
        /// The service.
        service: String,
    },
    /// A node was named that the cluster does not have.
    #[error("node {node} is not one of the cluster; name one that is")]
    UnknownNode {
        /// The node.
        node: NodeId,
    },
    /// Steps were asked for a service on a node that does not carry it.
    #[error("unit {unit}: the node does not carry that service; add it to the node or drop its steps")]
    NotOnNode {
        /// The unit.
        unit: UnitId,
    },
    /// A step was asked for that its unit cannot take.
    #[error("unit {unit}: step {step} {fault}; drop the step")]
    BadStep {
        /// The unit.
        unit: UnitId,
        /// The step.
        step: TaskName,
        /// What is wrong with it; continues the sentence "step STEP ...".
        fault: &'static str,
    },
    /// A stored graph is not in topological order.
    #[error(
        "task {index} of the graph waits for task {awaited}, which does not come before it; plan the job again"
    )]
    Disordered {
        /// The task.
        index: usize,
        /// What it waits for.
        awaited: usize,
    },
}
