//! Why a task has no worker yet, in words.

use std::collections::HashMap;

use actix::{Handler, Message, MessageResult};
use cooperage_domain::cluster::{WaitCode, WaitReason};
use cooperage_domain::id::{ClusterId, NodeId};

use super::WorkerPool;
use crate::console::Context;

/// Places in the queue that are told; of those behind it is said that there are more before them.
const TOLD: usize = 1_000;

/// How does a tenant's pool stand, as its cluster sees it?
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "Standing")]
pub struct GetStanding {
    /// Whose places in the queue are asked for.
    pub cluster: ClusterId,
}

/// How a tenant's pool stands, as one of its clusters sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Workers there are: those of this process, those elsewhere that have a task, and those elsewhere that wait for one.
    pub workers: usize,
    /// Workers that have a task.
    pub busy: usize,
    /// Requests that wait, of all clusters of the tenant.
    pub waiting: usize,
    /// For each node of the cluster whose request is told, how many come before it.
    pub places: HashMap<NodeId, usize>,
    /// Tasks that run in the whole installation.
    pub running: usize,
    /// How many may; 0 is any number.
    pub limit: usize,
}

impl Standing {
    /// Why a task of this node, which nothing else is in the way of, does not begin.
    #[must_use]
    pub fn reason(&self, node: &NodeId) -> WaitReason {
        let ahead = match self.places.get(node) {
            _ if self.waiting == 0 => String::new(),
            Some(0) => "; it is the next".to_owned(),
            Some(1) => "; 1 other comes first".to_owned(),
            Some(others) => format!("; {others} others come first"),
            None => String::new(),
        };
        if self.workers == 0 {
            let text = "for a worker: the tenant has 0 workers; give it some, or start a provisioner";
            return WaitReason::new(WaitCode::NoWorkers, text);
        }
        if self.limit != 0 && self.running >= self.limit {
            let (running, limit) = (self.running, self.limit);
            let text = format!(
                "for one of {running} running tasks of all tenants to end: at most {limit} may run at once \
                 (workers.max_running_tasks){ahead}"
            );
            return WaitReason::new(WaitCode::GlobalLimit, text);
        }
        if self.busy >= self.workers {
            let workers = match self.workers {
                1 => "the tenant's only worker is busy".to_owned(),
                workers => format!("all {workers} of the tenant are busy"),
            };
            return WaitReason::new(WaitCode::WorkersBusy, format!("for a worker: {workers}{ahead}"));
        }
        WaitReason::new(WaitCode::Next, "for nothing more: it is about to begin")
    }
}

impl Handler<GetStanding> for WorkerPool {
    type Result = MessageResult<GetStanding>;

    fn handle(&mut self, GetStanding { cluster }: GetStanding, _: &mut Context<Self>) -> Self::Result {
        let (running, limit) = self.limit.standing();
        MessageResult(Standing {
            workers: self.slots + self.elsewhere + self.parked.len(),
            busy: self.queue.held(),
            waiting: self.queue.waiting(),
            places: self.queue.places(cluster, TOLD),
            running,
            limit,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_of_a_pool_has_its_words() {
        let node = NodeId("n1".to_owned());
        let places = |ahead| HashMap::from([(node.clone(), ahead)]);
        let busy = Standing { workers: 4, busy: 4, waiting: 9, ..Standing::default() };
        for (standing, code, words) in [
            (Standing::default(), WaitCode::NoWorkers, "the tenant has 0 workers"),
            (
                Standing { places: places(0), ..busy.clone() },
                WaitCode::WorkersBusy,
                "all 4 of the tenant are busy; it is the next",
            ),
            (Standing { places: places(3), ..busy.clone() }, WaitCode::WorkersBusy, "3 others come first"),
            (busy.clone(), WaitCode::WorkersBusy, "are busy"),
            (Standing { workers: 1, busy: 1, ..busy.clone() }, WaitCode::WorkersBusy, "only worker is busy"),
            (
                Standing { running: 10, limit: 10, busy: 2, places: places(1), ..busy.clone() },
                WaitCode::GlobalLimit,
                "one of 10 running tasks of all tenants to end: at most 10 may run at once (workers.max_running_tasks); 1 other comes first",
            ),
            (Standing { busy: 3, ..busy }, WaitCode::Next, "about to begin"),
        ] {
            let reason = standing.reason(&node);
            assert_eq!(reason.code, code);
            assert!(reason.text.contains(words), "{words}: {}", reason.text);
        }
    }
}
