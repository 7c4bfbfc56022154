//! A machine's disk: its own layer over the image's base directory, which no machine ever changes.

use std::path::{Path, PathBuf};

use super::blocking::blocking;
use super::fault::{At, LocalError};
use super::host_command::run;

/// The parts of one machine's disk, below its directory.
#[derive(Debug, Clone)]
pub(super) struct Disk {
    /// What the machine changed.
    upper: PathBuf,
    /// Scratch space of the file system.
    work: PathBuf,
    /// What the machine sees.
    pub(super) root: PathBuf,
}

/// Each crash between looking for the mount and mounting can add one more; this many never happen.
const MOST_MOUNTS: usize = 16;

impl Disk {
    /// Of the machine with this directory.
    pub(super) fn new(directory: &Path) -> Self {
        Self { upper: directory.join("up"), work: directory.join("work"), root: directory.join("root") }
    }

    /// Makes sure that the disk is there, over this base directory.
    pub(super) async fn mount(&self, base: &Path) -> Result<(), LocalError> {
        if is_mounted(&self.root).await? {
            return Ok(());
        }
        let disk = self.clone();
        blocking(move || disk.make_directories()).await?;
        let options = format!(
            "lowerdir={},upperdir={},workdir={}",
            base.display(),
            self.upper.display(),
            self.work.display()
        );
        run(
            "mount",
            [
                "-t".as_ref(),
                "overlay".as_ref(),
                "overlay".as_ref(),
                "-o".as_ref(),
                options.as_ref(),
                self.root.as_os_str(),
            ],
        )
        .await?;
        Ok(())
    }

    /// Takes the disk out of the host's tree. What the machine changed is kept.
    pub(super) async fn unmount(&self) -> Result<(), LocalError> {
        for _ in 0..MOST_MOUNTS {
            if !is_mounted(&self.root).await? {
                break;
            }
            // Lazily: somebody on the host may be looking at it.
            run("umount", ["--lazy".as_ref(), self.root.as_os_str()]).await?;
        }
        Ok(())
    }

    /// The layer's own mode becomes that of the machine's root directory, which everybody in it must be able to enter.
    fn make_directories(&self) -> Result<(), LocalError> {
        use std::os::unix::fs::PermissionsExt;
        for directory in [&self.upper, &self.work, &self.root] {
            std::fs::create_dir_all(directory).at("make", directory)?;
            let open = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(directory, open).at("set the mode of", directory)?;
        }
        Ok(())
    }
}

/// Whether something is mounted at exactly this path (one without white space).
pub(super) async fn is_mounted(path: &Path) -> Result<bool, LocalError> {
    const MOUNTS: &str = "/proc/self/mounts";
    let mounts = tokio::fs::read_to_string(MOUNTS).await.at("read", MOUNTS)?;
    Ok(mounts.lines().any(|line| line.split(' ').nth(1).is_some_and(|at| Path::new(at) == path)))
}
