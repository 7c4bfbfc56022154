//! A server's actors over a store in a temporary folder.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix::{Addr, Arbiter, System};
use cooperage_actors::clock::{Clock, WallClock};
use cooperage_actors::console::{Console, Live};
use cooperage_actors::estimate::Estimates;
use cooperage_actors::handover::Handover;
use cooperage_actors::health::{HealthMonitor, HealthOffice, HealthSettings};
use cooperage_actors::janitor::Janitor;
use cooperage_actors::journal::Journal;
use cooperage_actors::pace::Pace;
use cooperage_actors::provisioner::Provisioner;
use cooperage_actors::registry::{Create, Office, Registry, Tell, TellError, pool_path, read};
use cooperage_actors::task_log::TaskLog;
use cooperage_actors::worker_pool::{GetPoolUse, PoolUse, WorkerPool};
use cooperage_domain::cluster::{self, ClusterStatus, Command, Event, create};
use cooperage_domain::health::Policy;
use cooperage_domain::id::ClusterId;
use cooperage_schema::{DatabaseUrl, KnownSecrets, Store, StoreOptions, Vault};

use crate::lab::{Lab, eventually};
use crate::log::Log;
use crate::sketch::Sketch;

/// How long a test waits for anything.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What outlives the server: the folder with the database, and the machines' side.
pub struct Home {
    folder: tempfile::TempDir,
    pub lab: Lab,
}

/// How a server is run.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub slots: usize,
    pub pace: Pace,
    pub health: HealthSettings,
}

impl Default for Settings {
    fn default() -> Self {
        let pace = Pace { first_pause: Duration::from_millis(5), ..Pace::default() };
        Self { slots: 4, pace, health: HealthSettings { policy: Policy::default(), max_probes: 0 } }
    }
}

/// A server that is running.
pub struct Rig {
    pub store: Store,
    pub lab: Lab,
    pub log: Log,
    pub registry: Addr<Registry>,
    pub pool: Addr<WorkerPool>,
    pub health: Addr<HealthMonitor>,
    pub console: Console,
    pub clock: Arc<TripClock>,
}

/// The wall clock, which makes an actor panic that reads it, when a test wants that.
#[derive(Debug, Default)]
pub struct TripClock {
    wall: WallClock,
    tripped: AtomicBool,
}

impl TripClock {
    /// The next cluster's actor that asks for the time panics.
    pub fn trip(&self) {
        self.tripped.store(true, Ordering::SeqCst);
    }
}

impl Clock for TripClock {
    fn now(&self) -> i64 {
        // Clusters are the only ones on arbiters that ask; janitor and registry are on the system's own thread.
        let on_arbiter = std::thread::current().name().is_some_and(|name| name.contains("arbiter:"));
        if on_arbiter && self.tripped.swap(false, Ordering::SeqCst) {
            panic!("the clock is tripped, as it should");
        }
        self.wall.now()
    }
}

/// Runs a test with one server.
pub fn live<F: Future<Output = ()>>(settings: Settings, test: impl FnOnce(Rig) -> F) {
    Home::new().live(settings, test);
}

impl Home {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), lab: Lab::new() }
    }

    pub fn url(&self) -> DatabaseUrl {
        self.folder.path().join("test.db").to_str().unwrap().parse().unwrap()
    }

    /// Runs a server until the test ends, then stops it without ceremony, as a crash does: nothing is closed or told.
    pub fn live<F: Future<Output = ()>>(&self, settings: Settings, test: impl FnOnce(Rig) -> F) {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let system = System::new();
        system.block_on(async {
            let rig = self.start(settings, &runtime);
            test(rig).await;
            System::current().stop();
        });
        system.run().unwrap();
        runtime.shutdown_timeout(PATIENCE);
        self.lab.die();
    }

    fn start(&self, settings: Settings, runtime: &tokio::runtime::Runtime) -> Rig {
        let store = Store::open(
            &self.url(),
            StoreOptions { secrets_key: Some(self.folder.path().join("key")), ..StoreOptions::default() },
        )
        .unwrap();
        let clock = Arc::new(TripClock::default());
        let log = Log::new();
        let logger = log.logger();
        let journal = Journal::new(store.journal());
        let console = Console::default();
        let pool = WorkerPool::new(settings.slots).live(&console, pool_path("t1"));
        let provisioner = Provisioner::new(Arc::new(self.lab.plugins()), runtime.handle().clone());
        let office = Office {
            store: store.clone(),
            journal,
            janitor: Janitor::new(clock.clone()).live(&console, "/janitor"),
            provisioner: provisioner.live(&console, "/provisioner"),
            handover: Handover::default(),
            vault: Vault::new(store.clone(), KnownSecrets::default()),
            pools: HashMap::from([("t1".to_owned(), pool.clone())]),
            log: TaskLog::new(store.journal(), clock.clone(), logger.clone()),
            estimates: Estimates::default(),
            clock: clock.clone(),
            logger,
            arbiters: (0..2).map(|_| Arbiter::new()).collect(),
            console: console.clone(),
        };
        let (vault, provisioner, janitor) =
            (office.vault.clone(), office.provisioner.clone(), office.janitor.clone());
        let logger = office.logger.clone();
        let registry = Registry::with_pace(office, settings.pace).live(&console, "/registry");
        let office = HealthOffice {
            store: store.clone(),
            vault,
            registry: registry.clone(),
            provisioner,
            janitor,
            clock: clock.clone(),
            logger,
            settings: settings.health,
        };
        let health = HealthMonitor::new(office).live(&console, "/health");
        Rig { store, lab: self.lab.clone(), log, registry, pool, health, clock, console }
    }
}

impl Rig {
    /// Asks for a cluster. Nodes of clusters must not have the same names.
    pub async fn create(&self, id: u64, sketch: &Sketch) {
        self.create_until(id, sketch, 0).await;
    }

    /// With a lease that ends so many ms from now; 0 is never.
    pub async fn create_until(&self, id: u64, sketch: &Sketch, lease: i64) {
        let now = self.clock.now();
        let mut order = sketch.order();
        order.id = ClusterId(id);
        order.expires = if lease == 0 { 0 } else { now + lease };
        let events = create(order, Ok(sketch.nodes.clone()), now).unwrap();
        let create = Create { id: ClusterId(id), tenant: "t1".to_owned(), events, who: "ann".to_owned() };
        self.registry.send(create).await.unwrap().unwrap();
    }

    pub async fn tell(&self, id: u64, command: Command) -> Result<Arc<cluster::Cluster>, TellError> {
        let tell = Tell { id: ClusterId(id), command, who: "ann".to_owned() };
        self.registry.send(tell).await.unwrap()
    }

    pub async fn delete(&self, id: u64) -> Result<Arc<cluster::Cluster>, TellError> {
        self.tell(id, Command::Delete { now: false, by: "ann".to_owned() }).await
    }

    pub async fn retry(&self, id: u64) -> Result<Arc<cluster::Cluster>, TellError> {
        self.tell(id, Command::Retry { by: "ann".to_owned() }).await
    }

    pub async fn abort(&self, id: u64) -> Result<Arc<cluster::Cluster>, TellError> {
        self.tell(id, Command::Abort { by: "ann".to_owned() }).await
    }

    /// Waits until a cluster's jobs have ended so many times in a state, and gives the cluster.
    pub async fn until(&self, id: u64, times: usize, status: ClusterStatus) -> cluster::Cluster {
        let (status, cluster) = (format!("status={status}"), format!("cluster={}", ClusterId(id)));
        self.log.until(times, &["job ended", &status, &cluster]).await;
        self.stored(id)
    }

    /// The cluster as its journal says.
    pub fn stored(&self, id: u64) -> cluster::Cluster {
        read(&self.store, ClusterId(id)).unwrap()
    }

    /// What happened to a cluster.
    pub fn events(&self, id: u64) -> Vec<Event> {
        let events = self.store.events(ClusterId(id), 1, u32::MAX).unwrap();
        events.iter().map(|stored| serde_json::from_str(&stored.event.json).unwrap()).collect()
    }

    pub async fn pool_use(&self) -> PoolUse {
        self.pool.send(GetPoolUse).await.unwrap()
    }

    /// Waits until the pool stands so: slots handed out, requests that wait.
    pub async fn until_pool(&self, in_use: usize, waiting: usize) {
        let what = format!("{in_use} slots in use and {waiting} requests");
        let stands = async || {
            let found = self.pool_use().await;
            (found.in_use == in_use && found.waiting == waiting).then_some(())
        };
        eventually(&what, stands).await;
    }

    /// Nothing is left over when everything has ended.
    pub async fn assert_quiet(&self) {
        self.until_pool(0, 0).await;
        self.lab.assert_never_two_at_once();
    }
}
