//! Workers of a tenant that are elsewhere. What one has in hand it keeps, whoever dies, until its report is taken.

use std::sync::Arc;
use std::time::Duration;

use actix::Addr;
use cooperage_actors::handover::{Finish, Handover};
use cooperage_actors::worker_pool::{Park, WorkerPool};
use cooperage_domain::task::{TaskOrder, TaskReport};
use tokio::sync::oneshot;

use super::outside::Outside;
use crate::cloud::Wanted;

/// Pause before a worker tries again what did not work.
const PAUSE: Duration = Duration::from_secs(1);
/// How often it says what a server does not believe.
const TRIES: u32 = 8;

/// What a worker has in hand.
#[derive(Debug, Clone)]
pub struct Hand {
    wanted: Wanted,
    given: String,
}

/// One worker, in touch with one server.
pub struct RemoteWorker {
    pub outside: Arc<Outside>,
    pub tenant: &'static str,
    /// Id of its provisioner; it is the only worker of it.
    pub provisioner: String,
    pub pool: Addr<WorkerPool>,
    pub handover: Handover,
}

impl RemoteWorker {
    fn name(&self) -> String {
        format!("{}.1", self.provisioner)
    }

    /// Takes tasks and carries them out, for ever.
    pub async fn work(self) {
        let mut ticket = 0;
        loop {
            let known = self.outside.lock().hands.get(&self.name()).cloned();
            let hand = match known {
                Some(hand) => hand,
                None => {
                    ticket += 1;
                    match self.take(ticket).await {
                        Some(hand) => hand,
                        None => {
                            tokio::time::sleep(PAUSE).await;
                            continue;
                        }
                    }
                }
            };
            self.carry_out(&hand).await;
            self.outside.lock().hands.remove(&self.name());
        }
    }

    /// Waits for a task.
    async fn take(&self, ticket: u64) -> Option<Hand> {
        let (place, order) = oneshot::channel::<TaskOrder>();
        let workers = vec![(self.name(), place)];
        self.pool.do_send(Park { provisioner: self.provisioner.clone(), ticket, workers });
        let order = order.await.ok()?;
        let wanted = Wanted {
            execution: (order.task_id, order.attempt),
            node: order.node_id.clone(),
            name: order.task_name,
        };
        let hand = Hand { wanted, given: serde_json::to_string(&order).unwrap_or_default() };
        self.outside.lock().hands.insert(self.name(), hand.clone());
        Some(hand)
    }

    async fn carry_out(&self, hand: &Hand) {
        let wanted = &hand.wanted;
        let fate = loop {
            match self.outside.execute(wanted, self.tenant, &hand.given) {
                Ok(fate) => break fate,
                Err(until) => self.sleep_until(until).await,
            }
        };
        self.sleep_until(fate.end).await;
        let report = self.outside.end(wanted);
        if let Some(ms) = fate.worker_dies {
            // It comes back and is told by its server what it had, which is what it finds on the machine.
            self.sleep_until(fate.end + ms).await;
            self.say(wanted, &report).await;
            return;
        }
        // An answer that is lost is never heard of.
        for delay in fate.answers {
            self.sleep_until(fate.end + delay).await;
            self.say(wanted, &report).await;
        }
    }

    async fn sleep_until(&self, at: i64) {
        let wait = at - self.outside.now();
        tokio::time::sleep(Duration::from_millis(wait.max(0).unsigned_abs())).await;
    }

    /// Reports until it is taken, or has been refused often enough.
    async fn say(&self, wanted: &Wanted, report: &TaskReport) {
        let (task, attempt) = wanted.execution;
        for _ in 0..TRIES {
            let finish = Finish { task, attempt: Some(attempt), worker: self.name(), report: report.clone() };
            if self.handover.finish(finish).await.is_ok() {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
