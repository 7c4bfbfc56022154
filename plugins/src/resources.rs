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

    /// A folder for files that are still being written, on the same disk, so that [`ResourceDirectory::place`] is one step.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn drafts(&self) -> Result<PathBuf, ResourceError> {
        let folder = self.root.join(".drafts");
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        Ok(folder)
    }

    /// Makes a file of [`ResourceDirectory::drafts`] a version.
    ///
    /// # Errors
    /// When a name is not allowed, or the disk refuses; then the version is not there.
    pub fn place(&self, key: &ResourceKey, version: u64, draft: &Path) -> Result<(), ResourceError> {
        let folder = self.folder(key)?;
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        let path = folder.join(version.to_string());
        fs::rename(draft, &path).map_err(at(&path))
    }

    /// The bytes of a version, to be read; `None` when there are none.
    ///
    /// # Errors
    /// When a name is not allowed, or the disk refuses.
    pub fn open(&self, key: &ResourceKey, version: u64) -> Result<Option<fs::File>, ResourceError> {
        let path = self.folder(key)?.join(version.to_string());
        match fs::File::open(&path) {
            Ok(file) => Ok(Some(file)),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(fault) => Err(at(&path)(fault)),
        }
    }

    /// Gives a new tenant all versions another one has, with those in use. The bytes are shared, since versions never change.
    ///
    /// # Errors
    /// When a name is not allowed, or the disk refuses; then some may be there, for [`ResourceDirectory::remove_tenant`].
    pub fn copy_tenant(&self, from: &str, to: &str) -> Result<(), ResourceError> {
        copy_folder(&self.tenant(from)?, &self.tenant(to)?)
    }

    /// Removes everything of a tenant.
    ///
    /// # Errors
    /// When the name is not allowed, or the disk refuses.
    pub fn remove_tenant(&self, tenant: &str) -> Result<(), ResourceError> {
        let folder = self.tenant(tenant)?;
        match fs::remove_dir_all(&folder) {
            Err(fault) if fault.kind() != io::ErrorKind::NotFound => Err(at(&folder)(fault)),
            _ => Ok(()),
        }
    }

    fn tenant(&self, tenant: &str) -> Result<PathBuf, ResourceError> {
        if !is_valid_name(tenant) || tenant.starts_with('.') {
            return Err(ResourceError::BadName(tenant.to_owned()));
        }
        Ok(self.root.join(tenant))
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

/// Files are linked, links are made again; a folder that is not there is an empty one.
fn copy_folder(from: &Path, to: &Path) -> Result<(), ResourceError> {
    let entries = match fs::read_dir(from) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(at(from))?,
    };
    fs::create_dir_all(to).map_err(at(to))?;
    for entry in entries {
        let entry = entry.map_err(at(from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(at(&source))?;
        if kind.is_dir() {
            copy_folder(&source, &target)?;
        } else if kind.is_symlink() {
            let aim = fs::read_link(&source).map_err(at(&source))?;
            std::os::unix::fs::symlink(aim, &target).map_err(at(&target))?;
        } else {
            fs::hard_link(&source, &target).map_err(at(&target))?;
        }
    }
    Ok(())
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
    fn a_tenant_begins_with_what_another_has_and_goes_with_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let resources = ResourceDirectory::new(folder.path());
        let draft = resources.drafts().unwrap().join("draft");
        fs::write(&draft, b"one").unwrap();
        resources.place(&key("web.sh"), 1, &draft).unwrap();
        assert!(!draft.exists());
        resources.activate(&key("web.sh"), Some(1)).unwrap();
        resources.copy_tenant("superadmin", "dept").unwrap();
        let copy = ResourceKey { tenant: "dept".into(), ..key("web.sh") };
        assert_eq!(resources.read_active(&copy).unwrap(), b"one");
        resources.activate(&copy, None).unwrap();
        assert!(resources.read_active(&key("web.sh")).is_ok(), "each has its own versions in use");
        resources.remove_tenant("dept").unwrap();
        assert!(resources.open(&copy, 1).unwrap().is_none());
        assert!(resources.open(&key("web.sh"), 1).unwrap().is_some());
        resources.copy_tenant("nobody", "dept").unwrap();
        assert!(resources.remove_tenant("..").is_err());
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
