//! Plugin resources on disk: files that plugins use, by tenant, plugin, kind, name and version.
//!
//! ```text
//!   ROOT/TENANT/automatortypes/shell/scripts/nginx.sh/3        the bytes of version 3
//!   ROOT/TENANT/automatortypes/shell/scripts/nginx.sh/active   a link to the version in use
//! ```
//!
//! A version never changes once it is written; switching the link is one step, so a task sees the old or the new version
//! and nothing between.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cooperage_domain::entity::is_valid_name;

/// Whose plugins a resource belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// An automator's.
    Automator,
    /// A provider's.
    Provider,
}

impl Side {
    /// The segment of a path.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Automator => "automatortypes",
            Self::Provider => "providertypes",
        }
    }
}

/// Names one resource, in all its versions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ResourceKey {
    /// Internal id of the tenant.
    pub tenant: String,
    /// Whose plugin.
    pub side: Side,
    /// The plugin type.
    pub plugin: String,
    /// The kind of resource, as the plugin's descriptor names it.
    pub kind: String,
    /// The resource.
    pub name: String,
}

/// Why a resource cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ResourceError {
    /// No version of it is in use.
    #[error(
        "there is no active {kind} resource {name:?} of {plugin}; upload one, stage it and sync, or apply the catalog \
         folder that holds it"
    )]
    NotActive {
        /// The plugin type.
        plugin: String,
        /// The kind of resource.
        kind: String,
        /// The resource.
        name: String,
    },
    /// A part of its name could leave the folder.
    #[error("{0:?} is not a valid name: use 1 to 255 letters, digits, '_', '.' or '-'")]
    BadName(String),
    /// The disk refuses.
    #[error("{path}: {source}")]
    Disk {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Plugin resources below one folder.
#[derive(Debug, Clone)]
pub struct ResourceDirectory {
    root: PathBuf,
}

impl ResourceDirectory {
    /// Below `root`, which is made when something is written.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Writes a version; one that is there already is replaced by the same bytes.
    ///
    /// # Errors
    /// When a name is not allowed, or the disk refuses; then the version is not there.
    pub fn write(&self, key: &ResourceKey, version: u64, bytes: &[u8]) -> Result<(), ResourceError> {
        let folder = self.folder(key)?;
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        let path = folder.join(version.to_string());
        let draft = folder.join(format!(".{version}.draft"));
        let mut file = fs::File::create(&draft).map_err(at(&draft))?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(at(&draft))?;
        fs::rename(&draft, &path).map_err(at(&path))
    }

    /// Puts a version to use, or none.
    ///
    /// # Errors
    /// When a name is not allowed, or the disk refuses; then nothing has changed.
    pub fn activate(&self, key: &ResourceKey, version: Option<u64>) -> Result<(), ResourceError> {
        let folder = self.folder(key)?;
        let link = folder.join("active");
        let Some(version) = version else {
            return match fs::remove_file(&link) {
                Err(fault) if fault.kind() != io::ErrorKind::NotFound => Err(at(&link)(fault)),
                _ => Ok(()),
            };
        };
        let draft = folder.join(format!(".active-{version}"));
        let _ = fs::remove_file(&draft);
        std::os::unix::fs::symlink(version.to_string(), &draft).map_err(at(&draft))?;
        fs::rename(&draft, &link).map_err(at(&link))
    }

    /// Removes a version.
    ///
    /// # Errors
    /// When a name is not allowed, or the disk refuses.
    pub fn remove(&self, key: &ResourceKey, version: u64) -> Result<(), ResourceError> {
        let path = self.folder(key)?.join(version.to_string());
        match fs::remove_file(&path) {
            Err(fault) if fault.kind() != io::ErrorKind::NotFound => Err(at(&path)(fault)),
            _ => Ok(()),
        }
    }

    /// The bytes of the version in use.
    ///
    /// # Errors
    /// When no version is in use, or it cannot be read.
    pub fn read_active(&self, key: &ResourceKey) -> Result<Vec<u8>, ResourceError> {
        let path = self.folder(key)?.join("active");
        match fs::read(&path) {
            Ok(bytes) => Ok(bytes),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Err(ResourceError::NotActive {
                plugin: key.plugin.clone(),
                kind: key.kind.clone(),
                name: key.name.clone(),
            }),
            Err(fault) => Err(at(&path)(fault)),
        }
    }

    fn folder(&self, key: &ResourceKey) -> Result<PathBuf, ResourceError> {
        let mut folder = self.root.clone();
        for part in [key.tenant.as_str(), key.side.as_str(), &key.plugin, &key.kind, &key.name] {
            if !is_valid_name(part) || part.starts_with('.') {
                return Err(ResourceError::BadName(part.to_owned()));
            }
            folder.push(part);
        }
        Ok(folder)
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> ResourceError + '_ {
    move |source| ResourceError::Disk { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> ResourceKey {
        ResourceKey {
            tenant: "superadmin".into(),
            side: Side::Automator,
            plugin: "shell".into(),
            kind: "scripts".into(),
            name: name.into(),
        }
    }

    #[test]
    fn a_version_is_used_only_once_it_is_active() {
        let folder = tempfile::tempdir().unwrap();
        let resources = ResourceDirectory::new(folder.path());
        let web = key("web.sh");
        resources.write(&web, 1, b"one").unwrap();
        assert!(matches!(resources.read_active(&web), Err(ResourceError::NotActive { .. })));
        resources.activate(&web, Some(1)).unwrap();
        resources.write(&web, 2, b"two").unwrap();
        assert_eq!(resources.read_active(&web).unwrap(), b"one");
        resources.activate(&web, Some(2)).unwrap();
        assert_eq!(resources.read_active(&web).unwrap(), b"two");
        resources.activate(&web, None).unwrap();
        assert!(resources.read_active(&web).is_err());
    }

    #[test]
    fn names_cannot_leave_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let resources = ResourceDirectory::new(folder.path());
        for name in ["..", "a/b", "", ".hidden"] {
            assert!(matches!(resources.write(&key(name), 1, b""), Err(ResourceError::BadName(_))), "{name}");
        }
    }
}
