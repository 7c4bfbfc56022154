//! Tasks that may start but for the cluster's limit of running tasks.
//!
//! With a limit, nodes are offered no more tasks than may run, each to a node that is free; the others are held back here.
//! Whenever a task ends, is not begun after all, or becomes ready, those with the longest paths behind them go out. Without
//! a limit nothing is held back.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};

use crate::console::Context;
use cooperage_domain::cluster::{JobStatus, budget};
use cooperage_domain::id::NodeId;

use super::Cluster;
use crate::node::Offer;

/// Tasks that are held back: the longest path first, among equals the one planned first.
pub(super) type HeldBack = BTreeSet<(Reverse<i64>, u32)>;

impl Cluster {
    /// Holds a task back until there is room for it, which may be at once.
    pub(super) fn hold_back(&mut self, task: u32, ctx: &Context<Self>) {
        if !self.offered.contains(&task) {
            let rank = self.ranks.get(&task).copied().unwrap_or(0);
            self.held_back.insert((Reverse(rank), task));
        }
        self.let_go(ctx);
    }

    /// Offers as many of the tasks that are held back as there is room for.
    pub(super) fn let_go(&mut self, ctx: &Context<Self>) {
        if self.held_back.is_empty() {
            return;
        }
        let Some(state) = self.state.clone() else { return };
        let Some(job) = state.latest_job().filter(|job| job.status == JobStatus::Running) else { return };
        let under_way = job.running.iter().chain(&self.offered).filter_map(|number| job.tasks.get(number));
        let mut busy: HashSet<&NodeId> = under_way.map(|task| &task.node).collect();
        let mut room = budget::room(&state, job).saturating_sub(self.offered.len());
        let mut gone = Vec::new();
        for &(rank, number) in &self.held_back {
            let found = job.tasks.get(&number).filter(|_| job.ready.contains(&number));
            match found {
                None => gone.push(((rank, number), None)),
                Some(_) if room == 0 => break,
                Some(task) => {
                    if busy.insert(&task.node) {
                        room -= 1;
                        gone.push(((rank, number), Some(&task.node)));
                    }
                }
            }
        }
        for (held, node) in gone {
            self.held_back.remove(&held);
            let (Reverse(rank), task) = held;
            if let Some(node) = node {
                self.offered.insert(task);
                let urgent = self.is_urgent(task);
                self.node(node, ctx).do_send(Offer { task, rank, urgent });
            }
        }
    }
}
