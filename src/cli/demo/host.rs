//! What the host must have: programs, a kernel that can do it, and the base image machines start from.

use cooperage_plugins::local::images::{self, Recipe};
use cooperage_plugins::local::{LocalSettings, Refusal, preflight};
use tokio::process::Command;

use super::place::Place;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;

/// The image type of the web template.
const IMAGE: &str = "debian-12";
/// How [`preflight`] says that a program is missing: what follows is the Debian package it comes in.
const INSTALL: &str = "install it: apt-get install --no-install-recommends ";

/// Makes sure that machines can run here; installs missing packages where we may.
pub(super) async fn prepare(place: &Place, screen: &Screen) -> Result<(), Failure> {
    let settings = settings(place);
    let missing = preflight(&settings).await;
    let packages = packages(&missing);
    if missing.is_empty() {
        return Ok(());
    }
    if !packages.is_empty() && rustix::process::getuid().is_root() {
        install(&packages, screen).await?;
    }
    let missing = preflight(&settings).await;
    if missing.is_empty() { Ok(()) } else { Err(refusal(&missing)) }
}

fn settings(place: &Place) -> LocalSettings {
    LocalSettings::new(place.root().join("local"), place.images(), place.root().join("identity"))
}

/// Packages that would bring missing programs.
fn packages(missing: &[Refusal]) -> Vec<&str> {
    let mut packages: Vec<&str> =
        missing.iter().filter_map(|refusal| refusal.remedy.strip_prefix(INSTALL)).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

fn refusal(missing: &[Refusal]) -> Failure {
    let lines: Vec<String> =
        missing.iter().map(|refusal| format!("\n  - {}: {}", refusal.thing, refusal.fault)).collect();
    let packages = packages(missing);
    let mut remedies: Vec<String> = missing
        .iter()
        .map(|refusal| refusal.remedy.clone())
        .filter(|remedy| !remedy.starts_with(INSTALL))
        .collect();
    if !packages.is_empty() {
        remedies.insert(0, format!("apt-get install --no-install-recommends {}", packages.join(" ")));
    }
    Failure::refused(format!("machines cannot run on this host:{}", lines.concat()), remedies.join("; "))
}

async fn install(packages: &[&str], screen: &Screen) -> Result<(), Failure> {
    screen.note(&format!("  installing {}", packages.join(", ")));
    let arguments = [&["install", "-y", "-qq", "--no-install-recommends"][..], packages].concat();
    let run = |arguments: Vec<String>| async move {
        let mut command = Command::new("apt-get");
        command.args(&arguments).env("DEBIAN_FRONTEND", "noninteractive").kill_on_drop(true);
        command.output().await
    };
    let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
    // The first try may find package lists that are missing or old.
    if run(arguments.clone()).await.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    let _ = run(vec!["update".to_owned(), "-qq".to_owned()]).await;
    let remedy = format!("see why: apt-get install --no-install-recommends {}", packages.join(" "));
    let output = run(arguments)
        .await
        .map_err(|fault| Failure::refused(format!("apt-get does not run: {fault}"), &remedy))?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(Failure::refused(
        format!("apt-get could not install {}:\n{}", packages.join(", "), words.trim()),
        remedy,
    ))
}

/// Makes the base image, if it is not there.
pub(super) async fn base_image(place: &Place, screen: &Screen) -> Result<(), Failure> {
    let directory = place.images();
    if images::find(&directory, IMAGE).is_ok() {
        return Ok(());
    }
    let recipe = Recipe::named(IMAGE).ok_or_else(|| {
        Failure::refused(format!("there is no recipe for {IMAGE}"), "this should not happen: report it")
    })?;
    std::fs::create_dir_all(&directory).map_err(|source| Failure::file("make", &directory, source))?;
    screen.note("  making it, about half a minute");
    images::build(&directory, IMAGE, &recipe).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_programs_become_one_command() {
        let program = |name: &str, package: &str| {
            Refusal::new(format!("program {name}"), "is not installed", format!("{INSTALL}{package}"))
        };
        let missing = [
            program("mount", "mount"),
            program("umount", "mount"),
            Refusal::new("root", "is needed", "be root"),
        ];
        let failure = refusal(&missing);
        assert!(failure.to_string().contains("- program mount: is not installed"));
        assert_eq!(failure.remedy().unwrap(), "apt-get install --no-install-recommends mount; be root");
    }

    #[test]
    fn the_image_has_a_recipe() {
        assert!(Recipe::named(IMAGE).is_some());
    }
}
