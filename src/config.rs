//! Settings: documented, with their defaults, in `etc/cooperage.toml`.
//!
//! Strongest first: `--set section.key=value`, `COOPERAGE__SECTION__KEY` in the environment, the file, the defaults.

mod callbacks;
mod console;
mod health;
mod http;
mod jobs;
mod logs;
mod machines;
mod remote_provisioner;
mod telemetry;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use config::{Config, Environment, File, FileFormat};
use cooperage_domain::cluster::Limits;
use cooperage_domain::invalid::Invalid;
use cooperage_plugins::resources::ArchiveLimits;
use cooperage_schema::DatabaseUrl;
use serde::{Deserialize, Serialize, Serializer};

pub use callbacks::{Callbacks, Leases, SETTINGS_PREFIX};
pub use health::Health;
pub use http::{ClientTls, Http, Tls, TlsFiles};
pub use jobs::Jobs;
pub use logs::Logs;
pub use machines::{Local, Ssh, Terminal};
pub use remote_provisioner::RemoteProvisioner;
pub use telemetry::{Log, LogFormat, Telemetry};

/// The defaults, as shipped.
const DEFAULTS: &str = include_str!("../etc/cooperage.toml");

/// Where the settings file is looked for when none is named.
const SYSTEM_FILE: &str = "/etc/cooperage/cooperage.toml";

/// All settings.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Where everything is kept that must survive.
    pub data_dir: PathBuf,
    /// Which database.
    pub database: Database,
    /// Where it listens.
    pub listen: Listen,
    /// Encryption, and who may connect at all.
    pub tls: Tls,
    /// Limits on connections and requests.
    pub http: Http,
    /// Who is let in.
    pub auth: Auth,
    /// How secrets are kept.
    pub secrets: Secrets,
    /// What is recorded of requests.
    pub audit: Audit,
    /// How much of what tasks print is kept.
    pub logs: Logs,
    /// Who works.
    pub workers: Workers,
    /// Provisioners elsewhere.
    pub provisioners: Provisioners,
    /// This process, when it is a provisioner for a server elsewhere.
    pub provisioner: RemoteProvisioner,
    /// How machines are reached.
    pub ssh: Ssh,
    /// Terminals on nodes.
    pub terminal: Terminal,
    /// Machines on this host.
    pub local: Local,
    /// Plugins that are programs of their own.
    pub plugins: Plugins,
    /// Files that plugins use.
    pub resources: Resources,
    /// How jobs run.
    pub jobs: Jobs,
    /// How machines and services are probed, and what happens when they are down.
    pub health: Health,
    /// When leases are warned of.
    pub leases: Leases,
    /// Who is called when jobs begin and end.
    pub callbacks: Callbacks,
    /// What the actor console may do.
    pub console: console::ActorConsole,
    /// Limits on what may be asked.
    pub limits: RequestLimits,
    /// Who is told of jobs as traces.
    pub telemetry: Telemetry,
    /// What is logged, and how.
    pub log: Log,
    /// Simulated machines.
    #[cfg(feature = "simulation")]
    #[serde(default)]
    pub simulation: Simulation,
    #[serde(default, skip_serializing)]
    server: Option<callbacks::CooprServer>,
}

/// Which database.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// `postgres://…`, or a path; empty: `cooperage.db` in the data directory.
    #[serde(serialize_with = "without_password")]
    pub url: String,
}

/// A database's address as it may be shown.
fn without_password<S: Serializer>(url: &str, serializer: S) -> Result<S::Ok, S::Error> {
    match url.parse::<DatabaseUrl>() {
        Ok(url) if url.to_string().starts_with("postgres") => serializer.collect_str(&url),
        Ok(_) => serializer.serialize_str(url),
        Err(_) if url.is_empty() => serializer.serialize_str(url),
        Err(_) => serializer.serialize_str("(not a database's address)"),
    }
}

/// Where it listens.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Listen {
    /// For people and their programs.
    pub user: SocketAddr,
    /// For provisioners.
    pub tasks: SocketAddr,
}

/// Who is let in.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// How callers say who they are.
    pub mode: AuthMode,
    /// Whether `headers` and `open` are allowed on addresses that others can reach.
    pub trust_network: bool,
    /// Whether provisioners say who they are.
    pub provisioners: ProvisionerAccess,
    /// How long a login lasts, in hours.
    pub session_hours: u16,
}

/// Whether provisioners say who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProvisionerAccess {
    /// Whoever reaches their port is let in, as in Coopr.
    Open,
    /// By a token of the role provisioner.
    Token,
}

/// How callers say who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthMode {
    /// By a token that only they know.
    Token,
    /// By headers that are believed, as in Coopr.
    Headers,
}

/// How secrets are kept.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Secrets {
    /// File with the master keys; empty: `secrets.key` in the data directory.
    pub key_file: String,
}

/// What is recorded of requests.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    /// How long records are kept, in days; 0: for ever.
    pub retention_days: u32,
    /// Whether a proxy stands in front that says whom requests come from.
    pub trust_forwarded: bool,
}

/// Who works.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Workers {
    /// Tasks this process carries out at once.
    pub local: usize,
    /// Tasks of all tenants that run at once, here and elsewhere; 0 is any number.
    pub max_running_tasks: usize,
}

/// Provisioners elsewhere.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Provisioners {
    /// How long one may be silent before it is forgotten.
    pub silence_seconds: u32,
}

/// Plugins that are programs of their own.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Plugins {
    /// Folder of their folders; empty: there are none.
    pub dir: String,
    /// Whom they run as when the server is root.
    pub user: String,
    /// Most memory of each of their processes, in MB; 0: no limit.
    pub memory_mb: u64,
    /// Most files each of their processes may have open.
    pub open_files: u64,
    /// Longest line of their standard output, in bytes.
    pub max_line_bytes: usize,
}

/// Files that plugins use.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Resources {
    /// Largest one that is taken, in MB.
    pub max_upload_mb: u64,
    /// Most that an archive may unpack to, in MB.
    pub max_unpacked_mb: u64,
    /// Most files, folders and links in an archive.
    pub max_entries: u64,
    /// Where they are kept.
    pub store: ResourcePlace,
    /// Name of the bucket.
    pub bucket: String,
    /// What the paths in the bucket begin with.
    pub prefix: String,
    /// Where the bucket's service answers; empty: Amazon's.
    pub endpoint: String,
    /// The bucket's region.
    pub region: String,
    /// File with the two halves of the access key; empty: they are in the environment.
    pub credentials: String,
}

/// Where plugin resources are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ResourcePlace {
    /// In the data directory.
    Local,
    /// In a bucket that speaks S3.
    S3,
}

/// Bytes in a MB of the settings.
const MB: u64 = 1 << 20;

impl Resources {
    /// Largest resource that is taken, in bytes.
    #[must_use]
    pub const fn max_upload_bytes(&self) -> u64 {
        self.max_upload_mb.saturating_mul(MB)
    }

    /// How much an archive may hold.
    #[must_use]
    pub const fn archives(&self) -> ArchiveLimits {
        ArchiveLimits { bytes: self.max_unpacked_mb.saturating_mul(MB), entries: self.max_entries }
    }
}

/// Limits on what may be asked.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RequestLimits {
    /// Most machines a cluster may have.
    pub max_cluster_size: u32,
    /// Number of the first cluster.
    pub ids_start: u64,
    /// Step between the numbers of clusters, so that several installations can share them.
    pub ids_increment: u64,
}

/// Simulated machines, which only a build for tests has.
#[cfg(feature = "simulation")]
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Simulation {
    /// Where they are kept; none without it.
    pub dir: Option<PathBuf>,
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A file is missing or malformed, or a value does not fit.
    #[error("{0}; every setting is documented in etc/cooperage.toml")]
    Unreadable(#[from] config::ConfigError),
    /// An override has no `=`.
    #[error("--set {0:?} is not of the form section.key=value")]
    BadOverride(String),
    /// A value is none that can be used.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The folder the program was started in is gone, so that a relative path names nothing.
    #[error("data_dir: {0}; use an absolute path")]
    NoFolder(std::io::Error),
    /// The header mode would let everybody in.
    #[error(
        "auth.mode: \"headers\" believes whoever calls, and listen.user {0} can be reached by others; \
         listen on 127.0.0.1, use auth.mode = \"token\", or set auth.trust_network = true behind a proxy that \
         sets the headers itself"
    )]
    TrustsEverybody(SocketAddr),
    /// The address is not loopback, and whoever reaches it is given tasks, with their secrets.
    #[error(
        "auth.provisioners = \"open\" lets whoever reaches listen.tasks = {0} take tasks and see their secrets; \
         listen on 127.0.0.1, use auth.provisioners = \"token\" or tls.tasks.client_ca, or set auth.trust_network = true on a network of your own"
    )]
    OpenToWorkers(SocketAddr),
}

impl Settings {
    /// Reads the settings: `file`, or the system's when it exists; the environment; `overrides` (`section.key=value`).
    ///
    /// # Errors
    /// When something cannot be read, is unknown, or is not safe.
    pub fn load(file: Option<&Path>, overrides: &[String]) -> Result<Self, SettingsError> {
        let mut builder = Config::builder().add_source(File::from_str(DEFAULTS, FileFormat::Toml));
        match file {
            Some(file) => builder = builder.add_source(File::from(file).format(FileFormat::Toml)),
            None => builder = builder.add_source(File::from(Path::new(SYSTEM_FILE)).required(false)),
        }
        builder = builder.add_source(
            Environment::with_prefix("COOPERAGE").prefix_separator("__").separator("__").try_parsing(true),
        );
        for text in overrides {
            let (key, value) =
                text.split_once('=').ok_or_else(|| SettingsError::BadOverride(text.clone()))?;
            builder = builder.set_override(key.trim(), value.trim())?;
        }
        let mut settings: Self = builder.build()?.try_deserialize()?;
        if let Some(server) = settings.server.take() {
            server.overlay(&mut settings.callbacks.http)?;
        }
        settings.callbacks.networks()?;
        settings.data_dir = std::path::absolute(&settings.data_dir).map_err(SettingsError::NoFolder)?;
        let user = settings.listen.user;
        if settings.auth.mode == AuthMode::Headers && !user.ip().is_loopback() && !settings.auth.trust_network
        {
            return Err(SettingsError::TrustsEverybody(user));
        }
        let tasks = settings.listen.tasks;
        let is_open = settings.auth.provisioners == ProvisionerAccess::Open && !settings.auth.trust_network;
        let asks_certificates = !settings.tls.tasks.client_ca.as_os_str().is_empty();
        if is_open && !asks_certificates && !tasks.ip().is_loopback() {
            return Err(SettingsError::OpenToWorkers(tasks));
        }
        Ok(settings)
    }

    /// The database's address.
    #[must_use]
    pub fn database_url(&self) -> String {
        if self.database.url.is_empty() {
            self.data_dir.join("cooperage.db").display().to_string()
        } else {
            self.database.url.clone()
        }
    }

    /// Where the master keys of secrets are.
    #[must_use]
    pub fn secrets_key(&self) -> PathBuf {
        if self.secrets.key_file.is_empty() {
            self.data_dir.join("secrets.key")
        } else {
            self.secrets.key_file.clone().into()
        }
    }

    /// Where a provisioner keeps what is its own.
    #[must_use]
    pub fn provisioner_dir(&self) -> PathBuf {
        if self.provisioner.data_dir.is_empty() {
            self.data_dir.join("provisioner")
        } else {
            self.provisioner.data_dir.clone().into()
        }
    }

    /// Where base images of local machines are kept.
    #[must_use]
    pub fn images_dir(&self) -> PathBuf {
        if self.local.images_dir.is_empty() {
            self.data_dir.join("images")
        } else {
            self.local.images_dir.clone().into()
        }
    }

    /// Limits new clusters get.
    #[must_use]
    pub fn job_limits(&self) -> Limits {
        Limits { lease_warning: self.leases.warning(), ..self.jobs.limits() }
    }
}

#[cfg(test)]
mod tests {
    use cooperage_domain::health::Policy;

    use super::*;

    #[test]
    fn the_shipped_file_holds_every_setting_and_is_valid() {
        let settings = Settings::load(Some(Path::new("etc/cooperage.toml")), &[]).unwrap();
        assert_eq!(settings.auth.mode, AuthMode::Token);
        assert_eq!(settings.listen.user, "127.0.0.1:55054".parse().unwrap());
        assert_eq!(settings.job_limits(), Limits::default());
        assert_eq!(settings.health.settings().policy, Policy::default());
        assert_eq!(settings.resources.archives(), ArchiveLimits::default());
    }

    #[test]
    fn the_password_of_the_database_is_not_shown() {
        let set = vec!["database.url=postgres://coop:pa55word@db/coop".to_owned()];
        let settings = Settings::load(Some(Path::new("etc/cooperage.toml")), &set).unwrap();
        let shown = toml::to_string(&settings).unwrap();
        assert!(shown.contains("postgres://") && !shown.contains("pa55word"), "{shown}");
    }

    #[test]
    fn overrides_win_and_faults_name_the_key() {
        let load = |set: &str| Settings::load(Some(Path::new("etc/cooperage.toml")), &[set.to_owned()]);
        assert_eq!(load("workers.local=3").unwrap().workers.local, 3);
        assert!(load("workers.locl=3").unwrap_err().to_string().contains("locl"));
        assert!(load("workers").unwrap_err().to_string().contains("section.key=value"));
        assert!(load("listen.user=nonsense").is_err());
        let limits = load("jobs.task_timeouts.create=600").unwrap().job_limits();
        assert_eq!(limits.time_of(cooperage_domain::task::TaskName::Create), 600_000);
        assert!(load("jobs.task_timeouts.creat=600").unwrap_err().to_string().contains("creat"));
        let limits = load("jobs.retry.script.max_attempts=1").unwrap().job_limits();
        assert_eq!(limits.attempts_of(cooperage_domain::error_kind::ErrorKind::Script), 1);
        assert!(load("jobs.retry.scrpt.max_attempts=1").unwrap_err().to_string().contains("scrpt"));
    }

    #[test]
    fn header_mode_is_refused_where_others_can_reach_it() {
        let load = |more: &[&str]| {
            let mut set = vec!["auth.mode=headers".to_owned(), "listen.user=0.0.0.0:55054".to_owned()];
            set.extend(more.iter().map(|s| (*s).to_owned()));
            Settings::load(Some(Path::new("etc/cooperage.toml")), &set)
        };
        assert!(matches!(load(&[]), Err(SettingsError::TrustsEverybody(_))));
        assert!(load(&["auth.trust_network=true"]).is_ok());
        assert!(load(&["listen.user=127.0.0.1:1"]).is_ok());
    }

    #[test]
    fn tasks_are_not_given_to_whoever_reaches_the_port() {
        let load = |more: &[&str]| {
            let mut set = vec!["listen.tasks=0.0.0.0:55055".to_owned()];
            set.extend(more.iter().map(|s| (*s).to_owned()));
            Settings::load(Some(Path::new("etc/cooperage.toml")), &set)
        };
        assert!(matches!(load(&[]), Err(SettingsError::OpenToWorkers(_))));
        assert!(load(&["auth.provisioners=token"]).is_ok());
        assert!(load(&["tls.tasks.client_ca=/etc/cooperage/ca.pem"]).is_ok());
        assert!(load(&["auth.trust_network=true"]).is_ok());
    }
}
