//! Telling workers elsewhere that nobody waits for what they do.

use std::collections::HashMap;

use tokio::sync::oneshot;

use super::Handover;
use crate::provisioner::Execution;

/// What a worker says it carries out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// The execution.
    pub execution: Execution,
    /// Name of the worker.
    pub worker: String,
}

/// Who waits for something to be given up, by provisioner.
#[derive(Default)]
pub(super) struct Watchers(HashMap<String, Vec<oneshot::Sender<Execution>>>);

impl Watchers {
    fn add(&mut self, provisioner: String) -> oneshot::Receiver<Execution> {
        let (sender, receiver) = oneshot::channel();
        // Who is gone is forgotten here, since a provisioner that loses nothing is never told.
        let waiting = self.0.entry(provisioner).or_default();
        waiting.retain(|other| !other.is_closed());
        waiting.push(sender);
        receiver
    }

    /// A worker's name is its provisioner's id, a dot, and its own id; both may hold dots, so every beginning counts.
    pub(super) fn tell(&mut self, worker: &str, execution: Execution) {
        for (dot, _) in worker.match_indices('.') {
            for waiting in self.0.remove(&worker[..dot]).into_iter().flatten() {
                // It looks by itself when it asks the next time.
                let _ = waiting.send(execution);
            }
        }
    }
}

impl Handover {
    /// Which of these is not in the hands of that worker, as far as is known here?
    #[must_use]
    pub fn unheld(&self, holdings: Vec<Holding>) -> Vec<Holding> {
        let hands = self.hands();
        let unheld = |holding: &Holding| hands.held_by(holding.execution, &holding.worker).is_none();
        holdings.into_iter().filter(unheld).collect()
    }

    /// Where it is told when something of this provisioner, by id, is given up.
    #[must_use]
    pub fn given_up(&self, provisioner: &str) -> oneshot::Receiver<Execution> {
        self.hands().watchers.add(provisioner.to_owned())
    }
}
