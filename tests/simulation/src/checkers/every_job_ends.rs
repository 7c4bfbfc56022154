//! Invariant 3: every job ends: done, failed or aborted.

use cooperage_domain::cluster::Event;
use cooperage_domain::id::ClusterId;

use super::{Checker, Verdict};
use crate::ledger::Ledger;
use crate::seen::Seen;

/// Each ends once, with nothing of it under way, and starts nothing afterwards.
#[derive(Debug)]
pub struct EveryJobEnds;

impl Checker for EveryJobEnds {
    fn name(&self) -> &'static str {
        "every-job-ends"
    }

    fn event(&mut self, ledger: &Ledger, cluster: ClusterId, event: &Event) -> Verdict {
        let Some(book) = ledger.find(cluster) else { return Ok(()) };
        match event {
            Event::AttemptStarted { task, .. } => {
                let job = book.tasks.get(task).and_then(|entry| book.jobs.get(&entry.job));
                if job.is_some_and(|job| !job.starts) {
                    return Err(format!(
                        "task {task} of {cluster} starts although its job starts nothing more"
                    ));
                }
            }
            Event::JobEnded { job, .. } => {
                let Some(entry) = book.jobs.get(job) else {
                    return Err(format!("job {job} of {cluster} ends and was never planned"));
                };
                if entry.ended {
                    return Err(format!("job {job} of {cluster} ends twice"));
                }
                let open =
                    book.open.keys().find(|task| book.tasks.get(task).is_some_and(|it| it.job == *job));
                if let Some(task) = open {
                    return Err(format!("job {job} of {cluster} ends while its task {task} runs"));
                }
            }
            Event::JobPlanned { job, .. } => {
                if let Some((open, _)) = book.jobs.iter().find(|(_, entry)| !entry.ended) {
                    return Err(format!("job {job} of {cluster} is planned while {open} has not ended"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn see(&mut self, ledger: &Ledger, seen: &Seen<'_>) -> Verdict {
        let Seen::Over { .. } = seen else { return Ok(()) };
        for (cluster, book) in ledger.all() {
            if let Some((job, entry)) = book.jobs.iter().find(|(_, entry)| !entry.ended) {
                return Err(format!("job {job} of {cluster} ({}) has not ended", entry.action));
            }
            if !book.terminated {
                return Err(format!("{cluster} was deleted, and is not gone"));
            }
        }
        Ok(())
    }
}
