//! Invariant 1: never two tasks at once on one node.

use std::collections::BTreeMap;

use cooperage_domain::cluster::Event;
use cooperage_domain::id::{ClusterId, NodeId};

use super::{Checker, Verdict};
use crate::cloud::Execution;
use crate::ledger::Ledger;
use crate::seen::Seen;

/// Neither in the journal nor on the machines.
#[derive(Debug, Default)]
pub struct OneTaskPerNode {
    /// What each machine is busy with.
    running: BTreeMap<NodeId, Execution>,
    /// What each server has its plugins do to a machine.
    calls: BTreeMap<(u32, NodeId), Execution>,
}

impl Checker for OneTaskPerNode {
    fn name(&self) -> &'static str {
        "one-task-per-node"
    }

    fn event(&mut self, ledger: &Ledger, cluster: ClusterId, event: &Event) -> Verdict {
        let Event::AttemptStarted { task, .. } = event else { return Ok(()) };
        let Some(book) = ledger.find(cluster) else { return Ok(()) };
        let Some(entry) = book.tasks.get(task) else { return Ok(()) };
        let busy =
            book.open.keys().find(|other| book.tasks.get(other).is_some_and(|it| it.node == entry.node));
        match busy {
            None => Ok(()),
            Some(other) => {
                Err(format!("task {task} of {cluster} starts on {} while {other} runs", entry.node))
            }
        }
    }

    fn see(&mut self, _: &Ledger, seen: &Seen<'_>) -> Verdict {
        match seen {
            Seen::Began { execution, node, .. } => match self.running.insert((*node).clone(), *execution) {
                Some(other) if other != *execution => {
                    Err(format!("{execution:?} begins on {node} while {other:?} runs there"))
                }
                _ => Ok(()),
            },
            Seen::Stopped { execution, node } => {
                if self.running.get(*node) == Some(execution) {
                    self.running.remove(*node);
                }
                Ok(())
            }
            Seen::Called { server, execution, node } => {
                match self.calls.insert((*server, (*node).clone()), *execution) {
                    Some(other) => Err(format!("{execution:?} is called for on {node} while {other:?} is")),
                    None => Ok(()),
                }
            }
            Seen::Returned { server, node } => {
                self.calls.remove(&(*server, (*node).clone()));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
