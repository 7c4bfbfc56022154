//! The plugins that come with the program.

use std::path::PathBuf;
use std::sync::Arc;

use cooperage_domain::invalid::Invalid;
use cooperage_plugins::PluginSet;
use cooperage_plugins::local::{LocalProvider, LocalSettings};
use cooperage_plugins::resources::PluginResources;
use cooperage_plugins::shell::ShellAutomator;
use cooperage_plugins::ssh::{Backend, PoolLimits, SshPool, transport};
use slog::{Logger, o};
use tokio::runtime::Runtime;

use super::ServeError;
use crate::config::Settings;

/// Provider `local` and automator `shell`.
///
/// # Errors
/// When a setting of theirs has a fault.
pub fn built_in(
    settings: &Settings,
    resources: &PluginResources,
    runtime: &Runtime,
    logger: &Logger,
) -> Result<PluginSet, ServeError> {
    // Connections live on the plugins' runtime.
    let _inside = runtime.enter();
    let pool = SshPool::new(transport(backend(settings)?)?, PoolLimits::default());
    let local = LocalProvider::new(local_settings(settings)?, logger.new(o!("provider" => "local")))?;
    let plugins = PluginSet::default()
        .with_provider(Arc::new(local))
        .with_automator(Arc::new(ShellAutomator::new(pool, resources.clone())));
    #[cfg(feature = "simulation")]
    let plugins = with_simulated(plugins, settings);
    Ok(plugins)
}

/// With provider and automator `simulated`, where a directory is named for them.
#[cfg(feature = "simulation")]
fn with_simulated(plugins: PluginSet, settings: &Settings) -> PluginSet {
    use cooperage_plugins::simulated::{SimulatedAutomator, SimulatedProvider};
    let Some(directory) = &settings.simulation.dir else { return plugins };
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
