//! One checker for each invariant of the design, by name.

mod acknowledged_survives;
mod every_job_ends;
mod families_hold;
mod machines_are_known;
mod one_task_per_node;
mod predecessors_first;
mod quotas_hold;
mod replay_gives_the_state;
mod tenants_apart;
mod zombies_refused;

use std::fmt;

use cooperage_domain::cluster::Event;
use cooperage_domain::id::ClusterId;
use serde::Serialize;

use crate::ledger::Ledger;
use crate::seen::Seen;

/// Whether what was seen may be.
pub type Verdict = Result<(), String>;

/// Watches over one invariant.
pub trait Checker: Send {
    /// Its name, and with it the invariant's.
    fn name(&self) -> &'static str;

    /// An event became durable; `ledger` holds those before it.
    ///
    /// # Errors
    /// What is wrong with it.
    fn event(&mut self, ledger: &Ledger, cluster: ClusterId, event: &Event) -> Verdict {
        let _ = (ledger, cluster, event);
        Ok(())
    }

    /// Something was seen; `ledger` holds all events that became durable with it.
    ///
    /// # Errors
    /// What is wrong with it.
    fn see(&mut self, ledger: &Ledger, seen: &Seen<'_>) -> Verdict {
        let _ = (ledger, seen);
        Ok(())
    }
}

/// Beside the invariants: nothing panics, everything can be read, and there is an end to it.
pub const NOTHING_BREAKS: &str = "nothing-breaks";

/// An invariant that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Name of the checker.
    pub invariant: String,
    /// What was seen that must not be.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant, self.what)
    }
}

/// All checkers, and what they read.
pub struct Checkers {
    ledger: Ledger,
    all: Vec<Box<dyn Checker>>,
    /// The first violation; nothing is checked after it.
    violation: Option<Violation>,
}

impl Default for Checkers {
    fn default() -> Self {
        Self {
            ledger: Ledger::default(),
            all: vec![
                Box::new(one_task_per_node::OneTaskPerNode::default()),
                Box::new(predecessors_first::PredecessorsFirst),
                Box::new(every_job_ends::EveryJobEnds),
                Box::new(acknowledged_survives::AcknowledgedSurvives::default()),
                Box::new(machines_are_known::MachinesAreKnown::default()),
                Box::new(tenants_apart::TenantsApart),
                Box::new(replay_gives_the_state::ReplayGivesTheState::default()),
                Box::new(quotas_hold::QuotasHold::default()),
                Box::new(zombies_refused::ZombiesRefused::default()),
                Box::new(families_hold::FamiliesHold::default()),
            ],
            violation: None,
        }
    }
}

impl Checkers {
    /// Names of all checkers, in the order of the invariants.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        Self::default().all.iter().map(|checker| checker.name()).collect()
    }

    /// Shows something to all checkers.
    pub fn see(&mut self, seen: &Seen<'_>) {
        if self.violation.is_some() {
            return;
        }
        if let Err(violation) = self.check(seen) {
            self.violation = Some(violation);
        }
    }

    fn check(&mut self, seen: &Seen<'_>) -> Result<(), Violation> {
        if let Seen::Recorded { after, events, .. } = seen {
            for event in *events {
                for checker in &mut self.all {
                    let verdict = checker.event(&self.ledger, after.id, event);
                    verdict.map_err(|what| violation(&**checker, what))?;
                }
                self.ledger.enter(after.id, event);
            }
        }
        for checker in &mut self.all {
            let verdict = checker.see(&self.ledger, seen);
            verdict.map_err(|what| violation(&**checker, what))?;
        }
        Ok(())
    }

    /// The first violation, if there was one.
    #[must_use]
    pub const fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// Notes that the system itself broke, or does not come to rest.
    pub fn broken(&mut self, what: String) {
        self.violation.get_or_insert(Violation { invariant: NOTHING_BREAKS.to_owned(), what });
    }
}

fn violation(checker: &dyn Checker, what: String) -> Violation {
    Violation { invariant: checker.name().to_owned(), what }
}
