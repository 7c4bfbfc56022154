//! `cooperage serve` and `cooperage config show`

use super::args::SettingsArgs;
use super::failure::Failure;
use super::screen::Screen;
use crate::config::Settings;

/// Runs a server until it is told to stop.
///
/// # Errors
/// When the settings cannot be used, or the server cannot run.
pub fn run(args: &SettingsArgs) -> Result<(), Failure> {
    let settings = Settings::load(args.config.as_deref(), &args.set)?;
    crate::server::serve(settings).map_err(|fault| Failure::Server(fault.to_string()))
}

/// Shows the settings in force.
///
/// # Errors
/// When they cannot be used.
pub fn show(args: &SettingsArgs, screen: &Screen) -> Result<(), Failure> {
    let settings = Settings::load(args.config.as_deref(), &args.set)?;
    screen.result(&settings, || {
        // Settings are plain data, so that they can be written as they are read.
        toml::to_string(&settings).unwrap_or_default()
    });
    Ok(())
}
