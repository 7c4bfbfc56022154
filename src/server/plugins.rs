//! The plugins that come with the program.

use std::path::PathBuf;
use std::sync::Arc;

use cooperage_domain::invalid::Invalid;
use cooperage_plugins::local::{LocalProvider, LocalSettings};
use cooperage_plugins::resources::PluginResources;
use cooperage_plugins::shell::ShellAutomator;
use cooperage_plugins::ssh::{Backend, PoolLimits, SshPool, Transport, transport};
use cooperage_plugins::{PluginSet, Provider};
use slog::{Logger, o};
use tokio::runtime::Runtime;

use super::ServeError;
use super::external_plugins::ExternalPlugins;
use crate::config::Settings;

/// All plugins there are, but for the resources they use: those that come with the program, and those in a folder.
pub struct Installed {
    pool: SshPool,
    local: Arc<LocalProvider>,
    #[cfg(feature = "simulation")]
    simulation: crate::config::Simulation,
    external: ExternalPlugins,
}

impl Installed {
    /// Provider `local`, automator `shell` and those below `plugins.dir`; connections live on `runtime`.
    ///
    /// # Errors
    /// When a setting of theirs has a fault.
    pub fn new(settings: &Settings, runtime: &Runtime, logger: &Logger) -> Result<Self, ServeError> {
        let _inside = runtime.enter();
        let pool = SshPool::new(ssh_transport(settings)?, PoolLimits::default());
        let local = LocalProvider::new(local_settings(settings)?, logger.new(o!("provider" => "local")))?;
        let installed = Self {
            pool,
            local: Arc::new(local),
            #[cfg(feature = "simulation")]
            simulation: settings.simulation.clone(),
            external: ExternalPlugins::find(settings, logger)?,
        };
        let nowhere = PluginResources::local(&settings.data_dir.join("resources"));
        installed.external.check_names(&installed.built_in(&nowhere))?;
        Ok(installed)
    }

    /// The plugins, with these resources. Sets with other resources share connections and machines with it.
    #[must_use]
    pub fn with_resources(&self, resources: &PluginResources) -> Arc<PluginSet> {
        Arc::new(self.external.added(self.built_in(resources), resources))
    }

    fn built_in(&self, resources: &PluginResources) -> PluginSet {
        let plugins = PluginSet::default()
            .with_provider(Arc::clone(&self.local) as Arc<dyn Provider>)
            .with_automator(Arc::new(ShellAutomator::new(self.pool.clone(), resources.clone())));
        #[cfg(feature = "simulation")]
        let plugins = with_simulated(plugins, &self.simulation);
        plugins
    }
}

/// With provider and automator `simulated`, where a directory is named for them.
#[cfg(feature = "simulation")]
fn with_simulated(plugins: PluginSet, settings: &crate::config::Simulation) -> PluginSet {
    use cooperage_plugins::simulated::{SimulatedAutomator, SimulatedProvider};
    let Some(directory) = &settings.dir else { return plugins };
    plugins
        .with_provider(Arc::new(SimulatedProvider::new(directory)))
        .with_automator(Arc::new(SimulatedAutomator::new(directory)))
}

/// What makes connections over SSH.
///
/// # Errors
/// When the setting names no back end, or one that is not built in.
pub fn ssh_transport(settings: &Settings) -> Result<Arc<dyn Transport>, ServeError> {
    Ok(transport(backend(settings)?)?)
}

fn backend(settings: &Settings) -> Result<Backend, Invalid> {
    match settings.ssh.backend.as_str() {
        "" => Ok(Backend::default()),
        name => name.parse().map_err(|_| {
            Invalid::new("ssh.backend", name, "is no SSH back end", "use russh or wezterm, or leave it empty")
        }),
    }
}

/// The private key that the server logs in to machines with.
#[must_use]
pub fn identity(settings: &Settings) -> PathBuf {
    settings.data_dir.join("identity")
}

/// Where machines on this host are kept, and how they are named and numbered.
///
/// # Errors
/// When the network is none.
pub fn local_settings(settings: &Settings) -> Result<LocalSettings, Invalid> {
    let data = &settings.data_dir;
    let mut local = LocalSettings::new(data.join("local"), settings.images_dir(), identity(settings));
    if !settings.local.bridge.is_empty() {
        local.bridge = Some(settings.local.bridge.clone());
    }
    if !settings.local.network.is_empty() {
        let network = settings.local.network.parse();
        local.network = Some(network.map_err(|fault| {
            let text = format!("is no network: {fault}");
            Invalid::new("local.network", &settings.local.network, text, "use a block such as 10.77.0.0/24")
        })?);
    }
    Ok(local)
}
