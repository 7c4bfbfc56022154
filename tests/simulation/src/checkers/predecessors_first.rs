//! Invariant 2: no task starts before its predecessors succeeded.

use cooperage_domain::cluster::Event;
use cooperage_domain::id::ClusterId;
use cooperage_domain::task::TaskName;

use super::{Checker, Verdict};
use crate::ledger::Ledger;

/// By the graph of its job, and by what must be there on any machine.
#[derive(Debug)]
pub struct PredecessorsFirst;

impl Checker for PredecessorsFirst {
    fn name(&self) -> &'static str {
        "predecessors-first"
    }

    fn event(&mut self, ledger: &Ledger, cluster: ClusterId, event: &Event) -> Verdict {
        let Event::AttemptStarted { task, .. } = event else { return Ok(()) };
        let Some(book) = ledger.find(cluster) else { return Ok(()) };
        let Some(entry) = book.tasks.get(task) else {
            return Err(format!("task {task} of {cluster} starts and was never planned"));
        };
        if let Some(missing) = entry.after.iter().find(|before| !book.done.contains(before)) {
            return Err(format!(
                "{} ({task}) of {cluster} starts before {missing} has succeeded",
                entry.name
            ));
        }
        let needed: &[TaskName] = match entry.name {
            TaskName::Create | TaskName::Delete => &[],
            TaskName::Confirm => &[TaskName::Create],
            TaskName::Bootstrap => &[TaskName::Create, TaskName::Confirm],
            _ => &[TaskName::Create, TaskName::Confirm, TaskName::Bootstrap],
        };
        let done = book.steps.get(&entry.node);
        match needed.iter().find(|step| !done.is_some_and(|done| done.contains(step))) {
            None => Ok(()),
            Some(step) => Err(format!(
                "{} ({task}) of {cluster} starts on {} before its {step}",
                entry.name, entry.node
            )),
        }
    }
}
