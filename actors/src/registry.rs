//! Who is where: the address of every live cluster, and what becomes of those that fail.
//!
//! ```text
//!   API ──Create / Find──► Registry ──starts──► Cluster … it fails ──Stopped──► Registry ──starts again, after a pause──►
//! ```
//!
//! A cluster that fails is started again from the journal, with a pause that doubles up to a limit. One that has nothing
//! to do is stopped, and started when somebody asks for it: memory follows activity, not history.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix::fut::wrap_future;
use actix::{
    Actor, ActorFutureExt, Addr, Arbiter, AsyncContext, Context, Handler, Message, ResponseActFuture,
    ResponseFuture,
};
use cooperage_domain::cluster::{self, ClusterStatus, Command, EVENT_VERSION, Event};
use cooperage_domain::id::ClusterId;
use cooperage_schema::{ClusterFilter, ClusterRow, Store, StoreError};
use slog::{Logger, error, info, warn};

use crate::clock::SharedClock;
use crate::cluster::{Cluster, Found, Operate, OperateError, Surroundings};
use crate::estimate::Estimates;
use crate::janitor::{Arm, Deadline, Janitor, TimeUp};
use crate::journal::Journal;
use crate::node::Colleagues;
use crate::provisioner::Provisioner;
use crate::task_log::TaskLog;
use crate::worker_pool::WorkerPool;

/// First pause before a failed cluster is started again; doubles with each failure.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// States in which a cluster has, or may have, machines.
const LIVE: [&str; 4] = [
    ClusterStatus::Pending.as_str(),
    ClusterStatus::Active.as_str(),
    ClusterStatus::Incomplete.as_str(),
    ClusterStatus::Inconsistent.as_str(),
];

/// What the registry gives its clusters.
pub struct Office {
    /// Everything durable.
    pub store: Store,
    /// Makes events durable.
    pub journal: Addr<Journal>,
    /// Keeps deadlines.
    pub janitor: Addr<Janitor>,
    /// Carries tasks out.
    pub provisioner: Addr<Provisioner>,
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
}

/// Who is where.
pub struct Registry {
    office: Office,
    live: HashMap<ClusterId, Addr<Cluster>>,
    /// Failures in a row; a cluster that then rests in order starts over.
    failures: HashMap<ClusterId, u32>,
}

impl Registry {
    /// Without live clusters; those with something to do start with it.
    #[must_use]
    pub fn new(office: Office) -> Self {
        Self { office, live: HashMap::new(), failures: HashMap::new() }
    }

    fn surroundings(&mut self, tenant: &str, registry: Addr<Self>) -> Surroundings {
        let office = &mut self.office;
        // A tenant without workers has a pool all the same: its tasks wait there until it gets some.
        let pool =
            office.pools.entry(tenant.to_owned()).or_insert_with(|| WorkerPool::new(0).start()).clone();
        Surroundings {
            journal: office.journal.clone(),
            registry,
            colleagues: Colleagues {
                pool,
                provisioner: office.provisioner.clone(),
                janitor: office.janitor.clone(),
                log: office.log.clone(),
            },
            estimates: office.estimates.clone(),
            clock: Arc::clone(&office.clock),
            logger: office.logger.clone(),
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
        let index = usize::try_from(id.0).unwrap_or_default() % self.office.arbiters.len().max(1);
        let actor = move || Cluster::new(id, state, epoch, surroundings);
        let address = match self.office.arbiters.get(index) {
            Some(arbiter) => Cluster::start_in_arbiter(&arbiter.handle(), move |_| actor()),
            None => actor().start(),
        };
        self.live.insert(id, address.clone());
        address
    }
}

impl Actor for Registry {
    type Context = Context<Self>;

    /// Takes up every cluster that has something to do, and remembers when leases end.
    fn started(&mut self, ctx: &mut Self::Context) {
        let store = self.office.store.clone();
        let filter = ClusterFilter { statuses: LIVE.map(str::to_owned).to_vec(), ..ClusterFilter::default() };
        let work = async move { actix_rt::task::spawn_blocking(move || store.clusters(&filter)).await };
        ctx.spawn(wrap_future(work).map(|found, registry: &mut Self, ctx: &mut Context<Self>| match found {
            Ok(Ok(clusters)) => registry.take_up(&clusters, ctx),
            Ok(Err(fault)) => error!(registry.office.logger, "cannot look for clusters"; "fault" => fault.to_string()),
            Err(fault) => error!(registry.office.logger, "the look for clusters broke off"; "fault" => fault.to_string()),
        }));
    }
}

impl Registry {
    fn take_up(&self, clusters: &[ClusterRow], ctx: &Context<Self>) {
        info!(self.office.logger, "clusters found in the journal"; "live" => clusters.len());
        for cluster in clusters {
            if cluster.status == ClusterStatus::Pending.as_str() {
                ctx.address().do_send(Find { id: cluster.id });
            } else if cluster.expires_ms != 0 {
                self.office.janitor.do_send(Arm {
                    deadline: Deadline::Lease(cluster.id),
                    at: cluster.expires_ms,
                    whom: ctx.address().recipient(),
                });
            }
        }
    }
}

impl Handler<TimeUp> for Registry {
    type Result = ();

    /// A lease has run out: the cluster is deleted in the janitor's name.
    fn handle(&mut self, TimeUp(deadline): TimeUp, ctx: &mut Self::Context) {
        let Deadline::Lease(id) = deadline else { return };
        info!(self.office.logger, "a lease has run out"; "cluster" => id.to_string());
        let (registry, logger) = (ctx.address(), self.office.logger.clone());
        actix::spawn(async move {
            let who = "janitor".to_owned();
            let Ok(Ok(cluster)) = registry.send(Find { id }).await else { return };
            let delete = Operate { command: Command::Delete { by: who.clone() }, who };
            if let Ok(Err(refusal)) = cluster.send(delete).await {
                // A job under way ends first; the cluster arms its lease again then.
                info!(logger, "not deleted yet"; "cluster" => id.to_string(), "reason" => refusal.to_string());
            }
        });
    }
}

/// Why there is no such cluster to talk to.
#[derive(Debug, Clone, thiserror::Error)]
pub enum FindError {
    /// There is none.
    #[error("there is no cluster {0}")]
    Unknown(ClusterId),
    /// Its journal cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its journal makes no sense.
    #[error("the journal of cluster {0} cannot be read: {1}")]
    Unreadable(ClusterId, String),
}

/// Where is this cluster, if it is live?
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "Option<Addr<Cluster>>")]
pub struct Look {
    /// Which.
    pub id: ClusterId,
}

/// Where is this cluster? It is started if it is not live.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "Result<Addr<Cluster>, FindError>")]
pub struct Find {
    /// Which.
    pub id: ClusterId,
}

/// Bring a cluster into being.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), OperateError>")]
pub struct Create {
    /// Which.
    pub id: ClusterId,
    /// Whose it is: internal id of the tenant.
    pub tenant: String,
    /// Its first events.
    pub events: Vec<Event>,
    /// Who asked.
    pub who: String,
}

/// A cluster's actor is gone.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Stopped {
    /// Which.
    pub id: ClusterId,
    /// Whether it failed; otherwise it had nothing to do.
    pub failed: bool,
}

impl Handler<Find> for Registry {
    type Result = ResponseActFuture<Self, Result<Addr<Cluster>, FindError>>;

    fn handle(&mut self, Find { id }: Find, _: &mut Self::Context) -> Self::Result {
        if let Some(address) = self.live.get(&id).filter(|address| address.connected()) {
            return Box::pin(wrap_future(std::future::ready(Ok(address.clone()))));
        }
        let store = self.office.store.clone();
        let loaded = actix_rt::task::spawn_blocking(move || load(&store, id));
        Box::pin(wrap_future(loaded).map(move |loaded, registry: &mut Self, ctx| {
            // Somebody else may have been faster while this was being read.
            if let Some(address) = registry.live.get(&id).filter(|address| address.connected()) {
                return Ok(address.clone());
            }
            let (state, epoch) =
                loaded.unwrap_or_else(|fault| Err(FindError::Unreadable(id, fault.to_string())))?;
            let tenant = state.account.tenant_id.clone();
            Ok(registry.start(id, &tenant, Some(state), epoch, ctx))
        }))
    }
}

impl Handler<Look> for Registry {
    type Result = Option<Addr<Cluster>>;

    fn handle(&mut self, Look { id }: Look, _: &mut Self::Context) -> Self::Result {
        self.live.get(&id).filter(|address| address.connected()).cloned()
    }
}

impl Handler<Create> for Registry {
    type Result = ResponseFuture<Result<(), OperateError>>;

    fn handle(&mut self, create: Create, ctx: &mut Self::Context) -> Self::Result {
        let address = self.start(create.id, &create.tenant, None, 1, ctx);
        let found = Found { events: create.events, who: create.who };
        Box::pin(async move { address.send(found).await.unwrap_or(Err(OperateError::Gone)) })
    }
}

impl Handler<Stopped> for Registry {
    type Result = ();

    fn handle(&mut self, Stopped { id, failed }: Stopped, ctx: &mut Self::Context) {
        if self.live.get(&id).is_some_and(Addr::connected) {
            return;
        }
        self.live.remove(&id);
        if !failed {
            self.failures.remove(&id);
            return;
        }
        let failures = self.failures.entry(id).or_default();
        *failures += 1;
        let pause = FIRST_PAUSE.saturating_mul(1 << (*failures - 1).min(16)).min(LONGEST_PAUSE);
        warn!(self.office.logger, "a cluster failed and is started again"; "cluster" => id.to_string(),
            "failures" => *failures, "pause_ms" => pause.as_millis());
        ctx.notify_later(Find { id }, pause);
    }
}

/// A cluster as its journal says, and the number under which this server now owns it.
fn load(store: &Store, id: ClusterId) -> Result<(cluster::Cluster, u64), FindError> {
    store.cluster(id)?.ok_or(FindError::Unknown(id))?;
    let epoch = store.claim(id)?;
    Ok((read(store, id)?, epoch))
}

/// A cluster as its journal says, without taking it over. Waits for the database.
///
/// # Errors
/// When there is none, or its journal cannot be read.
pub fn read(store: &Store, id: ClusterId) -> Result<cluster::Cluster, FindError> {
    let unreadable = |fault: serde_json::Error| FindError::Unreadable(id, fault.to_string());
    let loaded = store.load(id)?;
    let snapshot = loaded.snapshot.map(|snapshot| serde_json::from_str(&snapshot.state));
    let mut state: Option<cluster::Cluster> = snapshot.transpose().map_err(unreadable)?;
    for stored in loaded.events {
        if stored.event.version > EVENT_VERSION {
            let fault = format!("event {} was written by a newer version of Cooperage", stored.sequence);
            return Err(FindError::Unreadable(id, fault));
        }
        let event: Event = serde_json::from_str(&stored.event.json).map_err(unreadable)?;
        cluster::apply(&mut state, &event);
    }
    state.ok_or(FindError::Unknown(id))
}
