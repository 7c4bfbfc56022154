//! Invariant 4: an acknowledged command survives any crash.

use std::collections::BTreeMap;

use cooperage_domain::id::ClusterId;

use super::{Checker, Verdict};
use crate::ledger::Ledger;
use crate::seen::Seen;

/// What is read after a crash, and what is durable in the end, goes at least as far as what anybody was told.
#[derive(Debug, Default)]
pub struct AcknowledgedSurvives {
    told: BTreeMap<ClusterId, u64>,
}

impl AcknowledgedSurvives {
    fn compare(&self, cluster: ClusterId, found: u64) -> Verdict {
        match self.told.get(&cluster) {
            Some(told) if *told > found => {
                Err(format!("event {told} of {cluster} was acknowledged, and only {found} are there"))
            }
            _ => Ok(()),
        }
    }
}

impl Checker for AcknowledgedSurvives {
    fn name(&self) -> &'static str {
        "acknowledged-survives"
    }

    fn see(&mut self, ledger: &Ledger, seen: &Seen<'_>) -> Verdict {
        match seen {
            Seen::Acknowledged { cluster, sequence } => {
                let durable = ledger.find(*cluster).map_or(0, |book| book.sequence);
                if *sequence > durable {
                    return Err(format!(
                        "event {sequence} of {cluster} is acknowledged, and {durable} are durable"
                    ));
                }
                let told = self.told.entry(*cluster).or_default();
                *told = (*told).max(*sequence);
                Ok(())
            }
            Seen::Recovered { state } => self.compare(state.id, state.sequence),
            Seen::Over { journal, .. } => {
                let found =
                    |cluster: &ClusterId| journal.get(cluster).map_or(0, |events| events.len() as u64);
                self.told.keys().try_for_each(|cluster| self.compare(*cluster, found(cluster)))
            }
            _ => Ok(()),
        }
    }
}
