//! The plugins that come with the program.

use std::sync::Arc;

use cooperage_domain::invalid::Invalid;
use cooperage_plugins::local::{LocalProvider, LocalSettings};
use cooperage_plugins::resources::ResourceDirectory;
use cooperage_plugins::shell::ShellAutomator;
use cooperage_plugins::ssh::{Backend, PoolLimits, SshPool, transport};
use cooperage_plugins::{PluginSet, Provider};
use slog::{Logger, o};
use tokio::runtime::Runtime;

use super::ServeError;
use crate::config::Settings;

/// The plugins that come with the program, but for the resources they use.
pub struct BuiltIn {
    pool: SshPool,
    local: Arc<LocalProvider>,
    #[cfg(feature = "simulation")]
    simulation: crate::config::Simulation,
}

impl BuiltIn {
    /// Provider `local` and automator `shell`; connections live on `runtime`.
    ///
    /// # Errors
    /// When a setting of theirs has a fault.
    pub fn new(settings: &Settings, runtime: &Runtime, logger: &Logger) -> Result<Self, ServeError> {
        let _inside = runtime.enter();
        let pool = SshPool::new(transport(backend(settings)?)?, PoolLimits::default());
        let local = LocalProvider::new(local_settings(settings)?, logger.new(o!("provider" => "local")))?;
        Ok(Self {
            pool,
            local: Arc::new(local),
            #[cfg(feature = "simulation")]
            simulation: settings.simulation.clone(),
        })
    }

    /// The plugins, with these resources. Sets with other resources share connections and machines with it.
    #[must_use]
    pub fn with_resources(&self, resources: &ResourceDirectory) -> Arc<PluginSet> {
        let plugins = PluginSet::default()
            .with_provider(Arc::clone(&self.local) as Arc<dyn Provider>)
            .with_automator(Arc::new(ShellAutomator::new(self.pool.clone(), resources.clone())));
        #[cfg(feature = "simulation")]
        let plugins = with_simulated(plugins, &self.simulation);
        Arc::new(plugins)
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

fn backend(settings: &Settings) -> Result<Backend, Invalid> {
    match settings.ssh.backend.as_str() {
        "" => Ok(Backend::default()),
        name => name.parse().map_err(|_| {
            Invalid::new("ssh.backend", name, "is no SSH back end", "use russh or wezterm, or leave it empty")
        }),
    }
}

/// Where machines on this host are kept, and how they are named and numbered.
///
/// # Errors
/// When the network is none.
pub fn local_settings(settings: &Settings) -> Result<LocalSettings, Invalid> {
    let data = &settings.data_dir;
    let mut local = LocalSettings::new(data.join("local"), settings.images_dir(), data.join("identity"));
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
