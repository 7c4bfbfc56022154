//! Both ports: opened, kept with fresh certificates, and closed in order.
//!
//! On TERM or INT nothing new is accepted, open requests may end within a limit, and then everything else stops. A second
//! signal ends the wait.

use std::net::SocketAddr;
use std::time::Duration;

use actix_web::dev::{Server, ServerHandle};
use actix_web::http::KeepAlive;
use actix_web::{HttpServer, web};
use futures::future::{join_all, try_join};
use slog::{Logger, error, info, warn};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::tls::PortTls;
use super::{ServeError, retention, systemd};
use crate::api::{self, AppState, Port};
use crate::config::{Http, ProvisionerAccess};

/// Pause between two looks at the files of certificates.
const LOOK_PAUSE: Duration = Duration::from_secs(2);
/// Pause between two sweeps of answers that are kept for repeated requests.
const SWEEP_PAUSE: Duration = Duration::from_secs(600);
/// How long what is on its way to the journal may take to get there.
const FLUSH_LIMIT: Duration = Duration::from_secs(10);
/// Threads for people and their programs.
const USER_THREADS: usize = 2;
/// Threads for provisioners.
const TASK_THREADS: usize = 1;

/// The setting with the address for provisioners.
const TASKS: &str = "listen.tasks";

/// One of the two ports, to be opened.
struct Opening {
    /// The setting with its address.
    setting: &'static str,
    address: SocketAddr,
    tls: Option<PortTls>,
    port: Port,
    threads: usize,
}

/// Answers until the process is told to stop, and all open requests have ended.
///
/// # Errors
/// When a port cannot be opened, or its certificate not be used.
pub async fn listen(state: AppState) -> Result<(), ServeError> {
    let (listen, tls) = (state.settings.listen.clone(), state.settings.tls.clone());
    let logger = state.logger.clone();
    let state = web::Data::new(state);
    let user = Opening {
        setting: "listen.user",
        address: listen.user,
        tls: PortTls::load("tls.user", &tls.user, &logger)?,
        port: Port::User,
        threads: USER_THREADS,
    };
    let tasks = Opening {
        setting: TASKS,
        address: listen.tasks,
        tls: PortTls::load("tls.tasks", &tls.tasks, &logger)?,
        port: Port::Tasks,
        threads: TASK_THREADS,
    };
    let (on_user, on_tasks) = (user.open(&state)?, tasks.open(&state)?);
    info!(logger, "listening"; "user" => user.url(), "tasks" => tasks.url());
    systemd::ready(&logger);
    let renewed = [user.tls, tasks.tls].into_iter().flatten().collect();
    let beside = [
        actix_rt::spawn(renew(renewed, signal(SignalKind::hangup())?, logger.clone())),
        actix_rt::spawn(systemd::live(logger.clone())),
        actix_rt::spawn(sweep(state.clone())),
        actix_rt::spawn(retention::prune_audit(state.clone())),
        actix_rt::spawn(retention::keep_output(state.clone())),
        actix_rt::spawn(api::pump_events(state.clone())),
        actix_rt::spawn(api::sample_metrics(state.clone())),
        actix_rt::spawn(stop_when_told(
            state.clone(),
            [on_user.handle(), on_tasks.handle()],
            [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?],
        )),
    ];
    let ended = try_join(on_user, on_tasks).await;
    beside.iter().for_each(actix_rt::task::JoinHandle::abort);
    let flushed = tokio::time::timeout(FLUSH_LIMIT, state.journal.flush()).await;
    if flushed.is_err() {
        warn!(
            logger,
            "the database is too slow to take what is on its way to it; it is done again after the next start"
        );
    }
    ended.map(drop).map_err(ServeError::from)
}

impl Opening {
    fn open(&self, state: &web::Data<AppState>) -> Result<Server, ServeError> {
        let http: &Http = &state.settings.http;
        let fault =
            |source| ServeError::Listen { setting: self.setting, address: self.address.to_string(), source };
        let limit = Duration::from_secs(http.request_timeout_seconds.max(1));
        let keep_alive = match http.keep_alive_seconds {
            0 => KeepAlive::Disabled,
            seconds => KeepAlive::Timeout(Duration::from_secs(seconds)),
        };
        let (logger, port) = (state.logger.clone(), self.port);
        let is_open = state.settings.auth.provisioners == ProvisionerAccess::Open;
        let state = state.clone();
        let server = HttpServer::new(move || api::app(state.clone(), port))
            .disable_signals()
            .workers(self.threads)
            .keep_alive(keep_alive)
            .max_connections(http.max_connections.div_ceil(self.threads).max(1))
            .client_request_timeout(limit)
            .tls_handshake_timeout(limit)
            .shutdown_timeout(http.stop_seconds)
            // A provisioner that is gone waits for nothing any more, and must not be given any task.
            .h1_allow_half_closed(port != Port::Tasks);
        self.warn_of_openness(is_open, &logger);
        let server = match &self.tls {
            None => server.bind(self.address),
            Some(tls) => {
                let config = tls.config().map_err(std::io::Error::other).map_err(fault)?;
                server.bind_rustls_0_23(self.address, config)
            }
        };
        Ok(server.map_err(fault)?.run())
    }

    fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// What crosses a network in plain text is everybody's to read; and on the port for provisioners only certificates tell
    /// who calls.
    fn warn_of_openness(&self, is_open: bool, logger: &Logger) {
        if self.address.ip().is_loopback() {
            return;
        }
        if self.tls.is_none() {
            let section = self.setting.replace("listen", "tls");
            warn!(logger, "others can reach a port without TLS"; "setting" => self.setting,
                "address" => self.address.to_string(),
                "remedy" => format!("set {section}.certificate and {section}.key, or keep a proxy in front"));
        }
        if self.setting == TASKS && is_open && !self.tls.as_ref().is_some_and(PortTls::wants_clients) {
            warn!(logger, "others can reach the port for provisioners, and nobody is asked who they are there";
                "setting" => self.setting, "address" => self.address.to_string(),
                "remedy" => "set tls.tasks.client_ca, or auth.provisioners to \"token\"");
        }
    }
}

/// On the first signal both ports close as soon as their open requests have ended; on the second at once.
async fn stop_when_told(state: web::Data<AppState>, ports: [ServerHandle; 2], mut signals: [Signal; 2]) {
    told(&mut signals).await;
    info!(state.logger, "stopping"; "limit_seconds" => state.settings.http.stop_seconds);
    systemd::stopping(&state.logger);
    // Connections are closed after their requests, the server is not ready, and those who wait for tasks wait no longer.
    state.stopping.cancel();
    let in_order = join_all(ports.iter().map(|port| port.stop(true)));
    tokio::select! {
        _ = in_order => {}
        () = told(&mut signals) => {
            warn!(state.logger, "stopping at once");
            join_all(ports.iter().map(|port| port.stop(false))).await;
        }
    }
}

async fn told([terminate, interrupt]: &mut [Signal; 2]) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Takes new certificates into use: on a hang-up, and when the files are others than before.
async fn renew(ports: Vec<PortTls>, mut hang_up: Signal, logger: Logger) {
    let mut said = String::new();
    loop {
        let asked = tokio::select! {
            _ = hang_up.recv() => true,
            () = tokio::time::sleep(LOOK_PAUSE) => false,
        };
        for port in &ports {
            match port.reload() {
                Ok(true) => {
                    said.clear();
                    info!(logger, "certificates were read again"; "section" => port.section());
                }
                Ok(false) => {}
                Err(fault) => {
                    // The same fault is not told at every look.
                    let fault = fault.to_string();
                    if asked || said != fault {
                        error!(logger, "certificates were not read again, and the old ones stay"; "fault" => &fault);
                    }
                    said = fault;
                }
            }
        }
    }
}

/// Removes answers that nobody may ask for any more.
async fn sweep(state: web::Data<AppState>) {
    loop {
        let swept = state.blocking(|state| Ok(state.store.sweep_keys(state.clock.now())?)).await;
        if let Err(problem) = swept {
            warn!(state.logger, "answers kept for repeated requests were not swept"; "fault" => problem.cause());
        }
        tokio::time::sleep(SWEEP_PAUSE).await;
    }
}
