//! `cooperage provisioner`: workers for a server on another machine, in one process.
//!
//! The server's own workers and these run the same plugins in the same way; what differs is how tasks and reports travel.

mod http_link;
mod identity;
mod interface;
mod supplies;

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, Addr};
use actix_web::{App, HttpServer, web};
use cooperage_actors::agent::{Agent, AgentOffice, GetAgentState, Leave, SetCapacity};
use cooperage_actors::console::{Console, Live as _};
use cooperage_actors::provisioner::Provisioner;
use cooperage_plugins::snapshots::{SnapshotError, SnapshotStore};
use cooperage_schema::KnownSecrets;
use slog::{Logger, error, info, warn};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::Settings;
use crate::server::plugins::Installed;
use crate::server::{ServeError, logging, open_files, systemd, take_data_dir};
use http_link::HttpLink;
use identity::IdentityError;
use supplies::Downloads;

/// Threads that plugins' work is spread over; it waits for machines most of the time.
const PLUGIN_THREADS: usize = 2;

/// Why a provisioner does not run, or went without having done everything.
#[derive(Debug, thiserror::Error)]
pub enum ProvisionerError {
    /// Something that a server needs too.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// It cannot say who or where it is.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// Plugin resources cannot be kept.
    #[error(transparent)]
    Snapshots(#[from] SnapshotError),
    /// The system refuses something else.
    #[error("the provisioner broke off: {0}")]
    System(#[from] io::Error),
    /// It was told to stop, and this was not done in time.
    #[error(
        "{0} tasks were still running: they go on where they can, and are taken up if this provisioner starts again \
         before their time is up"
    )]
    Unfinished(usize),
}

/// Reads the settings again.
pub type Reload = Box<dyn Fn() -> Result<Settings, String>>;

/// Runs until it is told to stop.
///
/// # Errors
/// When it cannot start, naming what to change; or when it had to go before its tasks were done.
pub fn run(mut settings: Settings, reload: &Reload) -> Result<(), ProvisionerError> {
    let logger = logging::logger(&settings.log, KnownSecrets::default()).map_err(ServeError::from)?;
    open_files::allow_many(&logger);
    let data_dir = settings.provisioner_dir();
    let _lock = take_data_dir(&data_dir)?;
    // What its plugins keep is its own, also beside a server on the same host.
    settings.data_dir.clone_from(&data_dir);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(PLUGIN_THREADS)
        .thread_name("plugins")
        .enable_all()
        .build()?;
    let system = actix::System::new();
    let result = system.block_on(work(&settings, reload, &runtime, &logger));
    runtime.shutdown_background();
    info!(logger, "stopped");
    result
}

async fn work(
    settings: &Settings,
    reload: &Reload,
    runtime: &Runtime,
    logger: &Logger,
) -> Result<(), ProvisionerError> {
    // From here on signals wait until somebody looks.
    let mut signals = Signals::new()?;
    let own = &settings.provisioner;
    let listening = |source| ServeError::Listen {
        setting: "provisioner.listen",
        address: own.listen.to_string(),
        source,
    };
    let listener = TcpListener::bind(own.listen).map_err(listening)?;
    let listens = listener.local_addr()?;
    let agent = start(settings, listens, runtime, logger)?;
    let data = web::Data::new(agent.clone());
    let server = HttpServer::new(move || App::new().app_data(data.clone()).configure(interface::routes));
    let server = server.workers(1).disable_signals().shutdown_timeout(1).listen(listener)?.run();
    let stop = server.handle();
    actix::spawn(server);
    info!(logger, "provisioner started"; "server" => &own.server, "listen" => listens.to_string(),
        "capacity" => own.capacity);
    systemd::ready(logger);
    let living = actix::spawn(systemd::live(logger.clone()));
    let result = obey(&mut signals, &agent, reload, settings, logger).await;
    living.abort();
    stop.stop(false).await;
    result
}

fn start(
    settings: &Settings,
    listens: std::net::SocketAddr,
    runtime: &Runtime,
    logger: &Logger,
) -> Result<Addr<Agent>, ProvisionerError> {
    let own = &settings.provisioner;
    let id = identity::id(&own.id, &settings.data_dir)?;
    let host = identity::host(&own.advertise, listens, &own.server)?;
    let client = http_link::client(own).map_err(ServeError::from)?;
    let link = HttpLink::new(client, &own.server, id.clone(), host, listens.port());
    let store = SnapshotStore::open(settings.data_dir.join("resources"))?;
    let plugins = Installed::new(settings, runtime, logger)?;
    let supplies = Downloads::new(link.clone(), store, plugins, logger.clone());
    let bare = supplies.bare_plugins();
    let office = AgentOffice {
        id,
        link: Arc::new(link),
        supplies: Arc::new(supplies),
        provisioner: Provisioner::new(bare, runtime.handle().clone())
            .live(&Console::default(), "/provisioner"),
        beat: Duration::from_secs(own.heartbeat_seconds.max(1).into()),
        logger: logger.clone(),
    };
    Ok(Agent::new(office, own.capacity.max(1)).start())
}

/// What a provisioner is told by signals.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

/// One of them.
enum Told {
    Stop,
    Reload,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Told {
        tokio::select! {
            _ = self.terminate.recv() => Told::Stop,
            _ = self.interrupt.recv() => Told::Stop,
            _ = self.hang_up.recv() => Told::Reload,
        }
    }
}

async fn obey(
    signals: &mut Signals,
    agent: &Addr<Agent>,
    reload: &Reload,
    settings: &Settings,
    logger: &Logger,
) -> Result<(), ProvisionerError> {
    while let Told::Reload = signals.next().await {
        change(agent, reload, settings, logger);
    }
    let limit = Duration::from_secs(settings.provisioner.drain_timeout_seconds);
    info!(logger, "told to stop: what runs is finished first; told again, it stops at once";
        "drain_timeout_seconds" => limit.as_secs());
    systemd::stopping(logger);
    let stopped_at_once = async { while let Told::Reload = signals.next().await {} };
    tokio::select! {
        _ = agent.send(Leave) => return Ok(()),
        () = tokio::time::sleep(limit) => warn!(logger, "the time to finish is over"),
        () = stopped_at_once => warn!(logger, "told to stop at once"),
    }
    let running = agent.send(GetAgentState).await.map(|state| state.running).unwrap_or_default();
    for left in &running {
        warn!(logger, "left behind"; "task" => left.task_id.to_string(), "attempt" => left.attempt);
    }
    if running.is_empty() { Ok(()) } else { Err(ProvisionerError::Unfinished(running.len())) }
}

/// The capacity changes on the fly; everything else with the next start.
fn change(agent: &Addr<Agent>, reload: &Reload, settings: &Settings, logger: &Logger) {
    match reload() {
        Ok(changed) => {
            let (mut old, mut new) = (settings.provisioner.clone(), changed.provisioner);
            agent.do_send(SetCapacity(new.capacity.max(1)));
            (old.capacity, new.capacity) = (0, 0);
            if old != new {
                warn!(logger, "settings other than provisioner.capacity are taken over by the next start");
            }
        }
        Err(fault) => {
            error!(logger, "the settings cannot be read again and stay as they were"; "fault" => fault);
        }
    }
}
