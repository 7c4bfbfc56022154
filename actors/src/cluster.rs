//! One live cluster: decides, records, then acts.
//!
//! ```text
//!   Operate(command) ──► decide ──► Journal … durable … ──► apply ──► due ──► Offer / Follow to the nodes
//!                                                                        └──► Arm to the janitor
//! ```
//!
//! Nothing is done before the events that say so are durable. While they are on their way the mailbox waits, so that every
//! decision is made on the state that the one before it left.

mod handler;
mod message;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use actix::{Actor, ActorContext, ActorFutureExt, Addr, AsyncContext, Context, WrapFuture};
use cooperage_domain::cluster::{self, ClusterStatus, Effect, Event, Job, OrderError, apply, due};
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_domain::task::TaskReport;
use slog::{Logger, error, info, o};

pub use message::{Begin, Found, GetState, Operate, OperateError, Report};

use crate::clock::SharedClock;
use crate::estimate::{Estimates, sample};
use crate::janitor::{Arm, Deadline};
use crate::journal::{Journal, Record, RecordError};
use crate::node::{Colleagues, Follow, Node, Offer, Withdraw};
use crate::registry::{Registry, Stopped};

/// How long a cluster with nothing to do stays live, in ms.
const REST_AFTER: i64 = 60_000;

/// What a live cluster needs from the rest of the process.
#[derive(Clone)]
pub struct Surroundings {
    /// Makes events durable.
    pub journal: Addr<Journal>,
    /// Restarts this actor when it fails.
    pub registry: Addr<Registry>,
    /// Whom its nodes talk to.
    pub colleagues: Colleagues,
    /// How long tasks take.
    pub estimates: Estimates,
    /// Tells the time.
    pub clock: SharedClock,
    /// Where to log.
    pub logger: Logger,
}

/// One live cluster.
pub struct Cluster {
    id: ClusterId,
    state: Option<Arc<cluster::Cluster>>,
    /// Fencing number of this server's ownership.
    epoch: u64,
    surroundings: Surroundings,
    nodes: HashMap<NodeId, Addr<Node>>,
    /// Attempts this actor has begun itself, or has had taken up.
    followed: HashSet<(u32, u32)>,
    /// Tasks that have been offered to their nodes.
    offered: HashSet<u32>,
    /// For the latest job: length of the path behind each task, in ms.
    ranks: HashMap<u32, i64>,
    ranked_job: u32,
    logger: Logger,
    /// Tells the registry when this actor is gone, however it goes.
    farewell: Farewell,
}

/// Tells the registry that the actor is gone; during a panic too, since values are dropped then as well.
struct Farewell {
    id: ClusterId,
    registry: Addr<Registry>,
    failed: bool,
}

impl Drop for Farewell {
    fn drop(&mut self) {
        self.registry.do_send(Stopped { id: self.id, failed: self.failed || std::thread::panicking() });
    }
}

impl Cluster {
    /// A live cluster with this state; `None` for one that is to be created by [`Begin`]'s first events.
    #[must_use]
    pub fn new(
        id: ClusterId,
        state: Option<cluster::Cluster>,
        epoch: u64,
        surroundings: Surroundings,
    ) -> Self {
        let logger = surroundings.logger.new(o!("cluster" => id.to_string()));
        let farewell = Farewell { id, registry: surroundings.registry.clone(), failed: false };
        Self {
            id,
            state: state.map(Arc::new),
            epoch,
            surroundings,
            nodes: HashMap::new(),
            followed: HashSet::new(),
            offered: HashSet::new(),
            ranks: HashMap::new(),
            ranked_job: 0,
            logger,
            farewell,
        }
    }

    /// Applies events, makes them durable, and does what is due. The mailbox waits meanwhile, so nobody sees the new state
    /// before it is durable; when it cannot be made so, this actor ends, and starts again from the journal.
    fn record(&mut self, events: Vec<Event>, who: String, done: Done, ctx: &mut Context<Self>) {
        if events.is_empty() {
            done(self, Ok(()), ctx);
            return;
        }
        // Nobody else holds the state as a rule, so that it is changed in place and not copied.
        let mut next = self.state.take().map(Arc::unwrap_or_clone);
        let sequence = next.as_ref().map_or(0, |state| state.sequence);
        for event in &events {
            apply(&mut next, event);
        }
        let Some(next) = next.map(Arc::new) else { return };
        self.state = Some(Arc::clone(&next));
        let record = Record {
            cluster: next,
            epoch: self.epoch,
            expected_sequence: sequence,
            at: self.surroundings.clock.now(),
            who,
            events: events.clone(),
        };
        let durable = self.surroundings.journal.send(record);
        ctx.wait(durable.into_actor(self).map(move |answer, actor, ctx| {
            match answer.unwrap_or(Err(RecordError::Gone)) {
                Ok(()) => {
                    actor.note(&events);
                    actor.pursue(ctx);
                    done(actor, Ok(()), ctx);
                }
                Err(fault) => {
                    error!(actor.logger, "events were not recorded"; "fault" => fault.to_string());
                    // Whoever owns the cluster now goes on with it; otherwise it is taken up again from the journal.
                    actor.farewell.failed = !fault.is_fenced();
                    actor.state = None;
                    done(actor, Err(fault), ctx);
                    ctx.stop();
                }
            }
        }));
    }

    /// Learns and logs from what happened.
    fn note(&mut self, events: &[Event]) {
        let Some(state) = self.state.clone() else { return };
        for event in events {
            match event {
                Event::TaskSucceeded { .. } => {
                    if let Some(sample) = sample(&state, event) {
                        self.surroundings.estimates.learn(&sample);
                    }
                }
                Event::TaskFailed { task, .. } => {
                    self.offered.remove(task);
                }
                Event::JobFailed { message, .. } => {
                    info!(self.logger, "job failed"; "reason" => message);
                    for node in self.nodes.values() {
                        node.do_send(Withdraw);
                    }
                }
                Event::JobEnded { status, .. } => {
                    info!(self.logger, "job ended"; "status" => status.as_str());
                }
                _ => {}
            }
        }
    }

    /// Sees to it that what is due is under way.
    fn pursue(&mut self, ctx: &Context<Self>) {
        let Some(state) = self.state.clone() else { return };
        self.rank(&state);
        for effect in due(&state) {
            match effect {
                Effect::Start { task, node, not_before } => self.offer(task, &node, not_before, ctx),
                Effect::Follow { task, node, attempt, deadline } => {
                    if self.followed.insert((task, attempt)) {
                        self.follow(&state, task, &node, attempt, deadline, ctx);
                    }
                }
                Effect::Expire { at } => self.surroundings.colleagues.janitor.do_send(Arm {
                    deadline: Deadline::Lease(self.id),
                    at,
                    // It outlives this actor, which may rest when the time comes.
                    whom: self.surroundings.registry.clone().recipient(),
                }),
            }
        }
        if state.status != ClusterStatus::Pending {
            self.rest_later(ctx);
        }
    }

    /// A cluster with nothing to do stops after a while; the registry starts it again when somebody asks for it.
    fn rest_later(&self, ctx: &Context<Self>) {
        self.surroundings.colleagues.janitor.do_send(Arm {
            deadline: Deadline::Idle(self.id),
            at: self.surroundings.clock.now().saturating_add(REST_AFTER),
            whom: ctx.address().recipient(),
        });
    }

    fn offer(&mut self, task: u32, node: &NodeId, not_before: i64, ctx: &Context<Self>) {
        if not_before > self.surroundings.clock.now() {
            self.surroundings.colleagues.janitor.do_send(Arm {
                deadline: Deadline::Pause { node: node.clone(), task },
                at: not_before,
                whom: ctx.address().recipient(),
            });
            return;
        }
        if self.offered.insert(task) {
            let rank = self.ranks.get(&task).copied().unwrap_or(0);
            self.node(node, ctx).do_send(Offer { task, rank });
        }
    }

    /// An attempt that this actor did not begin: it was open when the server went down. It is taken up again.
    fn follow(
        &mut self,
        state: &cluster::Cluster,
        task: u32,
        node: &NodeId,
        attempt: u32,
        deadline: i64,
        ctx: &Context<Self>,
    ) {
        match cluster::order(state, task, attempt) {
            Ok(order) => {
                info!(self.logger, "taking up an attempt"; "task" => task, "attempt" => attempt);
                let follow = Follow { order: Some(Box::new(order)), task, attempt, deadline };
                self.node(node, ctx).do_send(follow);
            }
            Err(fault) => ctx.address().do_send(Report { task, attempt, report: Some(unexpandable(&fault)) }),
        }
    }

    fn node(&mut self, id: &NodeId, ctx: &Context<Self>) -> Addr<Node> {
        let (cluster, surroundings, logger) = (self.id, &self.surroundings, &self.logger);
        let tenant = self.state.as_ref().map(|s| s.account.tenant_id.clone()).unwrap_or_default();
        let start = || {
            let logger = logger.new(o!("node" => id.to_string()));
            let colleagues = surroundings.colleagues.clone();
            Node::new(id.clone(), cluster, tenant, ctx.address().downgrade(), colleagues, logger).start()
        };
        self.nodes.entry(id.clone()).or_insert_with(start).clone()
    }

    /// Ranks the tasks of a job when it is new or has grown.
    fn rank(&mut self, state: &cluster::Cluster) {
        let Some(job) = state.latest_job() else { return };
        if self.ranked_job == job.id.number && self.ranks.len() == job.tasks.len() {
            return;
        }
        self.ranks = self.surroundings.estimates.ranks(state, job);
        if self.ranked_job != job.id.number {
            self.offered.clear();
            self.ranked_job = job.id.number;
        }
    }

    fn is_idle(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.status != ClusterStatus::Pending)
    }

    fn latest_job(&self) -> Option<&Job> {
        self.state.as_ref().and_then(|state| state.latest_job())
    }
}

type Done = Box<dyn FnOnce(&mut Cluster, Result<(), RecordError>, &mut Context<Cluster>)>;

fn unexpandable(fault: &OrderError) -> TaskReport {
    TaskReport::failure(-1, fault.to_string())
}

impl Actor for Cluster {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.pursue(ctx);
    }
}
