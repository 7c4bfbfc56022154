//! Plugin resources: files that plugins use, by tenant, plugin, kind, name and version.
//!
//! ```text
//!   TENANT/automatortypes/shell/scripts/nginx.sh/3        the bytes of version 3
//!   TENANT/automatortypes/shell/scripts/nginx.sh/active   which version is in use, and the hash of its bytes
//! ```
//!
//! A version never changes once it is written; what is in use changes in one step, so a task sees the old or the new
//! version and nothing between. Bytes are hashed again whenever they are opened: what came to harm on a disk or on the way
//! is refused and never used.
//!
//! Where this lies is said by a [`ResourceStore`]; [`LocalStore`] is a folder.

pub mod archive;
mod fault;
mod local_store;
mod store;

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cooperage_domain::entity::is_valid_name;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use archive::ArchiveLimits;
pub use fault::ResourceError;
pub use local_store::LocalStore;
pub use store::ResourceStore;

use fault::at;

/// Name of what says which version is in use.
const ACTIVE: &str = "active";
/// Folder of files that are still being written.
const DRAFTS: &str = ".drafts";
/// How much is hashed at once, in bytes.
const CHUNK: usize = 64 * 1024;

/// Whose plugins a resource belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

impl std::fmt::Display for ResourceKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.plugin, self.kind, self.name)
    }
}

/// The version of a resource that is in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Active {
    /// Its number.
    pub version: u64,
    /// Hash of its bytes, in hexadecimal.
    pub sha256: String,
}

/// All plugin resources. Its calls wait for a disk or a network: never make one where nothing may block.
#[derive(Debug, Clone)]
pub struct PluginResources {
    store: Arc<dyn ResourceStore>,
    drafts: PathBuf,
}

impl PluginResources {
    /// Kept in `store`; what is still being written is below `folder`, on this host.
    #[must_use]
    pub fn new(store: Arc<dyn ResourceStore>, folder: &Path) -> Self {
        Self { store, drafts: folder.join(DRAFTS) }
    }

    /// Kept below `folder`, which is made when something is written.
    #[must_use]
    pub fn local(folder: &Path) -> Self {
        Self::new(Arc::new(LocalStore::new(folder)), folder)
    }

    /// A folder on this host for files that are still being written.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn drafts(&self) -> Result<PathBuf, ResourceError> {
        fs::create_dir_all(&self.drafts).map_err(at(&self.drafts))?;
        Ok(self.drafts.clone())
    }

    /// Removes drafts that nobody writes any more: all of them, so only call it before the first one. Gives how many.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn sweep_drafts(&self) -> Result<usize, ResourceError> {
        let entries = match fs::read_dir(&self.drafts) {
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(0),
            entries => entries.map_err(at(&self.drafts))?,
        };
        let mut swept = 0;
        for entry in entries {
            let path = entry.map_err(at(&self.drafts))?.path();
            fs::remove_file(&path).map_err(at(&path))?;
            swept += 1;
        }
        Ok(swept)
    }

    /// Makes a file of [`PluginResources::drafts`] a version.
    ///
    /// # Errors
    /// When a name is not allowed, or the store refuses; then the version is not there.
    pub fn place(&self, key: &ResourceKey, version: u64, draft: &Path) -> Result<(), ResourceError> {
        self.store.put(&format!("{}/{version}", folder(key)?), draft)
    }

    /// The bytes of a version, to be read from their beginning; `None` when there are none.
    ///
    /// # Errors
    /// [`ResourceError::Corrupt`] when they are not those with this hash; when a name is not allowed, or the store refuses.
    pub fn open(&self, key: &ResourceKey, version: u64, sha256: &str) -> Result<Option<File>, ResourceError> {
        let path = format!("{}/{version}", folder(key)?);
        let Some(mut file) = self.store.open(&path)? else { return Ok(None) };
        let found = hash(&mut file).and_then(|found| file.rewind().map(|()| found));
        let found = found.map_err(at(Path::new(&path)))?;
        if found == sha256 {
            return Ok(Some(file));
        }
        let (resource, expected) = (key.to_string(), sha256.to_owned());
        Err(ResourceError::Corrupt { resource, version, expected, found })
    }

    /// Puts a version to use, or none.
    ///
    /// # Errors
    /// When a name is not allowed, or the store refuses; then nothing has changed.
    pub fn activate(&self, key: &ResourceKey, active: Option<&Active>) -> Result<(), ResourceError> {
        let path = format!("{}/{ACTIVE}", folder(key)?);
        match active {
            None => self.store.remove(&path),
            Some(active) => {
                let text = serde_json::json!({ "version": active.version, "sha256": active.sha256 });
                self.store.write(&path, text.to_string().as_bytes())
            }
        }
    }

    /// The version in use, if there is one.
    ///
    /// # Errors
    /// When a name is not allowed, the store refuses, or what it holds cannot be understood.
    pub fn active(&self, key: &ResourceKey) -> Result<Option<Active>, ResourceError> {
        let path = format!("{}/{ACTIVE}", folder(key)?);
        let Some(bytes) = self.store.read(&path)? else { return Ok(None) };
        let active = serde_json::from_slice(&bytes).map_err(io::Error::other);
        active.map(Some).map_err(at(Path::new(&path)))
    }

    /// The bytes of the version in use, to be read from their beginning.
    ///
    /// # Errors
    /// [`ResourceError::NotActive`] when none is in use; [`ResourceError::Corrupt`] when they came to harm; when a name is
    /// not allowed, or the store refuses.
    pub fn open_active(&self, key: &ResourceKey) -> Result<File, ResourceError> {
        let missing = || ResourceError::NotActive {
            plugin: key.plugin.clone(),
            kind: key.kind.clone(),
            name: key.name.clone(),
        };
        let active = self.active(key)?.ok_or_else(missing)?;
        self.open(key, active.version, &active.sha256)?.ok_or_else(missing)
    }

    /// The bytes of the version in use.
    ///
    /// # Errors
    /// As [`PluginResources::open_active`].
    pub fn read_active(&self, key: &ResourceKey) -> Result<Vec<u8>, ResourceError> {
        let mut bytes = Vec::new();
        self.open_active(key)?.read_to_end(&mut bytes).map_err(at(Path::new(&key.name)))?;
        Ok(bytes)
    }

    /// The resources of a tenant's plugin that are in use, in order.
    ///
    /// # Errors
    /// When a name is not allowed, or the store refuses.
    pub fn in_use(&self, tenant: &str, side: Side, plugin: &str) -> Result<Vec<ResourceKey>, ResourceError> {
        let prefix = [valid(tenant)?, side.as_str(), valid(plugin)?].join("/");
        let key = |path: &str| {
            let mut parts = path.strip_prefix(&prefix)?.strip_prefix('/')?.split('/');
            let (kind, name) = (parts.next()?.to_owned(), parts.next()?.to_owned());
            let is_mark = parts.next() == Some(ACTIVE) && parts.next().is_none();
            let (tenant, plugin) = (tenant.to_owned(), plugin.to_owned());
            is_mark.then_some(ResourceKey { tenant, side, plugin, kind, name })
        };
        let mut found: Vec<_> = self.store.list(&prefix)?.iter().filter_map(|path| key(path)).collect();
        found.sort();
        Ok(found)
    }

    /// Removes a version.
    ///
    /// # Errors
    /// When a name is not allowed, or the store refuses.
    pub fn remove(&self, key: &ResourceKey, version: u64) -> Result<(), ResourceError> {
        self.store.remove(&format!("{}/{version}", folder(key)?))
    }

    /// Gives a new tenant all versions another one has, with those in use.
    ///
    /// # Errors
    /// When a name is not allowed, or the store refuses; then some may be there, for [`PluginResources::remove_tenant`].
    pub fn copy_tenant(&self, from: &str, to: &str) -> Result<(), ResourceError> {
        self.store.copy_all(valid(from)?, valid(to)?)
    }

    /// Removes everything of a tenant.
    ///
    /// # Errors
    /// When the name is not allowed, or the store refuses.
    pub fn remove_tenant(&self, tenant: &str) -> Result<(), ResourceError> {
        self.store.remove_all(valid(tenant)?)
    }
}

/// Where a resource is, in all its versions.
fn folder(key: &ResourceKey) -> Result<String, ResourceError> {
    let parts = [key.tenant.as_str(), key.side.as_str(), &key.plugin, &key.kind, &key.name];
    let parts: Vec<&str> = parts.into_iter().map(valid).collect::<Result<_, _>>()?;
    Ok(parts.join("/"))
}

fn valid(part: &str) -> Result<&str, ResourceError> {
    if is_valid_name(part) && !part.starts_with('.') {
        return Ok(part);
    }
    Err(ResourceError::BadName(part.to_owned()))
}

/// The hash of what is left to read, in hexadecimal.
pub(crate) fn hash(bytes: &mut impl Read) -> io::Result<String> {
    let (mut hash, mut chunk) = (Sha256::new(), vec![0; CHUNK]);
    loop {
        match bytes.read(&mut chunk)? {
            0 => return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            read => hash.update(&chunk[..read]),
        }
    }
}

#[cfg(test)]
mod tests;
