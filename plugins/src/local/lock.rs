//! Locks between processes on this host, which the system lets go of when their holder dies.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::fault::{At, LocalError};

/// A held lock. Dropping it lets go.
#[derive(Debug)]
pub(super) struct FileLock {
    path: PathBuf,
    _file: File,
}

impl FileLock {
    /// Waits for the lock on this file, which is made if needed, with its directory.
    pub(super) async fn acquire(path: impl Into<PathBuf>) -> Result<Self, LocalError> {
        let path = path.into();
        let wanted = path.clone();
        // Waiting blocks a thread, so it happens on one that may be blocked.
        let file = tokio::task::spawn_blocking(move || lock(&wanted))
            .await
            .unwrap_or_else(|e| Err(io::Error::other(e)))
            .at("lock", &path)?;
        Ok(Self { path, _file: file })
    }

    /// Lets go and removes the file. Who waits for it meanwhile makes a new one.
    pub(super) fn remove(self) -> Result<(), LocalError> {
        match std::fs::remove_file(&self.path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e).at("remove", &self.path),
            _ => Ok(()),
        }
    }
}

fn lock(path: &Path) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    loop {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        file.lock()?;
        // The holder before us may have removed the file: then our lock is on a file nobody else will ever open.
        match std::fs::metadata(path) {
            Ok(there) if there.ino() == file.metadata()?.ino() => return Ok(file),
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn one_at_a_time_even_when_holders_remove_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep/lock");
        let inside = AtomicU32::new(0);
        let visit = async |remove| {
            let held = FileLock::acquire(&path).await.unwrap();
            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two held it at once");
            tokio::task::yield_now().await;
            inside.fetch_sub(1, Ordering::SeqCst);
            if remove {
                held.remove().unwrap();
            }
        };
        futures::future::join_all((0..50).map(|i| visit(i % 2 == 0))).await;
    }
}
