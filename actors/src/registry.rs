//! Who is where: the address of every live cluster, and what becomes of those that fail.
//!
//! ```text
//!   API ──Create / Tell / Find──► Registry ──starts──► Cluster … it ends ──Stopped──► Registry
//!                                                              failed: starts it again, after a pause
//! ```
//!
//! A cluster that fails is started again from the journal, with a pause that doubles up to a limit, for as long as it
//! takes. One that has nothing to do is stopped, and started when somebody asks for it: memory follows activity, not
//! history.

mod ancestry;
mod lease;
mod load;
mod message;
mod pools;
mod supervise;
mod tell;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use actix::fut::wrap_future;
use actix::{Actor, ActorFutureExt, Addr, Arbiter, AsyncContext, Handler, ResponseActFuture, ResponseFuture};
use cooperage_domain::cluster::{self, Event};
use cooperage_domain::id::ClusterId;
use cooperage_schema::{Store, Vault};
use slog::Logger;
use tokio::sync::oneshot;

pub use ancestry::{HandDown, Leave, Rely};
pub use load::{FindError, event, read, read_at};
pub use message::{Create, Ending, Find, FindPool, ListPools, Look, Stopped, Tell, TellAt, TellError};

use crate::blocking;
use crate::callbacks::Gate;
use crate::clock::SharedClock;
use crate::cluster::{Cluster, Found, Identity, OperateError, Surroundings};
use crate::console::{Console, Context, Live as _};
use crate::estimate::Estimates;
use crate::handover::Handover;
use crate::janitor::Janitor;
use crate::journal::Journal;
use crate::node::Colleagues;
use crate::pace::Pace;
use crate::provisioner::Provisioner;
use crate::task_log::TaskLog;
use crate::worker_pool::{RunningLimit, WorkerPool};

/// What the registry gives its clusters.
pub struct Office {
    /// Everything durable.
    pub store: Store,
    /// Makes events durable.
    pub journal: Journal,
    /// Keeps deadlines.
    pub janitor: Addr<Janitor>,
    /// Carries tasks out in this process.
    pub provisioner: Addr<Provisioner>,
    /// Hands tasks to workers elsewhere.
    pub handover: Handover,
    /// Keeps secret values of clusters.
    pub vault: Vault,
    /// Worker pools by internal tenant id.
    pub pools: HashMap<String, Addr<WorkerPool>>,
    /// Takes the output of tasks.
    pub log: TaskLog,
    /// How long tasks take.
    pub estimates: Estimates,
    /// Tells the time.
    pub clock: SharedClock,
    /// Where to log.
    pub logger: Logger,
    /// Clusters are spread over these.
    pub arbiters: Vec<Arbiter>,
    /// Where actors can be seen.
    pub console: Console,
}

/// Who is where.
pub struct Registry {
    office: Office,
    pace: Pace,
    /// Asked before jobs begin.
    gate: Option<Gate>,
    /// For how long after the end of a lease a refusal keeps the cluster, in ms.
    veto_ms: i64,
    live: HashMap<ClusterId, Live>,
    /// Who waits for clusters that are being read: each is read and claimed once, however many ask.
    loading: HashMap<ClusterId, Vec<Asker>>,
    /// Failures in a row; a cluster that then rests in order starts over.
    failures: HashMap<ClusterId, u32>,
    /// What other servers have taken over. Whatever time makes due there is theirs to do: two servers that took a cluster from
    /// each other whenever its lease is over would never get to end it. One that is asked for here is this server's again.
    taken_over: HashSet<ClusterId>,
    /// What had something to do when the server started, and is not read yet.
    to_take_up: VecDeque<ClusterId>,
    /// Which pools of tenants keep that get theirs from here.
    limit: RunningLimit,
    started: u64,
    /// Clusters of which others are being told what they publish, and whether they are to be told again.
    handing_down: HashMap<ClusterId, bool>,
}

/// A cluster that was started and whose end is not known.
struct Live {
    address: Addr<Cluster>,
    /// By which the end of an earlier actor of the same cluster is told from the end of this one.
    generation: u64,
}

type Asker = oneshot::Sender<Result<Addr<Cluster>, FindError>>;

/// Where the actor of a cluster lives, for whoever looks.
#[must_use]
pub fn cluster_path(id: ClusterId) -> String {
    format!("/clusters/{id}")
}

/// Where the worker pool of a tenant, by internal id, lives, for whoever looks.
#[must_use]
pub fn pool_path(tenant: &str) -> String {
    format!("/pools/{tenant}")
}

impl Registry {
    /// Without live clusters; those with something to do start with it.
    #[must_use]
    pub fn new(office: Office) -> Self {
        Self::with_pace(office, Pace::default())
    }

    /// More or less patient than usual.
    #[must_use]
    pub fn with_pace(office: Office, pace: Pace) -> Self {
        let (live, loading, failures) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self {
            office,
            pace,
            live,
            loading,
            failures,
            taken_over: HashSet::new(),
            to_take_up: VecDeque::new(),
            limit: RunningLimit::default(),
            gate: None,
            veto_ms: 0,
            started: 0,
            handing_down: HashMap::new(),
        }
    }

    /// With a limit of running tasks that the pools of all tenants keep.
    #[must_use]
    pub fn within(self, limit: RunningLimit) -> Self {
        Self { limit, ..self }
    }

    /// Asked before jobs begin. When a lease has ended, a refusal keeps the cluster for `veto_ms` at most.
    #[must_use]
    pub fn with_gate(self, gate: Gate, veto_ms: i64) -> Self {
        Self { gate: Some(gate), veto_ms, ..self }
    }

    /// The worker pool of a tenant. One without workers has a pool all the same: its tasks wait there until it gets some.
    pub(crate) fn pool(&mut self, tenant: &str) -> Addr<WorkerPool> {
        let pools = &mut self.office.pools;
        let console = &self.office.console;
        let pool = || WorkerPool::new(0).within(self.limit.clone(), tenant).live(console, pool_path(tenant));
        pools.entry(tenant.to_owned()).or_insert_with(pool).clone()
    }

    fn surroundings(&mut self, tenant: &str, registry: Addr<Self>) -> Surroundings {
        let pool = self.pool(tenant);
        let office = &self.office;
        Surroundings {
            journal: office.journal.clone(),
            registry,
            colleagues: Colleagues {
                pool,
                provisioner: office.provisioner.clone(),
                handover: office.handover.clone(),
                vault: office.vault.clone(),
                janitor: office.janitor.clone(),
                log: office.log.clone(),
            },
            estimates: office.estimates.clone(),
            clock: Arc::clone(&office.clock),
            pace: self.pace,
            logger: office.logger.clone(),
            console: office.console.clone(),
        }
    }

    fn start(
        &mut self,
        id: ClusterId,
        tenant: &str,
        state: Option<cluster::Cluster>,
        epoch: u64,
        ctx: &Context<Self>,
    ) -> Addr<Cluster> {
        let surroundings = self.surroundings(tenant, ctx.address());
        self.started += 1;
        let generation = self.started;
        let index = usize::try_from(id.0).unwrap_or_default() % self.office.arbiters.len().max(1);
        let path = cluster_path(id);
        let actor = move || Cluster::new(Identity { id, epoch, generation }, state, surroundings);
        let address = match self.office.arbiters.get(index) {
            Some(arbiter) => Cluster::live_on(&arbiter.handle(), &self.office.console, path, actor),
            None => actor().live(&self.office.console, path),
        };
        self.live.insert(id, Live { address: address.clone(), generation });
        address
    }

    fn look(&self, id: ClusterId) -> Option<Addr<Cluster>> {
        self.live.get(&id).map(|live| &live.address).filter(|address| address.connected()).cloned()
    }

    /// Reads a cluster and starts it, and tells all who asked for it meanwhile.
    fn load(&self, id: ClusterId, ctx: &mut Context<Self>) {
        let (store, vault) = (self.office.store.clone(), self.office.vault.clone());
        let loaded = blocking::spawn(move || load::load(&store, &vault, id));
        ctx.spawn(wrap_future(loaded).map(move |loaded, registry: &mut Self, ctx| {
            let loaded = loaded.unwrap_or_else(|fault| Err(FindError::Unreadable(id, fault.to_string())));
            let found = loaded.map(|(state, epoch)| {
                registry.taken_over.remove(&id);
                let tenant = state.account.tenant_id.clone();
                registry.start(id, &tenant, Some(state), epoch, ctx)
            });
            for asker in registry.loading.remove(&id).unwrap_or_default() {
                // Who asked may have gone.
                let _ = asker.send(found.clone());
            }
        }));
    }
}

impl Actor for Registry {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.take_up_all(1, ctx);
    }
}

impl Handler<Find> for Registry {
    type Result = ResponseFuture<Result<Addr<Cluster>, FindError>>;

    fn handle(&mut self, Find { id }: Find, ctx: &mut Self::Context) -> Self::Result {
        if let Some(address) = self.look(id) {
            return Box::pin(async { Ok(address) });
        }
        let (asker, found) = oneshot::channel();
        let askers = self.loading.entry(id).or_default();
        askers.push(asker);
        if askers.len() == 1 {
            self.load(id, ctx);
        }
        let broken_off = FindError::Unreadable(id, "the server is stopping".to_owned());
        Box::pin(async { found.await.unwrap_or(Err(broken_off)) })
    }
}

impl Handler<Look> for Registry {
    type Result = Option<Addr<Cluster>>;

    fn handle(&mut self, Look { id }: Look, _: &mut Self::Context) -> Self::Result {
        self.look(id)
    }
}

/// Lets the events of a new cluster through when nobody refuses it.
async fn ask_of_create(gate: Option<Gate>, events: Vec<Event>, now: i64) -> Result<Vec<Event>, OperateError> {
    if let (Some(gate), Some(after)) = (gate, cluster::replay(&events)) {
        gate.ask(&after, &events, now).await?;
    }
    Ok(events)
}

impl Handler<Create> for Registry {
    type Result = ResponseActFuture<Self, Result<(), OperateError>>;

    fn handle(&mut self, create: Create, _: &mut Self::Context) -> Self::Result {
        let Create { id, tenant, events, who } = create;
        let asked = ask_of_create(self.gate.clone(), events, self.office.clock.now());
        Box::pin(wrap_future(asked).then(move |events, registry: &mut Self, ctx: &mut Context<Self>| {
            let found =
                events.map(|events| (registry.start(id, &tenant, None, 1, ctx), Found { events, who }));
            wrap_future(async move {
                let (address, found) = found?;
                address.send(found).await.unwrap_or(Err(OperateError::Gone))
            })
        }))
    }
}
