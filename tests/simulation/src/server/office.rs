//! A server's actors, over a database in a file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use actix::Addr;
use cooperage_actors::clock::SharedClock;
use cooperage_actors::console::{Console, Live as _};
use cooperage_actors::estimate::Estimates;
use cooperage_actors::handover::Handover;
use cooperage_actors::janitor::Janitor;
use cooperage_actors::journal::Journal;
use cooperage_actors::provisioner::Provisioner;
use cooperage_actors::registry::{Office, Registry, pool_path};
use cooperage_actors::task_log::TaskLog;
use cooperage_actors::worker_pool::WorkerPool;
use cooperage_schema::{DatabaseUrl, KnownSecrets, Store, StoreOptions, Vault};
use slog::{Discard, Logger, o};
use tempfile::TempDir;

use super::gate::{Opened, SimulatedGate};
use super::outside::Outside;
use super::plugins::CloudPlugins;
use super::reservations::Reservations;
use super::workers::RemoteWorker;
use crate::catalog::TENANTS;

/// Whose workers are elsewhere.
const ELSEWHERE: &str = "t2";
/// Where databases are that need not survive the machine.
const MEMORY: &str = "/dev/shm";
/// Name of the database's file.
const DATABASE: &str = "simulation.db";
/// Name of the file with the master key.
const KEY: &str = "key";

/// What outlives a server on its machine: the folder with the database.
pub struct Home(TempDir);

impl Home {
    /// With an empty database, which is made once for the process and copied.
    pub fn new() -> Self {
        static EMPTY: OnceLock<TempDir> = OnceLock::new();
        let empty = EMPTY.get_or_init(|| {
            let folder = folder();
            let store = Store::open(&url(folder.path()), options(folder.path(), "empty"));
            store.unwrap_or_else(|fault| panic!("{fault}")).close();
            folder
        });
        let home = Self(folder());
        for entry in std::fs::read_dir(empty.path()).into_iter().flatten().flatten() {
            let copied = std::fs::copy(entry.path(), home.0.path().join(entry.file_name()));
            copied.unwrap_or_else(|fault| panic!("{}: {fault}", entry.path().display()));
        }
        home
    }
}

fn folder() -> TempDir {
    let place = if Path::new(MEMORY).is_dir() { PathBuf::from(MEMORY) } else { std::env::temp_dir() };
    let made = tempfile::Builder::new().prefix("cooperage-simulation-").tempdir_in(&place);
    made.unwrap_or_else(|fault| panic!("no folder in {}: {fault}", place.display()))
}

fn url(folder: &Path) -> DatabaseUrl {
    DatabaseUrl::Sqlite(folder.join(DATABASE))
}

fn options(folder: &Path, server: &str) -> StoreOptions {
    let secrets_key = Some(folder.join(KEY));
    StoreOptions { readers: 1, server: server.to_owned(), secrets_key, ..StoreOptions::default() }
}

/// A server that lives.
#[derive(Clone)]
pub struct Server {
    pub store: Store,
    pub vault: Vault,
    pub registry: Addr<Registry>,
    pub reservations: Reservations,
}

impl Server {
    /// Starts one. `number` tells it from all others; `name` is that of the machine.
    pub fn start(home: &Home, outside: &Arc<Outside>, number: u32, name: &str) -> (Self, Opened) {
        let gate = Arc::new(SimulatedGate::new(Arc::clone(outside)));
        let folder = home.0.path();
        let store = Store::open_inline(&url(folder), options(folder, name), Arc::clone(&gate) as _);
        let store = store.unwrap_or_else(|fault| panic!("{fault}"));
        let opened = Opened::new(gate, store.clone());
        let clock: SharedClock = Arc::clone(outside) as _;
        let logger = Logger::root(Discard, o!());
        let plugins = CloudPlugins { outside: Arc::clone(outside), server: number }.set();
        let handover = Handover::default();
        let vault = Vault::new(store.clone(), KnownSecrets::default());
        let mut pools = HashMap::new();
        let console = Console::default();
        for (tenant, workers, _) in TENANTS {
            let local = if tenant == ELSEWHERE { 0 } else { workers as usize };
            let pool = WorkerPool::new(local).live(&console, pool_path(tenant));
            for worker in 0..if tenant == ELSEWHERE { workers } else { 0 } {
                let remote = RemoteWorker {
                    outside: Arc::clone(outside),
                    tenant,
                    provisioner: format!("{tenant}-{worker}"),
                    pool: pool.clone(),
                    handover: handover.clone(),
                };
                actix::spawn(remote.work());
            }
            pools.insert(tenant.to_owned(), pool);
        }
        let office = Office {
            store: store.clone(),
            journal: Journal::new(store.journal()),
            janitor: Janitor::new(Arc::clone(&clock)).live(&console, "/janitor"),
            provisioner: Provisioner::new(Arc::new(plugins), tokio::runtime::Handle::current())
                .live(&console, "/provisioner"),
            handover,
            vault: vault.clone(),
            pools,
            log: TaskLog::new(store.journal(), Arc::clone(&clock), logger.clone()),
            estimates: Estimates::default(),
            clock,
            logger,
            arbiters: Vec::new(),
            console: console.clone(),
        };
        let registry = Registry::new(office).live(&console, "/registry");
        (Self { store, vault, registry, reservations: Reservations::default() }, opened)
    }
}
