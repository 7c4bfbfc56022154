//! `cooperage profile …`: one JSON object that the server keeps for whoever asks.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use serde_json::{Map, Value};

use super::args::YesArgs;
use super::client::Client;
use super::cluster::config_values::{merge, parse_override, remove};
use super::failure::Failure;
use super::screen::Screen;
use crate::documents;

/// Where it is.
const PATH: &str = "/v2/profile";

/// What to do with the profile.
#[derive(Debug, Subcommand)]
pub enum ProfileCommand {
    /// Show it
    #[command(visible_alias = "get", after_help = "Example: cooperage profile show -o json")]
    Show,
    /// Change some of it, or put a file in its place
    #[command(after_help = "Examples:
  cooperage profile set ui.theme=dark ui.rows=50
  cooperage profile set --unset ui.rows
  cooperage profile set --replace mine.json")]
    Set(SetArgs),
    /// Forget it
    #[command(visible_alias = "rm", after_help = "Example: cooperage profile delete")]
    Delete(YesArgs),
}

/// What to change.
#[derive(Debug, Clone, Args)]
pub struct SetArgs {
    /// A value; JSON where it is JSON, else text
    #[arg(value_name = "PATH=VALUE", required_unless_present_any = ["unset", "replace"])]
    pub values: Vec<String>,
    /// A value to take away
    #[arg(long, value_name = "PATH")]
    pub unset: Vec<String>,
    /// File (YAML, JSON or TOML) to put in its place
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub replace: Option<PathBuf>,
}

/// Carries out one of the commands.
///
/// # Errors
/// When there is no profile, a value is wrong, or the server refuses.
pub async fn run(command: ProfileCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        ProfileCommand::Show => {
            let remedy = "make one: cooperage profile set KEY=VALUE";
            let found = get(client).await?.ok_or_else(|| Failure::unknown("you have no profile", remedy))?;
            screen.result(&found, || super::yaml::render(&found));
        }
        ProfileCommand::Set(args) => {
            let mut profile = match &args.replace {
                Some(file) => documents::read_values(file)?,
                None => get(client).await?.unwrap_or_default(),
            };
            for text in &args.values {
                merge(&mut profile, parse_override("PATH=VALUE", text)?);
            }
            for path in &args.unset {
                remove(&mut profile, path);
            }
            let profile = Value::Object(profile);
            let _: Value = client.put(PATH, &profile).await?;
            screen.result(&profile, || super::yaml::render(&profile));
        }
        ProfileCommand::Delete(yes) => {
            screen.confirm("Forget your profile?", yes.yes)?;
            client.delete(PATH).await?;
            screen.done(&Value::Null, "your profile is forgotten");
        }
    }
    Ok(())
}

async fn get(client: &Client) -> Result<Option<Map<String, Value>>, Failure> {
    match client.get(PATH).await {
        Err(fault) if fault.status() == Some(404) => Ok(None),
        other => Ok(Some(other?)),
    }
}
