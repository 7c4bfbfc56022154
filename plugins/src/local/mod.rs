//! Provider `local`: machines on this host that are really separate.
//!
//! Each is a full system (`systemd-nspawn --boot`) with its own processes, host name, disk, network address, ssh host key
//! and limits. Its disk is an overlay on an image, a base directory shared by all machines of that image ([`images`]).
//! It starts in less than a second and takes some ten megabytes.
//!
//! Image types name a directory of images; hardware types name a size ([`read_flavor`]). Machines outlive the server that
//! made them; after a reboot of the host they are off and can be switched on.
//!
//! **Not a wall against an attacker**: root in a machine is root of the host with fewer capabilities. Let only people use it
//! whom you would let use the host.
//!
//! What is on the host for each machine is recorded in the state directory before it is made ([`Record`]), so that any
//! crash leaves only what a repeated create finishes, or a delete removes.

mod address;
mod blocking;
mod boot;
mod bridge;
mod cgroup;
mod descriptor;
mod fault;
mod flavor;
mod guest_files;
pub(crate) mod host_command;
mod host_network;
pub mod images;
pub(crate) mod keys;
mod lock;
mod making;
mod namespace;
mod overlay;
mod preflight;
mod provider;
mod ready;
mod record;
mod reservation;
mod settings;
mod unmaking;

use std::sync::{Arc, OnceLock};

use cooperage_domain::invalid::Invalid;
use russh::keys::ssh_key::PrivateKey;
use slog::Logger;
use tokio::sync::OnceCell;

pub use address::Network;
pub use fault::{LocalError, Refusal};
pub use flavor::{Limits, read_flavor};
pub use host_command::CommandError;
pub use making::Step;
pub use preflight::preflight;
pub use record::{Record, Stage};
pub use settings::LocalSettings;

use blocking::blocking;
use cgroup::Hierarchies;
use fault::At;
use lock::FileLock;
use record::{Records, write_durably};
use reservation::lock_host;

/// Name of the provider type.
pub const PROVIDER_TYPE: &str = "local";

/// The provider of machines on this host.
pub struct LocalProvider {
    settings: LocalSettings,
    records: Records,
    log: Logger,
    installation: OnceCell<String>,
    hierarchies: OnceLock<Hierarchies>,
    identity: OnceCell<Arc<PrivateKey>>,
    usable: OnceCell<()>,
}

impl LocalProvider {
    /// Touches nothing on the host yet; see [`preflight`] for whether it can work here.
    ///
    /// # Errors
    /// When a setting cannot be used, naming it.
    pub fn new(settings: LocalSettings, log: Logger) -> Result<Self, Invalid> {
        settings.check()?;
        Ok(Self {
            records: Records::new(&settings.state_dir),
            settings,
            log,
            installation: OnceCell::new(),
            hierarchies: OnceLock::new(),
            identity: OnceCell::new(),
            usable: OnceCell::new(),
        })
    }

    /// The name that tells this server's machines from those of another on the same host: made once, kept in the state
    /// directory.
    async fn installation(&self) -> Result<String, LocalError> {
        let find = || async {
            let _lock = lock_host().await?;
            let (records, path) = (self.records.clone(), self.settings.state_dir.join("installation"));
            blocking(move || {
                records.private("")?;
                records.empty_trash()?;
                match std::fs::read_to_string(&path) {
                    Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                    read => return read.at("read", &path),
                }
                let name = uuid::Uuid::new_v4().simple().to_string();
                write_durably(&path, name.as_bytes())?;
                Ok(name)
            })
            .await
        };
        self.installation.get_or_try_init(find).await.cloned()
    }

    fn hierarchies(&self) -> Result<&Hierarchies, LocalError> {
        if let Some(found) = self.hierarchies.get() {
            return Ok(found);
        }
        let found = Hierarchies::find()?;
        Ok(self.hierarchies.get_or_init(|| found))
    }

    async fn identity(&self) -> Result<Arc<PrivateKey>, LocalError> {
        let path = self.settings.identity.clone();
        let load = || blocking(move || keys::load_or_make_identity(&path).map(Arc::new));
        self.identity.get_or_try_init(load).await.cloned()
    }

    /// Waits until nobody else works on this machine.
    async fn lock_machine(&self, id: &str) -> Result<FileLock, LocalError> {
        FileLock::acquire(self.records.lock_path(id)).await
    }

    async fn record(&self, id: &str) -> Result<Option<Record>, LocalError> {
        let (records, id) = (self.records.clone(), id.to_owned());
        blocking(move || records.load(&id)).await
    }
}
