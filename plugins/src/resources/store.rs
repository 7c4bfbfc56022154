//! What a place for resources has to offer.

use std::fs::File;
use std::path::Path;

use super::fault::ResourceError;

/// A place where bytes are kept by path: names joined by `/`, none of which is empty, begins with a dot or holds a slash.
///
/// Whoever reads a path while it is written sees the old bytes or the new ones. All calls may wait for a disk or a network.
pub trait ResourceStore: Send + Sync + std::fmt::Debug {
    /// Takes over a file of this host: it is at `path` afterwards, and may be gone from where it was.
    ///
    /// # Errors
    /// When it cannot be written; then what was at `path` still is.
    fn put(&self, path: &str, file: &Path) -> Result<(), ResourceError>;

    /// Writes a few bytes.
    ///
    /// # Errors
    /// When they cannot be written; then what was at `path` still is.
    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), ResourceError>;

    /// The bytes at `path` as a file, to be read from its beginning; `None` when there are none.
    ///
    /// # Errors
    /// When they cannot be had.
    fn open(&self, path: &str) -> Result<Option<File>, ResourceError>;

    /// The few bytes at `path`; `None` when there are none.
    ///
    /// # Errors
    /// When they cannot be read.
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, ResourceError>;

    /// Removes what is at `path`, if there is something.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn remove(&self, path: &str) -> Result<(), ResourceError>;

    /// All paths below `folder`.
    ///
    /// # Errors
    /// When they cannot be listed.
    fn list(&self, folder: &str) -> Result<Vec<String>, ResourceError>;

    /// Gives the folder `to`, which is not there, everything that is below `from`.
    ///
    /// # Errors
    /// When something cannot be copied; then a part may be there.
    fn copy_all(&self, from: &str, to: &str) -> Result<(), ResourceError>;

    /// Removes everything below `folder`.
    ///
    /// # Errors
    /// When something cannot be removed.
    fn remove_all(&self, folder: &str) -> Result<(), ResourceError>;
}
