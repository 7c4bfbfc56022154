//! Plugin resources of a provisioner that gets them from elsewhere: bytes by their hash, and snapshots that never change.
//!
//! ```text
//!   ROOT/blobs/SHA256                  bytes, once, however many versions and tenants have them
//!   ROOT/snapshots/SHA256/TENANT/…     a tenant's versions in use, as `PluginResources`; files are links to the blobs
//! ```
//!
//! Nothing is kept whose hash is not the one that was announced. A snapshot is named after what is in it and is made in one
//! step, so a task that began with one sees exactly it to its end.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::resources::{Active, PluginResources, ResourceError, ResourceKey, hash};

/// Where blobs and snapshots are kept.
#[derive(Debug, Clone)]
pub struct SnapshotStore {
    root: PathBuf,
}

/// A version that is part of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// The resource.
    pub key: ResourceKey,
    /// Its version.
    pub version: u64,
    /// Hash of its bytes, in hexadecimal.
    pub sha256: String,
}

/// Why bytes are not kept, or not used.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// They are not what was announced.
    #[error(
        "its bytes have the SHA-256 {found}, and {announced} was announced: they are refused; see whether the server's \
         copy is damaged, and upload the resource again"
    )]
    WrongHash {
        /// What the server says.
        announced: String,
        /// What came.
        found: String,
    },
    /// What was announced is no hash.
    #[error("{0:?} is no SHA-256 in hexadecimal")]
    NoHash(String),
    /// A name is not allowed, or the disk refuses.
    #[error(transparent)]
    Resource(#[from] ResourceError),
    /// The disk refuses.
    #[error("{path}: {source}")]
    Disk {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl SnapshotStore {
    /// Below `root`. What an earlier process had under way is removed; its blobs are kept.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, SnapshotError> {
        let store = Self { root: root.into() };
        for name in ["snapshots", "drafts"] {
            let folder = store.root.join(name);
            match fs::remove_dir_all(&folder) {
                Err(fault) if fault.kind() != io::ErrorKind::NotFound => return Err(at(&folder)(fault)),
                _ => {}
            }
        }
        for name in ["blobs", "snapshots", "drafts"] {
            let folder = store.root.join(name);
            fs::create_dir_all(&folder).map_err(at(&folder))?;
        }
        Ok(store)
    }

    /// A folder for bytes that are on their way, on the same disk.
    #[must_use]
    pub fn drafts(&self) -> PathBuf {
        self.root.join("drafts")
    }

    /// Whether bytes with this hash are there and undamaged. Damaged ones are removed.
    ///
    /// # Errors
    /// When it is no hash, or the disk refuses.
    pub fn holds(&self, sha256: &str) -> Result<bool, SnapshotError> {
        let path = self.blob(sha256)?;
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(fault) => return Err(at(&path)(fault)),
        };
        if hash(&mut file).map_err(at(&path))? == sha256 {
            return Ok(true);
        }
        fs::remove_file(&path).map_err(at(&path))?;
        Ok(false)
    }

    /// Keeps a draft, if its bytes are those that were announced; without an announcement whatever they are. Gives their hash.
    ///
    /// # Errors
    /// [`SnapshotError::WrongHash`], or that the disk refuses; then nothing is kept.
    pub fn keep(&self, draft: &Path, announced: Option<&str>) -> Result<String, SnapshotError> {
        let mut file = File::open(draft).map_err(at(draft))?;
        let found = hash(&mut file).map_err(at(draft))?;
        if let Some(announced) = announced.filter(|announced| *announced != found) {
            return Err(SnapshotError::WrongHash { announced: announced.to_owned(), found });
        }
        file.sync_all().map_err(at(draft))?;
        let path = self.blob(&found)?;
        fs::rename(draft, &path).map_err(at(&path))?;
        Ok(found)
    }

    /// The snapshot that holds exactly these versions, all of them in use. Their bytes must be there.
    ///
    /// # Errors
    /// When a name is not allowed, bytes are missing, or the disk refuses.
    pub fn snapshot(&self, pinned: &[Pinned]) -> Result<PluginResources, SnapshotError> {
        let mut names: Vec<String> = pinned.iter().map(|one| format!("{one:?}")).collect();
        names.sort_unstable();
        let name = hash(&mut names.join("\n").as_bytes()).map_err(at(&self.root))?;
        let path = self.root.join("snapshots").join(&name);
        if !path.exists() {
            let draft =
                tempfile::Builder::new().prefix(&name).tempdir_in(self.drafts()).map_err(at(&path))?;
            let inside = PluginResources::local(draft.path());
            for Pinned { key, version, sha256 } in pinned {
                let link = inside.drafts()?.join(format!("{version}"));
                let blob = self.blob(sha256)?;
                fs::hard_link(&blob, &link).map_err(at(&blob))?;
                inside.place(key, *version, &link)?;
                let active = Active { version: *version, sha256: sha256.clone() };
                inside.activate(key, Some(&active))?;
            }
            match fs::rename(draft.path(), &path) {
                // Somebody else made the same one meanwhile.
                Err(_) if path.exists() => {}
                renamed => renamed.map_err(at(&path))?,
            }
        }
        Ok(PluginResources::local(&path))
    }

    /// A hash comes from elsewhere and becomes part of a path.
    fn blob(&self, sha256: &str) -> Result<PathBuf, SnapshotError> {
        let is_hash =
            sha256.len() == 64 && sha256.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if is_hash {
            Ok(self.root.join("blobs").join(sha256))
        } else {
            Err(SnapshotError::NoHash(sha256.to_owned()))
        }
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> SnapshotError + '_ {
    move |source| SnapshotError::Disk { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Side;

    fn key(tenant: &str, name: &str) -> ResourceKey {
        ResourceKey {
            tenant: tenant.into(),
            side: Side::Automator,
            plugin: "shell".into(),
            kind: "scripts".into(),
            name: name.into(),
        }
    }

    fn keep(store: &SnapshotStore, bytes: &[u8], announced: Option<&str>) -> Result<String, SnapshotError> {
        let draft = store.drafts().join("draft");
        fs::write(&draft, bytes).unwrap();
        store.keep(&draft, announced)
    }

    #[test]
    fn bytes_that_are_not_what_was_announced_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let store = SnapshotStore::open(folder.path()).unwrap();
        let right = hash(&mut &b"right"[..]).unwrap();
        let refused = keep(&store, b"wrong", Some(&right)).unwrap_err();
        assert!(matches!(refused, SnapshotError::WrongHash { .. }), "{refused}");
        assert!(!store.holds(&right).unwrap());
        assert_eq!(keep(&store, b"right", Some(&right)).unwrap(), right);
        assert!(store.holds(&right).unwrap());
        assert!(matches!(store.holds("../../etc/passwd"), Err(SnapshotError::NoHash(_))));
    }

    #[test]
    fn damaged_bytes_are_noticed_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let store = SnapshotStore::open(folder.path()).unwrap();
        let sha256 = keep(&store, b"some", None).unwrap();
        fs::write(folder.path().join("blobs").join(&sha256), b"so").unwrap();
        assert!(!store.holds(&sha256).unwrap());
        assert!(!folder.path().join("blobs").join(&sha256).exists());
    }

    #[test]
    fn a_snapshot_stays_as_it_is_when_there_is_a_newer_one() {
        let folder = tempfile::tempdir().unwrap();
        let store = SnapshotStore::open(folder.path()).unwrap();
        let pin = |version, bytes: &[u8]| Pinned {
            key: key("dept", "web.sh"),
            version,
            sha256: keep(&store, bytes, None).unwrap(),
        };
        let (one, two) = (pin(1, b"one"), pin(2, b"two"));
        let old = store.snapshot(std::slice::from_ref(&one)).unwrap();
        let new = store.snapshot(&[two]).unwrap();
        let web = key("dept", "web.sh");
        assert_eq!(old.read_active(&web).unwrap(), b"one");
        assert_eq!(new.read_active(&web).unwrap(), b"two");
        assert!(old.read_active(&key("other", "web.sh")).is_err(), "no tenant sees another one's");
        assert_eq!(store.snapshot(&[one]).unwrap().read_active(&web).unwrap(), b"one", "it is made once");
        assert!(store.snapshot(&[]).unwrap().read_active(&web).is_err());
    }
}
