//! Telling workers elsewhere that nobody waits for what they do.

use std::collections::HashMap;

use actix::{Handler, Message, MessageResult};
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

/// Which of these is not in the hands of that worker, as far as is known here?
#[derive(Debug, Message)]
#[rtype(result = "Vec<Holding>")]
pub struct FindUnheld(pub Vec<Holding>);

/// Wait for something of this provisioner to be given up.
#[derive(Debug, Message)]
#[rtype(result = "oneshot::Receiver<Execution>")]
pub struct AwaitGiveUp {
    /// Its id.
    pub provisioner: String,
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

impl Handler<FindUnheld> for Handover {
    type Result = MessageResult<FindUnheld>;

    fn handle(&mut self, FindUnheld(holdings): FindUnheld, _: &mut Self::Context) -> Self::Result {
        let unheld = |holding: &Holding| self.held_by(holding.execution, &holding.worker).is_none();
        MessageResult(holdings.into_iter().filter(unheld).collect())
    }
}

impl Handler<AwaitGiveUp> for Handover {
    type Result = MessageResult<AwaitGiveUp>;

    fn handle(&mut self, AwaitGiveUp { provisioner }: AwaitGiveUp, _: &mut Self::Context) -> Self::Result {
        MessageResult(self.watchers.add(provisioner))
    }
}
