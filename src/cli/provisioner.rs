//! `cooperage provisioner`

use super::args::ProvisionerArgs;
use super::failure::Failure;
use crate::config::{Settings, SettingsError};
use crate::provisioner::Reload;

/// Runs a provisioner until it is told to stop; `server` when one was named on the command line.
///
/// # Errors
/// When the settings cannot be used, it cannot run, or it had to leave tasks behind.
pub fn run(args: ProvisionerArgs, server: Option<String>) -> Result<(), Failure> {
    let settings = load(&args, server.as_deref())?;
    let reload: Reload = Box::new(move || load(&args, server.as_deref()).map_err(|fault| fault.to_string()));
    crate::provisioner::run(settings, &reload).map_err(|fault| Failure::Server(fault.to_string()))
}

fn load(args: &ProvisionerArgs, server: Option<&str>) -> Result<Settings, SettingsError> {
    let mut settings = Settings::load(args.settings.config.as_deref(), &args.settings.set)?;
    let own = &mut settings.provisioner;
    own.server = server.unwrap_or(&own.server).to_owned();
    own.id = args.id.as_ref().unwrap_or(&own.id).clone();
    own.capacity = args.capacity.unwrap_or(own.capacity);
    own.listen = args.listen.unwrap_or(own.listen);
    own.drain_timeout_seconds = args.drain_timeout.unwrap_or(own.drain_timeout_seconds);
    Ok(settings)
}
