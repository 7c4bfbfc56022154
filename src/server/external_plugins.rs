//! Plugins that are programs of their own, added to those that come with the program.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cooperage_domain::entity::Entity;
use cooperage_domain::invalid::Invalid;
use cooperage_plugins::PluginSet;
use cooperage_plugins::external::{
    Account, Declared, ExternalAutomator, ExternalProvider, PluginHost, ProcessLimits, declared, sweep,
};
use cooperage_plugins::resources::{ArchiveLimits, PluginResources, Side};
use slog::{Logger, info, o, warn};

use super::ServeError;
use super::plugins::identity;
use crate::config::Settings;

/// Shortest limit of a line that a result still fits in, in bytes.
const LEAST_LINE: usize = 1024;
/// Fewest open files a program can start with.
const LEAST_FILES: u64 = 16;

/// The plugins below `plugins.dir`, but for the resources they use.
#[derive(Debug)]
pub struct ExternalPlugins {
    found: Vec<Declared>,
    runs: PathBuf,
    identity: PathBuf,
    account: Option<Account>,
    limits: ProcessLimits,
    archives: ArchiveLimits,
    log: Logger,
}

impl ExternalPlugins {
    /// Finds them. What runs of a server that was killed left behind is ended and removed first.
    ///
    /// # Errors
    /// When a setting or a descriptor has a fault, naming it.
    pub fn find(settings: &Settings, logger: &Logger) -> Result<Self, ServeError> {
        let runs = settings.data_dir.join("plugin-runs");
        let swept = sweep(&runs).map_err(|source| ServeError::DataDir { path: runs.clone(), source })?;
        if swept.runs > 0 {
            info!(logger, "runs of plugins that were left were ended"; "runs" => swept.runs);
        }
        for folder in &swept.left {
            warn!(logger, "the folder of a plugin's run cannot be removed"; "folder" => folder.display().to_string());
        }
        let dir = &settings.plugins.dir;
        let found = if dir.is_empty() { Vec::new() } else { declared(Path::new(dir))? };
        let account = if found.is_empty() { None } else { Account::for_plugins(&settings.plugins.user)? };
        if account.is_none() && !found.is_empty() {
            warn!(logger, "plugins run as the server's own user and can read all it can: start the server as root, so \
                that they run as plugins.user"; "dir" => dir);
        }
        for one in &found {
            tell(one, account.as_ref(), logger);
        }
        Ok(Self {
            found,
            runs,
            identity: identity(settings),
            account,
            limits: limits(settings)?,
            archives: settings.resources.archives(),
            log: logger.new(o!("plugins" => "external")),
        })
    }

    /// Refuses one that has the name of one of these.
    ///
    /// # Errors
    /// Names it.
    pub fn check_names(&self, plugins: &PluginSet) -> Result<(), ServeError> {
        self.found.iter().try_for_each(|one| check_name(plugins, one))
    }

    /// These, and the external ones with these resources.
    #[must_use]
    pub fn added(&self, plugins: PluginSet, resources: &PluginResources) -> PluginSet {
        let host = Arc::new(PluginHost {
            runs: self.runs.clone(),
            identity: self.identity.clone(),
            account: self.account.clone(),
            limits: self.limits,
            archives: self.archives,
            resources: resources.clone(),
            log: self.log.clone(),
        });
        self.found.iter().cloned().fold(plugins, |plugins, one| {
            let host = Arc::clone(&host);
            match one.side {
                Side::Provider => plugins.with_provider(Arc::new(ExternalProvider::new(host, one))),
                Side::Automator => plugins.with_automator(Arc::new(ExternalAutomator::new(host, one))),
            }
        })
    }
}

fn check_name(plugins: &PluginSet, one: &Declared) -> Result<(), ServeError> {
    let name = one.plugin_type.base.name.clone();
    let taken = match one.side {
        Side::Provider => plugins.provider_types().iter().any(|known| known.base().name == name),
        Side::Automator => plugins.automator_types().iter().any(|known| known.base().name == name),
    };
    if taken {
        let remedy = format!("give the one in {} another name", one.program.display());
        return Err(Invalid::new(
            "plugins.dir",
            name,
            "is the name of a plugin that comes with the program",
            remedy,
        )
        .into());
    }
    Ok(())
}

fn tell(one: &Declared, account: Option<&Account>, logger: &Logger) {
    let name = &one.plugin_type.base.name;
    if let Some(closed) = account.and_then(|account| account.kept_out_by(&one.program)) {
        warn!(logger, "a plugin cannot be run by its user: let everybody enter the folders above it, and read and run it";
            "type" => name, "program" => one.program.display().to_string(), "closed" => closed.display().to_string());
    }
    info!(logger, "plugin found"; "type" => name, "side" => one.side.as_str(), "program" => one.program.display().to_string());
}

fn limits(settings: &Settings) -> Result<ProcessLimits, Invalid> {
    let given = &settings.plugins;
    if given.max_line_bytes < LEAST_LINE {
        let fault = "is too short for a result";
        return Err(Invalid::new(
            "plugins.max_line_bytes",
            given.max_line_bytes,
            fault,
            "allow at least 1024",
        ));
    }
    if given.open_files < LEAST_FILES {
        let fault = "is too few for a program to start";
        return Err(Invalid::new("plugins.open_files", given.open_files, fault, "allow at least 16"));
    }
    Ok(ProcessLimits {
        memory_mb: given.memory_mb,
        open_files: given.open_files,
        line_bytes: given.max_line_bytes,
    })
}
