//! Images: base directories that machines' disks are layers over.
//!
//! An image is never changed once it is there, since machines look through their own layers at it.

mod apt_sources;
mod recipe;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cooperage_domain::invalid::Invalid;

use super::blocking::blocking;
use super::fault::{At, LocalError};
use super::host_command::HostCommand;
use super::lock::FileLock;
use super::preflight::missing_program;

pub use recipe::Recipe;

/// A slow mirror may take its time; a stuck one not for ever.
const BUILD_LIMIT: Duration = Duration::from_secs(1800);
/// A program every image must have: the machine's first process.
const FIRST_PROCESS: [&str; 2] = ["usr/lib/systemd/systemd", "lib/systemd/systemd"];
/// The way to the mirror may lead through a proxy.
const PROXIES: &[&str] = &["http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];

/// The base directory of an image.
///
/// # Errors
/// When the name is none, or there is no such image, with the command that makes it.
pub fn find(images_dir: &Path, name: &str) -> Result<PathBuf, Invalid> {
    check_name(name)?;
    let base = images_dir.join(name);
    if FIRST_PROCESS.iter().any(|program| base.join(program).exists()) {
        return Ok(base);
    }
    let remedy = match Recipe::named(name) {
        Some(_) => format!("make it on the server's host: cooperage image build {name}"),
        None => format!(
            "put a base directory with systemd and openssh-server there, or use one that can be made by `cooperage image \
             build`: {}",
            Recipe::NAMES.join(", ")
        ),
    };
    Err(Invalid::new("image", name, format!("is not an image in {}", images_dir.display()), remedy))
}

/// The names of all images that are there, in order.
///
/// # Errors
/// When the directory cannot be read.
pub fn list(images_dir: &Path) -> Result<Vec<String>, LocalError> {
    let entries = match std::fs::read_dir(images_dir) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.at("list", images_dir)?,
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut images: Vec<_> = names.filter(|name| find(images_dir, name).is_ok()).collect();
    images.sort();
    Ok(images)
}

/// Makes an image, all or nothing, and returns its base directory; at once if it is there already. Two who make the same
/// one at the same time make it once.
///
/// Takes about half a minute, and 450 MB of disk.
///
/// # Errors
/// When a program is missing, the mirror does not answer, or a package is not there.
pub async fn build(images_dir: &Path, name: &str, recipe: &Recipe) -> Result<PathBuf, LocalError> {
    check_name(name)?;
    if let Some(refusal) = missing_program(("mmdebstrap", "mmdebstrap")) {
        return Err(refusal.into());
    }
    let _lock = FileLock::acquire(images_dir.join(format!(".lock-{name}"))).await?;
    let base = images_dir.join(name);
    if find(images_dir, name).is_ok() {
        return Ok(base);
    }
    let staging = Staging::of(images_dir, name);
    let fresh = staging.clone();
    blocking(move || fresh.begin()).await?;
    let arguments = recipe.mmdebstrap_arguments(&staging.root, &apt_sources::of_host(recipe.suite())?);
    let command = HostCommand::new("mmdebstrap").args(arguments).pass_on(PROXIES).limit(BUILD_LIMIT);
    let built = command.temporary(&staging.temporary).run().await;
    let finished = base.clone();
    blocking(move || {
        // mmdebstrap leaves its own folders behind when it is interrupted, and a key ring when it fails.
        remove(&staging.temporary)?;
        built?;
        recipe::settle(&staging.root)?;
        std::fs::rename(&staging.root, &finished).at("make", &finished)
    })
    .await?;
    Ok(base)
}

/// Where an image is while it is being made. What an interrupted try left goes when the next one begins.
#[derive(Clone)]
struct Staging {
    /// The system.
    root: PathBuf,
    /// What mmdebstrap needs for a while: key rings and apt's own folders.
    temporary: PathBuf,
}

impl Staging {
    fn of(images_dir: &Path, name: &str) -> Self {
        Self {
            root: images_dir.join(format!(".unfinished-{name}")),
            // No image's name begins with a dot, so that this is nobody's root.
            temporary: images_dir.join(format!(".unfinished-.{name}")),
        }
    }

    fn begin(&self) -> Result<(), LocalError> {
        remove(&self.root)?;
        remove(&self.temporary)?;
        std::fs::create_dir_all(&self.temporary).at("make", &self.temporary)?;
        // apt's own user looks at the key rings below it.
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&self.temporary, mode).at("set the mode of", &self.temporary)
    }
}

fn remove(directory: &Path) -> Result<(), LocalError> {
    match std::fs::remove_dir_all(directory) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed.at("remove", directory),
    }
}

fn check_name(name: &str) -> Result<(), Invalid> {
    let letters = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    if letters && name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Ok(());
    }
    Err(Invalid::new(
        "image",
        name,
        "is not the name of an image",
        "use letters, digits, '-', '_' and '.', for example debian-12",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_found_by_name() {
        let images = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(images.path().join("mine/lib/systemd/systemd")).unwrap();
        std::fs::create_dir_all(images.path().join(".unfinished-x/lib/systemd/systemd")).unwrap();
        std::fs::create_dir_all(images.path().join("empty")).unwrap();
        assert_eq!(find(images.path(), "mine").unwrap(), images.path().join("mine"));
        assert_eq!(list(images.path()).unwrap(), ["mine"]);
    }

    #[test]
    fn an_interrupted_try_leaves_nothing_to_the_next_one() {
        let images = tempfile::tempdir().unwrap();
        let staging = Staging::of(images.path(), "mine");
        std::fs::create_dir_all(staging.temporary.join("mmdebstrap.gpghome.x")).unwrap();
        std::fs::create_dir_all(staging.root.join("usr")).unwrap();
        staging.begin().unwrap();
        assert_eq!(std::fs::read_dir(&staging.temporary).unwrap().count(), 0);
        assert!(!staging.root.exists());
        assert_eq!(list(images.path()).unwrap(), [""; 0]);
    }

    #[test]
    fn a_missing_image_is_refused_with_the_command_that_makes_it() {
        let images = tempfile::tempdir().unwrap();
        let fault = find(images.path(), "debian-12").unwrap_err();
        assert!(fault.remedy.contains("cooperage image build debian-12"), "{fault}");
        assert!(find(images.path(), "plan9").unwrap_err().remedy.contains("debian-12"));
        for name in ["", "..", "a/b", ".hidden", "a,b"] {
            assert_eq!(find(images.path(), name).unwrap_err().value, name);
        }
    }
}
