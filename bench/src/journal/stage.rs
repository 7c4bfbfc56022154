//! The real actors over a real store, put together as the server does, with a database of their own.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix::dev::Request;
use actix::{Addr, Arbiter, ArbiterHandle};
use cooperage_actors::clock::{Clock, WallClock};
use cooperage_actors::console::{Console, Live as _};
use cooperage_actors::estimate::Estimates;
use cooperage_actors::handover::Handover;
use cooperage_actors::janitor::Janitor;
use cooperage_actors::journal::Journal;
use cooperage_actors::node::Colleagues;
use cooperage_actors::pace::Pace;
use cooperage_actors::provisioner::Provisioner;
use cooperage_actors::registry::{Create, Office, Registry, pool_path};
use cooperage_actors::task_log::TaskLog;
use cooperage_actors::worker_pool::WorkerPool;
use cooperage_domain::id::ClusterId;
use cooperage_schema::{JournalStatistics, KnownSecrets, Store, Vault};
use slog::{Drain, Logger, Never, OwnedKVList, Record, o};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::crew::{Idle, TENANT, founded};
use super::database::Database;
use crate::BenchError;

/// Threads that plugins run on, as in the server.
const PLUGIN_THREADS: usize = 2;

/// How long a cluster may take to end its job before the measurement is given up.
const PATIENCE: Duration = Duration::from_secs(120);

/// The actors, and what is measured of them.
pub struct Stage {
    pub store: Store,
    pub registry: Addr<Registry>,
    pub colleagues: Colleagues,
    pub idle: Arc<Idle>,
    pub logger: Logger,
    clock: Arc<WallClock>,
    ended: UnboundedReceiver<()>,
    runtime: Option<Runtime>,
    arbiters: Vec<ArbiterHandle>,
    /// Where its actors can be seen.
    pub console: Console,
}

impl Stage {
    /// On this database, with clusters that go to rest after `rest_after`.
    ///
    /// # Errors
    /// When the store cannot be opened.
    pub fn set(database: &Database, rest_after: Duration) -> Result<Self, BenchError> {
        let store = database.open()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(PLUGIN_THREADS)
            .enable_all()
            .build()
            .map_err(BenchError::Folder)?;
        let (sender, ended) = unbounded_channel();
        let logger = Logger::root(Ends(sender), o!());
        let clock = Arc::new(WallClock::default());
        let idle = Arc::new(Idle::default());
        let console = Console::default();
        let colleagues = Colleagues {
            pool: WorkerPool::new(usize::MAX).live(&console, pool_path(TENANT)),
            provisioner: Provisioner::new(Arc::new(idle.plugins()), runtime.handle().clone())
                .live(&console, "/provisioner"),
            handover: Handover::default(),
            vault: Vault::new(store.clone(), KnownSecrets::default()),
            janitor: Janitor::new(clock.clone()).live(&console, "/janitor"),
            log: TaskLog::new(store.journal(), clock.clone(), logger.clone()),
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let arbiters: Vec<Arbiter> = (0..threads).map(|_| Arbiter::new()).collect();
        let handles = arbiters.iter().map(Arbiter::handle).collect();
        let office = Office {
            store: store.clone(),
            journal: Journal::new(store.journal()),
            janitor: colleagues.janitor.clone(),
            provisioner: colleagues.provisioner.clone(),
            handover: colleagues.handover.clone(),
            vault: colleagues.vault.clone(),
            pools: HashMap::from([(TENANT.to_owned(), colleagues.pool.clone())]),
            log: colleagues.log.clone(),
            estimates: Estimates::default(),
            clock: clock.clone(),
            logger: logger.clone(),
            arbiters,
            console: console.clone(),
        };
        let registry =
            Registry::with_pace(office, Pace { rest_after, ..Pace::default() }).live(&console, "/registry");
        let runtime = Some(runtime);
        Ok(Self {
            store,
            registry,
            colleagues,
            idle,
            logger,
            clock,
            ended,
            runtime,
            arbiters: handles,
            console,
        })
    }

    /// The time, in ms since 1970.
    pub fn now(&self) -> i64 {
        self.clock.now()
    }

    /// Asks for a cluster of so many nodes, and waits until that is durable; its job goes on.
    ///
    /// # Errors
    /// When it is refused.
    pub async fn create(&self, id: ClusterId, nodes: u64) -> Result<(), BenchError> {
        self.ask(id, nodes)?.await.map_err(gone)?.map_err(gone)
    }

    /// Asks for a cluster, and lets it come.
    ///
    /// # Errors
    /// When it cannot be planned.
    pub fn ask(&self, id: ClusterId, nodes: u64) -> Result<Request<Registry, Create>, BenchError> {
        let events = founded(id, nodes, self.now())?;
        let create = Create { id, tenant: TENANT.to_owned(), events, who: "bench".to_owned() };
        Ok(self.registry.send(create))
    }

    /// Waits until one more job has ended.
    ///
    /// # Errors
    /// When none does.
    pub async fn one_ended(&mut self) -> Result<(), BenchError> {
        match tokio::time::timeout(PATIENCE, self.ended.recv()).await {
            Ok(Some(())) => Ok(()),
            Ok(None) => Err(BenchError::Ended("the actors are gone".to_owned())),
            Err(_) => Err(BenchError::Ended(format!("no job ended within {} s", PATIENCE.as_secs()))),
        }
    }

    /// How many jobs have ended that nobody has waited for.
    pub fn more_ended(&mut self) -> u64 {
        let mut ended = 0;
        while self.ended.try_recv().is_ok() {
            ended += 1;
        }
        ended
    }

    /// What the writer has done.
    pub fn commits(&self) -> JournalStatistics {
        self.store.journal().statistics()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.store.close();
        for arbiter in &self.arbiters {
            arbiter.stop();
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// What was asked of an actor was not done.
pub fn gone(fault: impl std::fmt::Display) -> BenchError {
    BenchError::Ended(fault.to_string())
}

/// Hears of the ends of jobs, from what clusters log.
struct Ends(UnboundedSender<()>);

impl Drain for Ends {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, _: &OwnedKVList) -> Result<(), Never> {
        if record.msg().as_str() == Some("job ended") {
            // At the end nobody listens any more.
            let _ = self.0.send(());
        }
        Ok(())
    }
}
