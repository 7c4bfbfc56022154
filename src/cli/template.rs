//! `cooperage template …`: as other entities, and merged with what they extend and include.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use cooperage_domain::entity::Kind;
use serde_json::Value;

use super::client::Client;
use super::complete;
use super::entity::{self, EntityCommand};
use super::failure::Failure;
use super::screen::Screen;
use crate::documents;

/// What to do with templates.
#[derive(Debug, Subcommand)]
pub enum TemplateCommand {
    /// What can be done with all entities.
    #[command(flatten)]
    Entity(EntityCommand),
    /// Show a template merged with what it extends and includes
    #[command(after_help = "Examples:
  cooperage template resolve web
  cooperage template resolve -f mine.yaml          one that need not be stored")]
    Resolve(ResolveArgs),
}

/// Which template.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub struct ResolveArgs {
    /// Its name
    #[arg(add = complete::templates())]
    pub name: Option<String>,
    /// A file with one instead
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
}

/// Carries out one of the commands.
///
/// # Errors
/// When there is no such template, or it cannot be merged.
pub async fn run(command: TemplateCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        TemplateCommand::Entity(command) => entity::run(Kind::ClusterTemplate, command, client, screen).await,
        TemplateCommand::Resolve(args) => resolve(&args, client, screen).await,
    }
}

async fn resolve(args: &ResolveArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let template = match (&args.file, &args.name) {
        (Some(file), _) => {
            let bundle = documents::read_sources(documents::read_paths(std::slice::from_ref(file))?)?;
            let mut found = bundle.documents.iter().filter(|it| it.kind == Kind::ClusterTemplate);
            match (found.next(), found.next()) {
                (Some(one), None) => one.to_json(),
                (None, _) => return Err(which(file, "holds no cluster template")),
                (Some(_), Some(_)) => return Err(which(file, "holds more than one cluster template")),
            }
        }
        (None, name) => {
            entity::get(Kind::ClusterTemplate, name.as_deref().unwrap_or_default(), client).await?
        }
    };
    let resolved: Value = client.post("/v2/resolve", &template).await?;
    screen.result(&resolved, || super::yaml::render(&resolved));
    Ok(())
}

fn which(file: &std::path::Path, fault: &str) -> Failure {
    Failure::refused(format!("{} {fault}", file.display()), "name a file with just one")
}
