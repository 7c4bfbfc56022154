//! The directory of the demo, and what lies where in it.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::failure::Failure;

/// How often, and after which pauses, a demo that is at work is looked at once more.
const LOCK_TRIES: u32 = 50;
const LOCK_PAUSE: Duration = Duration::from_millis(100);

/// The directory of the demo.
pub(super) struct Place {
    root: PathBuf,
}

impl Place {
    /// At a path, which need not exist.
    pub(super) fn at(path: &Path) -> Result<Self, Failure> {
        let root = std::path::absolute(path).map_err(|source| Failure::file("use", path, source))?;
        Ok(Self { root })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Settings of the demo's server; also tells its process from others.
    pub(super) fn settings(&self) -> PathBuf {
        self.root.join("demo.toml")
    }

    /// What the server prints.
    pub(super) fn log(&self) -> PathBuf {
        self.root.join("server.log")
    }

    /// The server's process, for people.
    pub(super) fn pid(&self) -> PathBuf {
        self.root.join("server.pid")
    }

    /// The token the server makes for its first administrator.
    pub(super) fn token(&self) -> PathBuf {
        self.root.join("admin.token")
    }

    /// Base images.
    pub(super) fn images(&self) -> PathBuf {
        self.root.join("images")
    }

    /// Makes the directory, for its owner only: a token lies in it.
    fn make(&self) -> Result<(), Failure> {
        use std::os::unix::fs::DirBuilderExt;
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.root);
        made.map_err(|source| Failure::file("make", &self.root, source))
    }

    /// Keeps a second demo out while this one is at work. One that was killed keeps nobody out, but may take a moment to
    /// be gone.
    pub(super) async fn lock(&self) -> Result<File, Failure> {
        let path = self.root.join("demo.lock");
        for _ in 0..LOCK_TRIES {
            // A demo that removed the directory took the file with it.
            self.make()?;
            let file = File::create(&path).map_err(|source| Failure::file("make", &path, source))?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => return Ok(file),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => tokio::time::sleep(LOCK_PAUSE).await,
                Err(TryLockError::Error(source)) => return Err(Failure::file("lock", &path, source)),
            }
        }
        Err(Failure::refused(
            format!("another `cooperage demo` is at work in {}", self.root.display()),
            "wait until it is done, or use another --data-dir",
        ))
    }

    /// Writes a file as a whole: readers find the old one or the new one.
    pub(super) fn write(&self, path: &Path, text: &str) -> Result<(), Failure> {
        let failed = |source| Failure::file("write", path, source);
        let mut file = tempfile::NamedTempFile::new_in(&self.root).map_err(failed)?;
        file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        file.persist(path).map(drop).map_err(|fault| failed(fault.error))
    }

    /// Removes the directory, unless disks of machines are still mounted below it.
    pub(super) fn remove(&self) -> Result<(), Failure> {
        let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let mounts = mounts_below(&table, &self.root);
        if let Some(mount) = mounts.first() {
            return Err(Failure::refused(
                format!(
                    "{} machines still have disks below {}, such as {mount}",
                    mounts.len(),
                    self.root.display()
                ),
                format!("give the command again; {} says why they are still there", self.log().display()),
            ));
        }
        match std::fs::remove_dir_all(&self.root) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(Failure::file("remove", &self.root, source))
            }
            _ => Ok(()),
        }
    }
}

/// Whether a file is (still) the one at a path.
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let inode = |metadata: std::fs::Metadata| metadata.ino();
    file.metadata().map(inode).ok() == std::fs::metadata(path).map(inode).ok()
}

/// Mount points below a directory, from the kernel's table: the fifth word of each line.
pub(super) fn mounts_below<'a>(table: &'a str, root: &Path) -> Vec<&'a str> {
    let points = table.lines().filter_map(|line| line.split(' ').nth(4));
    points.filter(|point| Path::new(point).starts_with(root)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_found_below_the_directory_only() {
        let table = "22 1 0:20 / /proc rw - proc proc rw\n\
            90 1 0:50 / /d/demo/local/m1/disk rw - overlay overlay rw\n\
            91 1 0:50 / /d/demo2/x rw - overlay overlay rw\n";
        assert_eq!(mounts_below(table, Path::new("/d/demo")), ["/d/demo/local/m1/disk"]);
    }

    #[tokio::test(start_paused = true)]
    async fn one_demo_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let place = Place::at(root.path()).unwrap();
        let first = place.lock().await.unwrap();
        assert!(place.lock().await.is_err());
        drop(first);
        place.lock().await.unwrap();
    }

    #[test]
    fn what_is_written_is_there_as_a_whole_and_removed_with_the_rest() {
        let root = tempfile::tempdir().unwrap();
        let place = Place::at(&root.path().join("demo")).unwrap();
        place.make().unwrap();
        place.make().unwrap();
        place.write(&place.pid(), "1").unwrap();
        place.write(&place.pid(), "2").unwrap();
        assert_eq!(std::fs::read_to_string(place.pid()).unwrap(), "2");
        place.remove().unwrap();
        place.remove().unwrap();
        assert!(!place.root().exists());
    }
}
