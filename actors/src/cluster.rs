//! One live cluster: decides, records, then acts.
//!
//! ```text
//!   Operate(command) ──► decide ──► Journal … durable … ──► apply ──► due ──► Offer / Follow to the nodes
//!                                                                        └──► Arm to the janitor
//! ```
//!
//! Nothing is done before the events that say so are durable. While they are on their way further decisions are made on the
//! state that the ones before left (see `recording.rs`).
//!
//! A cluster and its nodes fail together: when one of them breaks, all end, and the registry starts them again from the
//! journal. What the provisioner is executing for them goes on meanwhile.

mod ancestry;
mod farewell;
mod handler;
mod held_back;
mod message;
mod overdue;
mod pursue;
mod recording;
mod report;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use actix::{Actor, ActorContext, Addr};
use cooperage_domain::cluster::{self, CareChange, ClusterStatus, Event, Told};
use cooperage_domain::id::{ClusterId, NodeId};
use slog::{Logger, info, o};

pub use message::{Begin, Begun, Found, GetState, NodeFailed, Operate, OperateAt, OperateError, Report};

use crate::clock::SharedClock;
use crate::console::{Console, Context};
use crate::estimate::{Estimates, sample};
use crate::journal::{Journal, RecordError, Snapshots};
use crate::node::{Colleagues, Node, Retire, Withdraw};
use crate::pace::Pace;
use crate::registry::{Ending, Registry};
use farewell::Farewell;
use held_back::HeldBack;
use recording::Recordings;

/// What a live cluster needs from the rest of the process.
#[derive(Clone)]
pub struct Surroundings {
    /// Makes events durable.
    pub journal: Journal,
    /// Restarts this actor when it fails.
    pub registry: Addr<Registry>,
    /// Whom its nodes talk to.
    pub colleagues: Colleagues,
    /// How long tasks take.
    pub estimates: Estimates,
    /// Tells the time.
    pub clock: SharedClock,
    /// How patient it is.
    pub pace: Pace,
    /// Where to log.
    pub logger: Logger,
    /// Where its nodes can be seen.
    pub console: Console,
}

/// Which cluster an actor is, and by what right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The cluster.
    pub id: ClusterId,
    /// Fencing number of this server's ownership.
    pub epoch: u64,
    /// Number of this actor among all that the registry has started.
    pub generation: u64,
}

/// One live cluster.
pub struct Cluster {
    id: ClusterId,
    epoch: u64,
    /// With all that was decided, be it durable or not.
    state: Option<Arc<cluster::Cluster>>,
    recordings: Recordings,
    snapshots: Snapshots,
    /// The nodes that tasks hear of.
    told: Told,
    surroundings: Surroundings,
    nodes: BTreeMap<NodeId, Addr<Node>>,
    /// Attempts this actor has begun itself, or has had taken up.
    followed: HashSet<(u32, u32)>,
    /// Attempts that are looked at again when they should be over.
    paced: HashSet<(u32, u32)>,
    /// Tasks that have been offered to their nodes.
    offered: HashSet<u32>,
    /// Tasks that wait for others of the cluster to end.
    held_back: HeldBack,
    /// For the latest job: length of the path behind each task, in ms.
    ranks: HashMap<u32, i64>,
    ranked_job: u32,
    logger: Logger,
    /// What those it is built upon were told that it needs of them.
    relies_on: BTreeMap<ClusterId, BTreeSet<String>>,
    /// Tells the registry when this actor is gone, however it goes.
    farewell: Farewell,
}

/// What is left to do when events are durable, or are not.
type Done = Box<dyn FnOnce(&mut Cluster, Result<(), RecordError>, &mut Context<Cluster>)>;

impl Cluster {
    /// A live cluster with this state; `None` for one that is to be brought into being by [`Found`].
    #[must_use]
    pub fn new(identity: Identity, state: Option<cluster::Cluster>, surroundings: Surroundings) -> Self {
        let Identity { id, epoch, generation } = identity;
        let logger = surroundings.logger.new(o!("cluster" => id.to_string()));
        let farewell = Farewell::new(id, generation, surroundings.registry.clone());
        let snapshots = Snapshots::since(state.as_ref().map_or(0, |state| state.sequence));
        Self {
            id,
            epoch,
            state: state.map(Arc::new),
            recordings: Recordings::default(),
            snapshots,
            told: Told::default(),
            surroundings,
            nodes: BTreeMap::new(),
            followed: HashSet::new(),
            paced: HashSet::new(),
            offered: HashSet::new(),
            held_back: HeldBack::new(),
            ranks: HashMap::new(),
            ranked_job: 0,
            relies_on: BTreeMap::new(),
            logger,
            farewell,
        }
    }

    /// Ends on purpose.
    fn end(&mut self, ending: Ending, ctx: &mut Context<Self>) {
        self.farewell.ending = ending;
        ctx.stop();
    }

    /// Notes what was decided, before what may start with it is offered.
    fn note(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::TaskSucceeded { task, .. } => {
                    self.leave_pace(*task);
                    let learned = self.state.as_deref().and_then(|state| sample(state, event));
                    if let Some(sample) = learned {
                        self.surroundings.estimates.learn(&sample);
                    }
                }
                Event::TaskFailed { task, .. } => {
                    self.offered.remove(task);
                    self.leave_pace(*task);
                }
                // Those that may start all the same are offered again with what is due.
                Event::JobFailed { .. }
                | Event::JobPaused { .. }
                | Event::CareChanged { change: CareChange::Maintenance { .. }, .. } => self.withdraw(),
                _ => {}
            }
        }
    }

    /// Tells people of what is durable now.
    fn announce(&self, events: &[Event]) {
        for event in events {
            match event {
                Event::JobFailed { message, .. } => {
                    info!(self.logger, "job failed"; "reason" => message);
                }
                Event::JobEnded { status, .. } => {
                    info!(self.logger, "job ended"; "status" => status.as_str());
                    if *status == ClusterStatus::Terminated {
                        self.surroundings.colleagues.vault.close(self.id);
                    }
                }
                _ => {}
            }
        }
    }

    /// Nothing that waits may start any more, until it is offered again.
    fn withdraw(&mut self) {
        self.offered.clear();
        self.held_back.clear();
        for node in self.nodes.values() {
            node.do_send(Withdraw);
        }
    }

    fn is_idle(&self) -> bool {
        let at_rest = |state: &Arc<cluster::Cluster>| state.status != ClusterStatus::Pending;
        self.recordings.is_empty() && self.state.as_ref().is_some_and(at_rest)
    }
}

impl Drop for Cluster {
    /// However it ends, its nodes end with it: one that still waits for an execution would hold a worker beside the node
    /// that takes the execution up.
    fn drop(&mut self) {
        for node in self.nodes.values() {
            node.do_send(Retire);
        }
    }
}

impl Actor for Cluster {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.pursue_all(ctx);
        self.rely();
    }
}
