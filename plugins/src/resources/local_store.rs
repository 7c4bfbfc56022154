//! Resources in a folder of this host.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::fault::{ResourceError, at};
use super::store::ResourceStore;

/// Resources below one folder.
#[derive(Debug, Clone)]
pub struct LocalStore {
    root: PathBuf,
}

impl LocalStore {
    /// Below `root`, which is made when something is written. Files that are [put](ResourceStore::put) must be on the same
    /// disk.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where a path is, in a folder that is there.
    fn place(&self, path: &str) -> Result<PathBuf, ResourceError> {
        let place = self.root.join(path);
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder).map_err(at(folder))?;
        }
        Ok(place)
    }
}

impl ResourceStore for LocalStore {
    fn put(&self, path: &str, file: &Path) -> Result<(), ResourceError> {
        let place = self.place(path)?;
        fs::rename(file, &place).map_err(at(&place))
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), ResourceError> {
        let place = self.place(path)?;
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        let draft = place.with_file_name(format!(".{name}.draft"));
        let mut file = File::create(&draft).map_err(at(&draft))?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(at(&draft))?;
        fs::rename(&draft, &place).map_err(at(&place))
    }

    fn open(&self, path: &str) -> Result<Option<File>, ResourceError> {
        let place = self.root.join(path);
        found(File::open(&place), &place)
    }

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, ResourceError> {
        let place = self.root.join(path);
        found(fs::read(&place), &place)
    }

    fn remove(&self, path: &str) -> Result<(), ResourceError> {
        let place = self.root.join(path);
        found(fs::remove_file(&place), &place).map(drop)
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, ResourceError> {
        let mut paths = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let place = self.root.join(&folder);
            let Some(entries) = found(fs::read_dir(&place), &place)? else { continue };
            for entry in entries {
                let entry = entry.map_err(at(&place))?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let path = format!("{folder}/{name}");
                if entry.file_type().map_err(at(&place))?.is_dir() {
                    folders.push(path);
                } else if !name.starts_with('.') {
                    paths.push(path);
                }
            }
        }
        Ok(paths)
    }

    fn copy_all(&self, from: &str, to: &str) -> Result<(), ResourceError> {
        copy_folder(&self.root.join(from), &self.root.join(to))
    }

    fn remove_all(&self, folder: &str) -> Result<(), ResourceError> {
        let place = self.root.join(folder);
        found(fs::remove_dir_all(&place), &place).map(drop)
    }
}

/// What is not there is no fault.
fn found<T>(result: io::Result<T>, place: &Path) -> Result<Option<T>, ResourceError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(fault) => Err(at(place)(fault)),
    }
}

/// Files are linked and share their bytes, since they are replaced and never changed. A folder that is not there is empty.
fn copy_folder(from: &Path, to: &Path) -> Result<(), ResourceError> {
    let Some(entries) = found(fs::read_dir(from), from)? else { return Ok(()) };
    fs::create_dir_all(to).map_err(at(to))?;
    for entry in entries {
        let entry = entry.map_err(at(from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().map_err(at(&source))?.is_dir() {
            copy_folder(&source, &target)?;
        } else {
            fs::hard_link(&source, &target).map_err(at(&target))?;
        }
    }
    Ok(())
}
