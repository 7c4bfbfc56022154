//! `cooperage image …`: image types of the server, and base images of machines on this host.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use cooperage_domain::entity::Kind;
use cooperage_domain::invalid::Invalid;
use cooperage_plugins::local::images::{self, Recipe};

use super::args::{SettingsArgs, WatchArgs};
use super::client::Client;
use super::duration::short;
use super::failure::Failure;
use super::screen::Screen;
use super::{duration, entity};
use crate::config::Settings;

/// Image types and base images.
#[derive(Debug, Subcommand)]
pub enum ImageCommand {
    /// List the image types of the server, or the base images on this host
    #[command(
        visible_alias = "ls",
        after_help = "Examples:
  cooperage image list             image types clusters can ask for
  cooperage image list --local     base images on this host"
    )]
    List {
        /// Base images on this host instead
        #[arg(long)]
        local: bool,
        /// Where base images are
        #[command(flatten)]
        at: ImagesAt,
        /// Whether once or again and again.
        #[command(flatten)]
        watch: WatchArgs,
    },
    /// Show one image type, as it is stored
    #[command(visible_alias = "get", after_help = "Example: cooperage image show debian-12")]
    Show(entity::ShowArgs),
    /// Delete an image type with all its versions, or one version
    #[command(visible_alias = "rm", after_help = "Example: cooperage image delete debian-11")]
    Delete(entity::DeleteArgs),
    /// Make a base image for machines on this host (needs root)
    #[command(after_help = "Example: cooperage image build debian-12")]
    Build {
        /// Its name
        name: String,
        /// What goes into it; without it, the recipe with the image's name
        #[arg(long)]
        recipe: Option<String>,
        /// Where base images are
        #[command(flatten)]
        at: ImagesAt,
    },
}

/// Where base images are.
#[derive(Debug, Clone, Args)]
pub struct ImagesAt {
    /// Folder of base images; without it, the one of the settings
    #[arg(long, value_name = "DIR")]
    pub images_dir: Option<PathBuf>,
    /// Settings that name the folder.
    #[command(flatten)]
    pub settings: SettingsArgs,
}

/// Carries out one of the commands.
///
/// # Errors
/// When there is no such image, or it cannot be made.
pub async fn run(command: ImageCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        ImageCommand::List { local: false, watch, .. } => {
            entity::list(Kind::ImageType, &watch, client, screen).await
        }
        ImageCommand::List { local: true, at, .. } => {
            let directory = images_dir(&at)?;
            let names = images::list(&directory)?;
            let nothing = || {
                format!("no base images in {}; make one with `cooperage image build`", directory.display())
            };
            screen.result(&names, || if names.is_empty() { nothing() } else { names.join("\n") });
            Ok(())
        }
        ImageCommand::Show(args) => entity::show(Kind::ImageType, &args, client, screen).await,
        ImageCommand::Delete(args) => entity::delete(Kind::ImageType, &args, client, screen).await,
        ImageCommand::Build { name, recipe, at } => build(&name, recipe.as_deref(), &at, screen).await,
    }
}

fn images_dir(at: &ImagesAt) -> Result<PathBuf, Failure> {
    match &at.images_dir {
        Some(directory) => Ok(directory.clone()),
        None => Ok(Settings::load(at.settings.config.as_deref(), &at.settings.set)?.images_dir()),
    }
}

async fn build(name: &str, recipe: Option<&str>, at: &ImagesAt, screen: &Screen) -> Result<(), Failure> {
    let wanted = recipe.unwrap_or(name);
    let recipe = Recipe::named(wanted).ok_or_else(|| {
        let remedy = format!("use one of: {}", Recipe::NAMES.join(", "));
        Invalid::new("--recipe", wanted, "is not a recipe", remedy)
    })?;
    let directory = images_dir(at)?;
    let begun = duration::now();
    screen.note(&format!("making {name} in {} (about half a minute)", directory.display()));
    std::fs::create_dir_all(&directory).map_err(|source| Failure::file("make", &directory, source))?;
    let base = images::build(&directory, name, &recipe).await?;
    screen.note(&format!("done in {}", short(duration::now() - begun)));
    screen.result(&base, || base.display().to_string());
    Ok(())
}
