//! The server: everything started in order, and stopped in reverse.

#[cfg(feature = "s3")]
mod bucket;
pub mod courier;
mod external_plugins;
mod first_start;
mod listen;
pub mod logging;
pub mod open_files;
pub mod plugins;
mod resource_place;
mod retention;
pub mod systemd;
mod tls;
mod worker_control;

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use actix::{Addr, Arbiter};
use cooperage_actors::callbacks::{CallbackOffice, Callbacks, Gate};
use cooperage_actors::clock::{SharedClock, WallClock};
use cooperage_actors::console::{Console, Live as _};
use cooperage_actors::estimate::Estimates;
use cooperage_actors::fleet::{Fleet, FleetOffice, Roll};
use cooperage_actors::handover::Handover;
use cooperage_actors::health::{HealthMonitor, HealthOffice};
use cooperage_actors::janitor::Janitor;
use cooperage_actors::journal::{Counting, Journal};
use cooperage_actors::provisioner::Provisioner;
use cooperage_actors::registry::{Office, Registry, pool_path};
use cooperage_actors::task_log::TaskLog;
use cooperage_actors::worker_pool::{RunningLimit, WorkerPool};
use cooperage_domain::invalid::Invalid;
use cooperage_plugins::external::DescriptorFault;
use cooperage_plugins::resources::{PluginResources, ResourceError};
use cooperage_plugins::ssh::SshError;
use cooperage_schema::{DatabaseUrl, KnownSecrets, SUPERADMIN, Store, StoreError, StoreOptions, Vault};
use slog::{Logger, info};
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::api::{self, AppState};
use crate::config::Settings;
use crate::metrics::Metrics;
use courier::HttpCourier;
use plugins::Installed;
use worker_control::HttpWorkerControl;

/// Threads that plugins' work is spread over; it waits for machines most of the time.
const PLUGIN_THREADS: usize = 2;
/// How long plugins may take to let go when the server stops.
const PLUGINS_LIMIT: Duration = Duration::from_secs(2);
/// How long to wait for a data directory that seems to be in use.
const LOCK_WAIT: Duration = Duration::from_secs(3);
/// Pause between two looks.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Why the server does not run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The data directory cannot be used.
    #[error(
        "data_dir {path}: {source}; make it writable for the user that runs the server, or name another one"
    )]
    DataDir {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another server or provisioner uses the data directory.
    #[error(
        "data_dir {0} is in use by another process of Cooperage; stop that one, or use another directory"
    )]
    InUse(PathBuf),
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A setting has a fault.
    #[error(transparent)]
    Setting(#[from] Invalid),
    /// A plugin's descriptor has a fault.
    #[error(transparent)]
    Plugin(#[from] DescriptorFault),
    /// Plugin resources cannot be kept.
    #[error(transparent)]
    Resources(#[from] ResourceError),
    /// The SSH back end cannot be used.
    #[error(transparent)]
    Ssh(#[from] SshError),
    /// A route was made without saying who may use it, or a rule without a route.
    #[error("a fault of this program: {}", .0.join("; "))]
    UnruledRoutes(Vec<String>),
    /// An address cannot be listened on.
    #[error("{setting} {address}: {source}; stop what uses it, or set another address")]
    Listen {
        /// Which setting names it.
        setting: &'static str,
        /// The address.
        address: String,
        /// Why.
        source: io::Error,
    },
    /// The system refuses something else.
    #[error("the server broke off: {0}")]
    System(#[from] io::Error),
}

/// Runs the server until it is told to stop.
///
/// # Errors
/// When it cannot start, naming what to change.
pub fn serve(settings: Settings) -> Result<(), ServeError> {
    let faults = api::route_faults();
    if !faults.is_empty() {
        return Err(ServeError::UnruledRoutes(faults));
    }
    let known = KnownSecrets::default();
    let logger = logging::logger(&settings.log, known.clone())?;
    open_files::allow_many(&logger);
    let _lock = take_data_dir(&settings.data_dir)?;
    let store = open_store(&settings)?;
    let clock: SharedClock = Arc::new(WallClock::default());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(PLUGIN_THREADS)
        .thread_name("plugins")
        .enable_all()
        .build()?;
    let resources = resource_place::open(&settings, &store, &runtime, &logger)?;
    let plugins = Installed::new(&settings, &runtime, &logger)?.with_resources(&resources);
    first_start::register(&store, &plugins, &*clock)?;
    first_start::seal_stored(&store, &logger)?;
    first_start::make_admin_token(&store, &settings.data_dir, &*clock, &logger)?;
    let system = actix::System::new();
    let vault = Vault::new(store.clone(), known);
    let started = || start_actors(settings, vault, clock, resources, plugins, &runtime, &logger);
    let result = system.block_on(async {
        let ended = match started() {
            Ok(state) => listen::listen(state).await,
            Err(fault) => Err(fault),
        };
        // An actor that has not begun yet begins when it is dropped, and would find nothing around it.
        tokio::task::yield_now().await;
        ended
    });
    // Time for what plugins run here to be ended; what waits longer is cut off.
    runtime.shutdown_timeout(PLUGINS_LIMIT);
    store.close();
    info!(logger, "stopped");
    result
}

/// The database of these settings, with the keys of its secrets.
///
/// # Errors
/// When it cannot be used.
pub fn open_store(settings: &Settings) -> Result<Store, ServeError> {
    let options = StoreOptions { secrets_key: Some(settings.secrets_key()), ..StoreOptions::default() };
    Ok(Store::open(&settings.database_url().parse::<DatabaseUrl>()?, options)?)
}

/// Makes the data directory, and holds it as long as the file lives.
///
/// # Errors
/// When it cannot be made, or another server holds it.
pub fn take_data_dir(path: &Path) -> Result<File, ServeError> {
    use std::os::unix::fs::DirBuilderExt;
    let fault = |source| ServeError::DataDir { path: path.to_owned(), source };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(fault)?;
    let lock = File::create(path.join("lock")).map_err(fault)?;
    // A server that was killed leaves the lock to processes it was just starting, for the moment until they run.
    let until = Instant::now() + LOCK_WAIT;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(LOCK_PAUSE),
            Err(TryLockError::WouldBlock) => return Err(ServeError::InUse(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(fault(source)),
        }
    }
}

fn start_actors(
    settings: Settings,
    vault: Vault,
    clock: SharedClock,
    resources: PluginResources,
    plugins: Arc<cooperage_plugins::PluginSet>,
    runtime: &Runtime,
    logger: &Logger,
) -> Result<AppState, ServeError> {
    let (store, console) = (vault.store().clone(), Console::default());
    let estimates = Estimates::new(store.durations()?);
    let limit = RunningLimit::new(settings.workers.max_running_tasks);
    let pool = WorkerPool::new(settings.workers.local).within(limit.clone(), SUPERADMIN);
    let pool = pool.live(&console, pool_path(SUPERADMIN));
    let callbacks = callback_office(&settings, &store, &clock, runtime, logger)?;
    let calls = Callbacks::new(Arc::clone(&callbacks)).live(&console, "/callbacks");
    let (recorded, metrics) = (Arc::new(Notify::new()), Arc::new(Metrics::new()));
    let journal = Journal::new(store.journal()).with_counting(counting(&metrics, &settings, &store, logger)?);
    let journal = journal.with_callbacks(calls.clone().recipient()).with_recorded(Arc::clone(&recorded));
    let office = Office {
        store: store.clone(),
        journal,
        janitor: Janitor::new(Arc::clone(&clock)).live(&console, "/janitor"),
        provisioner: Provisioner::new(plugins, runtime.handle().clone()).live(&console, "/provisioner"),
        handover: Handover::default(),
        vault: vault.clone(),
        pools: HashMap::from([(SUPERADMIN.to_owned(), pool)]),
        log: TaskLog::new(store.journal(), Arc::clone(&clock), logger.clone()),
        estimates: estimates.clone(),
        clock: Arc::clone(&clock),
        logger: logger.clone(),
        arbiters: arbiters(),
        console: console.clone(),
    };
    let (handover, journal, log) = (office.handover.clone(), office.journal.clone(), office.log.clone());
    let (fleet, roll) = start_fleet(&settings, &store, &office, runtime)?;
    let (gate, veto) = (Gate::new(Arc::clone(&callbacks)), settings.callbacks.expiry_veto_ms());
    let made = |registry: Registry| registry.within(limit).with_gate(gate, veto);
    let (registry, health) = start_watched(office, &settings, made);
    Ok(AppState {
        terminals: open_terminals(&settings, runtime)?,
        settings,
        store,
        callbacks,
        calls,
        registry,
        health,
        journal,
        events: Arc::new(api::EventHub::new(recorded)),
        edge: api::Edge::default(),
        handover,
        vault,
        fleet,
        roll,
        pools: api::Pools::default(),
        estimates,
        login_codes: api::LoginCodes::default(),
        login_limit: api::LoginLimit::default(),
        reservations: api::Reservations::default(),
        resources,
        sync_turn: Mutex::new(()),
        clock,
        logger: logger.clone(),
        log,
        metrics,
        samples: api::Samples::default(),
        console,
        stopping: CancellationToken::new(),
    })
}

/// Terminals on machines, through the same way in as everything else.
fn open_terminals(settings: &Settings, runtime: &Runtime) -> Result<api::Terminals, ServeError> {
    let transport = plugins::ssh_transport(settings)?;
    Ok(api::Terminals::new(transport, runtime.handle().clone(), settings.terminal.max_open))
}

/// One for each processor.
fn arbiters() -> Vec<Arbiter> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    (0..threads).map(|_| Arbiter::new()).collect()
}

/// Who is told of everything that becomes durable.
fn counting(
    metrics: &Arc<Metrics>,
    settings: &Settings,
    store: &Store,
    logger: &Logger,
) -> Result<Counting, ServeError> {
    #[cfg(feature = "otel")]
    return Ok(crate::traces::beside(metrics.counting(), &settings.telemetry, store, logger)?);
    #[cfg(not(feature = "otel"))]
    {
        let (url, _) = (&settings.telemetry.traces_url, (store, logger));
        let fault = "is set, and this program cannot send traces";
        let remedy = "leave it empty, or build the program with --features otel";
        match url.is_empty() {
            true => Ok(metrics.counting()),
            false => Err(Invalid::new("telemetry.traces_url", url, fault, remedy).into()),
        }
    }
}

/// The registry, and who probes the clusters in it.
fn start_watched(
    office: Office,
    settings: &Settings,
    made: impl FnOnce(Registry) -> Registry,
) -> (Addr<Registry>, Addr<HealthMonitor>) {
    let (store, vault, clock) = (office.store.clone(), office.vault.clone(), Arc::clone(&office.clock));
    let (provisioner, janitor) = (office.provisioner.clone(), office.janitor.clone());
    let (logger, console) = (office.logger.clone(), office.console.clone());
    let registry = made(Registry::new(office)).live(&console, "/registry");
    let health = HealthMonitor::new(HealthOffice {
        store,
        vault,
        provisioner,
        janitor,
        clock,
        logger,
        settings: settings.health.settings(),
        registry: registry.clone(),
    });
    (registry, health.live(&console, "/health"))
}

/// What is needed to call those who are told of jobs.
fn callback_office(
    settings: &Settings,
    store: &Store,
    clock: &SharedClock,
    runtime: &Runtime,
    logger: &Logger,
) -> Result<Arc<CallbackOffice>, ServeError> {
    let callbacks = &settings.callbacks;
    for hook in callbacks.http.hooks() {
        let setting = format!(
            "callbacks.http.{}.url",
            hook.events.iter().map(|event| event.as_str()).collect::<String>()
        );
        courier::target(&hook.url, None).map_err(|fault| Invalid { field: setting, ..fault })?;
    }
    Ok(Arc::new(CallbackOffice {
        store: store.clone(),
        courier: Arc::new(HttpCourier::new(callbacks.networks()?, runtime.handle().clone())?),
        settings_hooks: callbacks.http.hooks(),
        settings_secret: callbacks.http.secret()?,
        rules: callbacks.rules(),
        clock: Arc::clone(clock),
        logger: logger.clone(),
    }))
}

/// The provisioners elsewhere, with what is stored of them and of the workers that tenants are to have.
fn start_fleet(
    settings: &Settings,
    store: &Store,
    office: &Office,
    runtime: &Runtime,
) -> Result<(Addr<Fleet>, Roll), ServeError> {
    let logger = office.logger.clone();
    let tls = &settings.tls.provisioners;
    let control = HttpWorkerControl::new(store.clone(), tls, runtime.handle().clone(), logger.clone())?;
    let workers = |document: &str| -> u32 {
        let document: serde_json::Value = serde_json::from_str(document).unwrap_or_default();
        document["workers"].as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
    };
    let wanted =
        store.tenants()?.iter().map(|tenant| (tenant.id.clone(), workers(&tenant.document))).collect();
    let console = office.console.clone();
    let office = FleetOffice {
        store: store.clone(),
        control: Arc::new(control),
        janitor: office.janitor.clone(),
        clock: Arc::clone(&office.clock),
        silence: i64::from(settings.provisioners.silence_seconds) * 1000,
        logger,
    };
    let fleet = Fleet::new(office, store.provisioners()?, wanted);
    let roll = fleet.roll();
    Ok((fleet.live(&console, "/fleet"), roll))
}
