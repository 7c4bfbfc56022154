//! Sees to it that what is due is under way.

use std::sync::Arc;
use std::time::Duration;

use actix::{Addr, AsyncContext};
use cooperage_domain::cluster::{self, ClusterStatus, Effect, Event, JobStatus, OrderError, due, due_after};
use cooperage_domain::id::NodeId;
use cooperage_domain::task::{TaskName, TaskReport};
use slog::o;

use super::{Begun, Cluster, Report};
use crate::console::{Context, Live};
use crate::janitor::{Arm, Deadline, Disarm};
use crate::node::{Follow, Halt, Identity, Node, Offer};
use crate::registry::cluster_path;

impl Cluster {
    /// All that is due: when the actor starts.
    pub(super) fn pursue_all(&mut self, ctx: &Context<Self>) {
        let Some(state) = self.state.clone() else { return };
        self.rank(&state);
        self.carry_out(&state, due(&state), ctx);
        self.settle(&state, ctx);
    }

    /// Offers what may start with events, the last that were applied, and tells what else is due once they are durable.
    pub(super) fn advance(&mut self, events: &[Event], ctx: &Context<Self>) -> Vec<Effect> {
        let Some(state) = self.state.clone() else { return Vec::new() };
        self.rank(&state);
        let at_once = |effect: &Effect| matches!(effect, Effect::Start { .. } | Effect::Overdue { .. });
        let (starts, later) = due_after(&state, events).into_iter().partition(at_once);
        self.carry_out(&state, starts, ctx);
        for event in events {
            if let Event::TaskSucceeded { task, .. }
            | Event::TaskFailed { task, .. }
            | Event::UnitProbed { task, .. } = event
            {
                self.offer_rest_of_node(&state, *task, ctx);
            }
        }
        self.let_go(ctx);
        later
    }

    /// Sees to what is due with events that are durable now.
    pub(super) fn pursue(&mut self, effects: Vec<Effect>, ctx: &Context<Self>) {
        let Some(state) = self.state.clone() else { return };
        self.carry_out(&state, effects, ctx);
        self.settle(&state, ctx);
    }

    fn carry_out(&mut self, state: &cluster::Cluster, effects: Vec<Effect>, ctx: &Context<Self>) {
        for effect in effects {
            match effect {
                Effect::Start { task, node, not_before } => self.offer(task, &node, not_before, ctx),
                Effect::Follow { task, node, attempt, deadline } => {
                    self.watch_pace(state, task, attempt, ctx);
                    if self.followed.insert((task, attempt)) {
                        self.follow(state, (task, attempt), &node, deadline, ctx);
                    }
                }
                Effect::Overdue { task, at } => self.watch_queue(task, at, ctx),
                Effect::Halt { task, node, attempt } => self.node(&node, ctx).do_send(Halt { task, attempt }),
                Effect::Warn { at } => self.arm_lease(Deadline::LeaseWarning(self.id), at),
                Effect::Expire { at } | Effect::CutShort { at } => {
                    self.arm_lease(Deadline::Lease(self.id), at);
                }
            }
        }
    }

    /// Told to the registry, which outlives this actor: it may rest when the time comes.
    fn arm_lease(&self, deadline: Deadline, at: i64) {
        let whom = self.surroundings.registry.clone().recipient();
        self.surroundings.colleagues.janitor.do_send(Arm { deadline, at, whom });
    }

    /// A cluster with nothing to do stops after a while; the registry starts it again when somebody asks for it.
    fn settle(&self, state: &cluster::Cluster, ctx: &Context<Self>) {
        if state.status == ClusterStatus::Pending {
            return;
        }
        let janitor = &self.surroundings.colleagues.janitor;
        if state.status == ClusterStatus::Terminated && state.expires != 0 {
            janitor.do_send(Disarm(Deadline::Lease(self.id)));
            janitor.do_send(Disarm(Deadline::LeaseWarning(self.id)));
        }
        janitor.do_send(Arm {
            deadline: Deadline::Idle(self.id),
            at: self.in_a_while(self.surroundings.pace.rest_after),
            whom: ctx.address().recipient(),
        });
    }

    fn in_a_while(&self, pause: Duration) -> i64 {
        let pause = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
        self.surroundings.clock.now().saturating_add(pause)
    }

    /// A task may start, once its pause is over. Offered once until it is begun, fails, or is put back. On a node in
    /// maintenance nothing is; what waits there is due when that ends.
    fn offer(&mut self, task: u32, node: &NodeId, not_before: i64, ctx: &Context<Self>) {
        if self.state.as_ref().is_some_and(|state| state.in_maintenance(node).is_some()) {
            return;
        }
        if not_before > self.surroundings.clock.now() {
            self.surroundings.colleagues.janitor.do_send(Arm {
                deadline: Deadline::Pause { node: node.clone(), task },
                at: not_before,
                whom: ctx.address().recipient(),
            });
        } else if self.is_limited() {
            self.hold_back(task, ctx);
        } else if self.offered.insert(task) {
            let rank = self.ranks.get(&task).copied().unwrap_or(0);
            let urgent = self.is_urgent(task);
            self.node(node, ctx).do_send(Offer { task, rank, urgent });
        }
    }

    fn is_limited(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.limits.max_running_tasks != 0)
    }

    /// Whether a task gives a machine back.
    pub(super) fn is_urgent(&self, task: u32) -> bool {
        let job = self.state.as_deref().and_then(cluster::Cluster::latest_job);
        job.and_then(|job| job.tasks.get(&task)).is_some_and(|task| task.name == TaskName::Delete)
    }

    /// Offers a task again, if it may still start: its pause is over, or its begin was refused.
    pub(super) fn offer_again(&mut self, task: u32, ctx: &Context<Self>) {
        let Some(state) = self.state.clone() else { return };
        let job = state.latest_job().filter(|job| job.status == JobStatus::Running);
        let Some(found) = job.filter(|job| job.ready.contains(&task)).and_then(|job| job.tasks.get(&task))
        else {
            return;
        };
        self.offer(task, &found.node, found.not_before, ctx);
    }

    /// A node is free: whatever else of it may start is offered, should its begin have been refused while the node was
    /// busy.
    fn offer_rest_of_node(&mut self, state: &cluster::Cluster, ended: u32, ctx: &Context<Self>) {
        let job = state.latest_job().filter(|job| job.status == JobStatus::Running);
        let Some((job, node)) = job.and_then(|job| Some((job, &job.tasks.get(&ended)?.node))) else { return };
        let ready = job.tasks_of(node).filter(|task| job.ready.contains(&task.id.number));
        for task in ready {
            self.offer(task.id.number, node, task.not_before, ctx);
        }
    }

    /// An attempt that this actor did not begin: it was open when its actors went down. It is taken up again.
    fn follow(
        &mut self,
        state: &cluster::Cluster,
        (task, attempt): (u32, u32),
        node: &NodeId,
        deadline: i64,
        ctx: &Context<Self>,
    ) {
        let open = state.latest_job().and_then(|job| job.tasks.get(&task)?.open_attempt());
        let worker = open.map_or_else(String::new, |attempt| attempt.worker.clone());
        match cluster::order(state, task, attempt) {
            Ok(order) => self.node(node, ctx).do_send(Follow(Box::new(Begun { order, deadline, worker }))),
            Err(fault) => ctx.address().do_send(Report { task, attempt, report: Some(unexpandable(&fault)) }),
        }
    }

    pub(super) fn node(&mut self, id: &NodeId, ctx: &Context<Self>) -> Addr<Node> {
        let (cluster, surroundings, logger) = (self.id, &self.surroundings, &self.logger);
        let tenant = self.state.as_ref().map(|s| s.account.tenant_id.clone()).unwrap_or_default();
        let start = || {
            let logger = logger.new(o!("node" => id.to_string()));
            let identity = Identity { id: id.clone(), cluster, tenant };
            let colleagues = surroundings.colleagues.clone();
            let grace = surroundings.pace.grace;
            let node = Node::new(identity, ctx.address().downgrade(), colleagues, grace, logger);
            node.live(&surroundings.console, format!("{}/nodes/{id}", cluster_path(cluster)))
        };
        self.nodes.entry(id.clone()).or_insert_with(start).clone()
    }

    /// Ranks the tasks of a job when it is new or has grown.
    fn rank(&mut self, state: &Arc<cluster::Cluster>) {
        let Some(job) = state.latest_job() else { return };
        if self.ranked_job == job.id.number && self.ranks.len() == job.tasks.len() {
            return;
        }
        self.ranks = self.surroundings.estimates.ranks(state, job);
        if self.ranked_job != job.id.number {
            self.offered.clear();
            self.held_back.clear();
            self.ranked_job = job.id.number;
        }
    }
}

/// The report of an attempt that cannot be handed out.
pub(super) fn unexpandable(fault: &OrderError) -> TaskReport {
    TaskReport::failure(-1, fault.to_string())
}
