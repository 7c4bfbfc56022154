//! One live cluster: decides, records, then acts.
//!
//! ```text
//!   Operate(command) ──► decide ──► Journal … durable … ──► apply ──► due ──► Offer / Follow to the nodes
//!                                                                        └──► Arm to the janitor
//! ```
//!
//! Nothing is done before the events that say so are durable. While they are on their way the mailbox waits, so that every
//! decision is made on the state that the one before it left.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use actix::{
    Actor, ActorFutureExt, Addr, AsyncContext, Context, Handler, Message, ResponseFuture, WrapFuture,
};
use cooperage_domain::cluster::{self, Command, Effect, Event, Job, OrderError, Refusal, apply, decide, due};
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_domain::task::{TaskOrder, TaskReport};
use slog::{Logger, error, info, o};
use tokio::sync::oneshot;

use crate::clock::SharedClock;
use crate::estimate::{Estimates, sample};
use crate::janitor::{Arm, Deadline, Disarm, TimeUp};
use crate::journal::{Journal, Record, RecordError};
use crate::node::{Colleagues, Follow, Node, Offer, Withdraw};
use crate::registry::{Registry, Stopped};

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
    _farewell: Farewell,
}

/// Tells the registry that the actor is gone; during a panic too, since values are dropped then as well.
struct Farewell {
    id: ClusterId,
    registry: Addr<Registry>,
}

impl Drop for Farewell {
    fn drop(&mut self) {
        self.registry.do_send(Stopped { id: self.id, failed: std::thread::panicking() });
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
        let farewell = Farewell { id, registry: surroundings.registry.clone() };
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
            _farewell: farewell,
        }
    }

    /// Makes events durable, applies them and does what is due. The mailbox waits meanwhile.
    fn record(&mut self, events: Vec<Event>, who: String, done: Done, ctx: &mut Context<Self>) {
        if events.is_empty() {
            done(self, Ok(()), ctx);
            return;
        }
        let mut next = self.state.as_deref().cloned();
        let sequence = next.as_ref().map_or(0, |state| state.sequence);
        for event in &events {
            apply(&mut next, event);
        }
        let Some(next) = next.map(Arc::new) else { return };
        let record = Record {
            cluster: Arc::clone(&next),
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
                    actor.state = Some(next);
                    actor.note(&events);
                    actor.pursue(ctx);
                    done(actor, Ok(()), ctx);
                }
                Err(fault) => {
                    error!(actor.logger, "events were not recorded"; "fault" => fault.to_string());
                    let lost = fault.ownership_is_lost();
                    done(actor, Err(fault), ctx);
                    if lost {
                        actix::ActorContext::stop(ctx);
                    }
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
                    info!(self.logger, "job ended"; "status" => status.as_str())
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
                    whom: ctx.address().recipient(),
                }),
            }
        }
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

/// Why a cluster did not do what it was told.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OperateError {
    /// It refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The decision could not be made durable, so nothing has happened.
    #[error("the decision could not be recorded: {0}")]
    NotRecorded(#[from] RecordError),
    /// The actor went away.
    #[error("the cluster is being restarted; try again")]
    Gone,
}

/// Bring a cluster into being: its first events.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), OperateError>")]
pub struct Found {
    /// As decided by [`cluster::create()`].
    pub events: Vec<Event>,
    /// Who asked.
    pub who: String,
}

/// Tell a cluster something. Answered when it is durable.
#[derive(Debug, Message)]
#[rtype(result = "Result<Arc<cluster::Cluster>, OperateError>")]
pub struct Operate {
    /// What.
    pub command: Command,
    /// Who tells it, for the journal.
    pub who: String,
}

/// A node has a worker for this task: record the attempt, and say what is to be done.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "Result<TaskOrder, OperateError>")]
pub struct Begin {
    /// Number of the task.
    pub task: u32,
}

/// An attempt has ended.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), OperateError>")]
pub struct Report {
    /// Number of the task.
    pub task: u32,
    /// Number of the attempt.
    pub attempt: u32,
    /// What the worker reported; `None` when its time was up.
    pub report: Option<TaskReport>,
}

/// How is the cluster?
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "Option<Arc<cluster::Cluster>>")]
pub struct GetState;

type Answer<T> = ResponseFuture<Result<T, OperateError>>;

/// A place for the answer, which is given when the events are durable.
fn answer_later<T: 'static>() -> (oneshot::Sender<Result<T, OperateError>>, Answer<T>) {
    let (sender, receiver) = oneshot::channel();
    (sender, Box::pin(async { receiver.await.unwrap_or(Err(OperateError::Gone)) }))
}

impl Handler<Found> for Cluster {
    type Result = Answer<()>;

    fn handle(&mut self, found: Found, ctx: &mut Self::Context) -> Self::Result {
        let (sender, answer) = answer_later();
        let done: Done = Box::new(move |_, result, _| {
            // Nobody may be waiting any more.
            let _ = sender.send(result.map_err(OperateError::from));
        });
        self.record(found.events, found.who, done, ctx);
        answer
    }
}

impl Handler<Operate> for Cluster {
    type Result = Answer<Arc<cluster::Cluster>>;

    fn handle(&mut self, operate: Operate, ctx: &mut Self::Context) -> Self::Result {
        let Some(state) = self.state.clone() else { return Box::pin(async { Err(OperateError::Gone) }) };
        let events = match decide(&state, operate.command, self.surroundings.clock.now()) {
            Ok(events) => events,
            Err(refusal) => return Box::pin(async { Err(refusal.into()) }),
        };
        let (sender, answer) = answer_later();
        let done: Done = Box::new(move |actor, result, _| {
            let state = actor.state.clone().ok_or(OperateError::Gone);
            let _ = sender.send(result.map_err(OperateError::from).and(state));
        });
        self.record(events, operate.who, done, ctx);
        answer
    }
}

impl Handler<Begin> for Cluster {
    type Result = Answer<TaskOrder>;

    fn handle(&mut self, Begin { task }: Begin, ctx: &mut Self::Context) -> Self::Result {
        let Some(state) = self.state.clone() else { return Box::pin(async { Err(OperateError::Gone) }) };
        self.offered.remove(&task);
        let command = Command::StartAttempt { task, worker: "local".to_owned() };
        let events = match decide(&state, command, self.surroundings.clock.now()) {
            Ok(events) => events,
            Err(refusal) => return Box::pin(async { Err(refusal.into()) }),
        };
        if let Some(Event::AttemptStarted { attempt, .. }) = events.first() {
            self.followed.insert((task, *attempt));
        }
        let (sender, answer) = answer_later();
        let done: Done = Box::new(move |actor, result, ctx| {
            let _ = sender.send(result.map_err(OperateError::from).and_then(|()| actor.hand_out(task, ctx)));
        });
        self.record(events, "scheduler".to_owned(), done, ctx);
        answer
    }
}

impl Cluster {
    /// The order for a task whose attempt has just been recorded. One that cannot be given fails the attempt.
    fn hand_out(&self, task: u32, ctx: &Context<Self>) -> Result<TaskOrder, OperateError> {
        let (Some(state), Some(found)) =
            (&self.state, self.latest_job().and_then(|job| job.tasks.get(&task)))
        else {
            return Err(OperateError::Gone);
        };
        let attempt = found.open_attempt().map_or(1, |attempt| attempt.number);
        let deadline = Deadline::Attempt { node: found.node.clone(), task, attempt };
        match cluster::order(state, task, attempt) {
            Ok(order) => {
                let at = self.surroundings.clock.now().saturating_add(state.limits.task_timeout);
                if let Some(node) = self.nodes.get(&found.node) {
                    node.do_send(Follow { order: None, task, attempt, deadline: at });
                }
                Ok(order)
            }
            Err(fault) => {
                self.surroundings.colleagues.janitor.do_send(Disarm(deadline));
                ctx.address().do_send(Report { task, attempt, report: Some(unexpandable(&fault)) });
                Err(Refusal::NotReady { task, reason: "its configuration cannot be expanded" }.into())
            }
        }
    }
}

impl Handler<Report> for Cluster {
    type Result = Answer<()>;

    fn handle(&mut self, Report { task, attempt, report }: Report, ctx: &mut Self::Context) -> Self::Result {
        let Some(state) = self.state.clone() else { return Box::pin(async { Err(OperateError::Gone) }) };
        let command = match report {
            Some(report) => Command::FinishAttempt { task, attempt, report },
            None => Command::TimeOutAttempt { task, attempt },
        };
        self.followed.remove(&(task, attempt));
        let events = match decide(&state, command, self.surroundings.clock.now()) {
            Ok(events) => events,
            Err(refusal) => return Box::pin(async { Err(refusal.into()) }),
        };
        let (sender, answer) = answer_later();
        let done: Done = Box::new(move |_, result, _| {
            let _ = sender.send(result.map_err(OperateError::from));
        });
        self.record(events, "worker".to_owned(), done, ctx);
        answer
    }
}

impl Handler<GetState> for Cluster {
    type Result = actix::MessageResult<GetState>;

    fn handle(&mut self, _: GetState, _: &mut Self::Context) -> Self::Result {
        actix::MessageResult(self.state.clone())
    }
}

impl Handler<TimeUp> for Cluster {
    type Result = ();

    fn handle(&mut self, TimeUp(deadline): TimeUp, ctx: &mut Self::Context) {
        match deadline {
            Deadline::Pause { .. } => self.pursue(ctx),
            Deadline::Lease(_) => {
                info!(self.logger, "the lease has run out");
                let who = "janitor".to_owned();
                ctx.address().do_send(Operate { command: Command::Delete { by: who.clone() }, who });
            }
            Deadline::Attempt { .. } | Deadline::Idle(_) => {}
        }
    }
}
