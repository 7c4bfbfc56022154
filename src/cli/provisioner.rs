//! `cooperage provisioner`: runs one, and asks a server for those it has. Only the superadmin may ask.

use clap::Subcommand;
use serde_json::Value;

use super::args::{ProvisionerArgs, WatchArgs};
use super::client::{Client, segment};
use super::complete;
use super::failure::Failure;
use super::screen::Screen;
use super::table::Table;
use super::watching::{View, show};
use crate::config::{Settings, SettingsError};
use crate::provisioner::Reload;

/// What to do with provisioners.
#[derive(Debug, Subcommand)]
pub enum ProvisionerCommand {
    /// List all, with how much they carry
    #[command(visible_alias = "ls", after_help = "Example: cooperage provisioner list --watch")]
    List(WatchArgs),
    /// Show one, with the tenants it works for
    #[command(visible_alias = "get", after_help = "Example: cooperage provisioner show lab-3")]
    Show {
        /// Its id
        #[arg(value_name = "ID", add = complete::provisioners())]
        id: String,
    },
}

/// Carries out one of the commands.
///
/// # Errors
/// When there is no such provisioner, or the server refuses.
pub async fn ask(command: ProvisionerCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        ProvisionerCommand::List(watch) => {
            show(screen, &watch, async || {
                let all: Vec<Value> = client.get("/v2/provisioners").await?;
                Ok(View { text: table(&all, screen.is_wide()), value: all.into() })
            })
            .await
        }
        ProvisionerCommand::Show { id } => {
            let one: Value = client.get(&format!("/v2/provisioners/{}", segment(&id))).await?;
            screen.result(&one, || super::yaml::render(&one));
            Ok(())
        }
    }
}

fn table(all: &[Value], is_wide: bool) -> String {
    let mut table = Table::wide(is_wide, ["ID", "HOST", "PORT", "CAPACITY", "FREE"], ["ASSIGNED", "IN USE"]);
    for one in all {
        let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
        let number = |field: &str| one[field].as_u64().map(|number| number.to_string()).unwrap_or_default();
        let counts = |field: &str| {
            let all = one[field].as_object().into_iter().flatten();
            all.map(|(tenant, count)| format!("{tenant}={count}")).collect::<Vec<_>>().join(" ")
        };
        let cells =
            [text("id"), text("host"), number("port"), number("capacityTotal"), number("capacityFree")];
        table.wide_row(cells, [counts("assignments"), counts("usage")]);
    }
    table.render("no provisioners elsewhere; the server's own workers are the setting workers.local")
}

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
