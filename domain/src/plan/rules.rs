//! The order between steps of different units, as a table.
//!
//! Within a unit the order is that of its steps; on a node the machine is made before its services come and given back
//! after they are done. CONFIGURE has no order between services.

use crate::plan::needs::{Phase, Towards};
use crate::task::TaskName;

/// `step` of a service waits for `awaits` of the nearest services that way which have it, on every node that carries
/// them; on its own node alone, if all requirements on the way have the scope `node`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The step that waits.
    pub step: TaskName,
    /// The step it waits for.
    pub awaits: TaskName,
    /// Along the dependencies of which phase.
    pub phase: Phase,
    /// Of the services on which side.
    pub of: Towards,
}

/// All rules. The first four are Coopr's, which knows no REMOVE.
pub const RULES: [Rule; 6] = [
    // Files come in the order of the install dependencies.
    Rule {
        step: TaskName::Install,
        awaits: TaskName::Install,
        phase: Phase::Install,
        of: Towards::Dependencies,
    },
    // Data is prepared, and a service is started, once everything it needs runs.
    Rule {
        step: TaskName::Initialize,
        awaits: TaskName::Start,
        phase: Phase::Runtime,
        of: Towards::Dependencies,
    },
    Rule { step: TaskName::Start, awaits: TaskName::Start, phase: Phase::Runtime, of: Towards::Dependencies },
    // A service is stopped, and taken away, once nothing that needs it runs any more.
    Rule { step: TaskName::Stop, awaits: TaskName::Stop, phase: Phase::Runtime, of: Towards::Dependents },
    Rule { step: TaskName::Remove, awaits: TaskName::Stop, phase: Phase::Runtime, of: Towards::Dependents },
    // Files go in the reverse order in which they came.
    Rule { step: TaskName::Remove, awaits: TaskName::Remove, phase: Phase::Install, of: Towards::Dependents },
];

impl Rule {
    /// The rules for a step.
    pub fn of_step(step: TaskName) -> impl Iterator<Item = &'static Self> {
        RULES.iter().filter(move |rule| rule.step == step)
    }

    /// Whether both wait for the same tasks, so that of two steps of a unit only the first need wait.
    #[must_use]
    pub fn awaits_same(&self, other: &Self) -> bool {
        (self.awaits, self.phase, self.of) == (other.awaits, other.phase, other.of)
    }
}
