//! Invariant 9: a zombie server's or worker's write is refused.

use std::collections::BTreeMap;

use cooperage_domain::cluster::{Event, INTERNAL_FAILURE};
use cooperage_domain::id::ClusterId;

use super::{Checker, Verdict};
use crate::ledger::Ledger;
use crate::seen::Seen;

/// Who lost a cluster writes nothing to it any more; a report counts for the attempt that is open, and once.
#[derive(Debug, Default)]
pub struct ZombiesRefused {
    epochs: BTreeMap<ClusterId, u64>,
    /// Attempts whose result is in the journal, with the event that ended each.
    closed: BTreeMap<(ClusterId, u32), u32>,
}

impl Checker for ZombiesRefused {
    fn name(&self) -> &'static str {
        "zombies-refused"
    }

    fn event(&mut self, ledger: &Ledger, cluster: ClusterId, event: &Event) -> Verdict {
        let (Event::TaskSucceeded { task, .. }
        | Event::TaskFailed { task, .. }
        | Event::UnitProbed { task, .. }) = event
        else {
            return Ok(());
        };
        // No worker says so: nobody took the task for too long.
        let in_queue = matches!(event, Event::TaskFailed { outcome, .. } if outcome.code == INTERNAL_FAILURE);
        match ledger.find(cluster).and_then(|book| book.open.get(task)) {
            None if in_queue => Ok(()),
            Some(attempt) => {
                self.closed.insert((cluster, *task), *attempt);
                Ok(())
            }
            None => {
                Err(format!("a report about task {task} of {cluster} counts, and no attempt of it was open"))
            }
        }
    }

    fn see(&mut self, _: &Ledger, seen: &Seen<'_>) -> Verdict {
        match seen {
            Seen::Reported { cluster, task, attempt, accepted: true } => {
                match self.closed.get(&(*cluster, *task)) {
                    Some(closed) if closed == attempt => Ok(()),
                    closed => Err(format!(
                        "a report about attempt {attempt} of task {task} of {cluster} was taken for {closed:?}"
                    )),
                }
            }
            Seen::Claimed { cluster, epoch } => {
                let newest = self.epochs.entry(*cluster).or_default();
                if *epoch <= *newest {
                    return Err(format!(
                        "{cluster} was taken over by a right of {epoch}, and {newest} was given before"
                    ));
                }
                *newest = *epoch;
                Ok(())
            }
            Seen::Written { cluster, epoch, accepted: true } => match self.epochs.get(cluster) {
                Some(newest) if newest > epoch => {
                    Err(format!("{cluster} belongs to {newest}, and {epoch} wrote to its journal"))
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }
}
