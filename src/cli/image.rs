//! `cooperage image …`: image types of the server, and base images of machines on this host.

use std::path::PathBuf;

use cooperage_domain::entity::Kind;
use cooperage_domain::invalid::Invalid;
use cooperage_plugins::local::images::{self, Recipe};

use super::args::{ImageCommand, ImagesAt};
use super::client::Client;
use super::duration::short;
use super::failure::Failure;
use super::screen::Screen;
use super::{duration, entity};
use crate::config::Settings;

/// Carries out one of the commands.
///
/// # Errors
/// When there is no such image, or it cannot be made.
pub async fn run(command: &ImageCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        ImageCommand::List { local: false, .. } => entity::list(Kind::ImageType, client, screen).await,
        ImageCommand::List { local: true, at } => {
            let directory = images_dir(at)?;
            let names = images::list(&directory)?;
            let nothing = || {
                format!("no base images in {}; make one with `cooperage image build`", directory.display())
            };
            screen.result(&names, || if names.is_empty() { nothing() } else { names.join("\n") });
            Ok(())
        }
        ImageCommand::Show { name } => entity::show(Kind::ImageType, name, client, screen).await,
        ImageCommand::Build { name, recipe, at } => build(name, recipe.as_deref(), at, screen).await,
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
