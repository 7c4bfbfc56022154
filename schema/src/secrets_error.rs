//! Why secrets cannot be kept or read.

use std::path::{Path, PathBuf};

/// Why secrets cannot be kept or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretsError {
    /// The file cannot be read, written, or is no key file.
    #[error(
        "the key file {}: {cause}; restore it from a backup, or make it and its folder readable and writable for the \
         user that runs the server", path.display()
    )]
    KeyFile {
        /// Which file.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// Others may read the file.
    #[error("the key file {} may be read or written by others (mode {mode:o}); run: chmod 600 {}", path.display(), path.display())]
    Exposed {
        /// Which file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// It is somebody else's.
    #[error(
        "the key file {} belongs to user {owner}, and this program runs as user {user}; run it as {owner}, or give the \
         file to {user} with chown", path.display()
    )]
    Foreign {
        /// Which file.
        path: PathBuf,
        /// Whose it is, as the system's number.
        owner: u32,
        /// Who we are.
        user: u32,
    },
    /// It is gone, though it is needed.
    #[error(
        "the key file {} is missing, and the database holds secrets that only its keys open; restore it from a backup, \
         or name the place where it is in secrets.key_file", path.display()
    )]
    Missing {
        /// Which file.
        path: PathBuf,
    },
    /// It is another installation's.
    #[error(
        "the key file {} is not the one with which the secrets in the database are sealed: it has no key {master}; put \
         the right file there, or name its place in secrets.key_file", path.display()
    )]
    WrongKey {
        /// Which file.
        path: PathBuf,
        /// Id of the key that is needed.
        master: String,
    },
    /// Something sealed was changed or moved.
    #[error(
        "{what} does not open: it was changed, or stands where it does not belong; restore the database from a backup"
    )]
    Damaged {
        /// What.
        what: String,
    },
    /// Nobody said where the keys are.
    #[error(
        "no key file is named, so that secrets can neither be kept nor read; name one in secrets.key_file"
    )]
    NoKeyFile,
}

impl SecretsError {
    pub(crate) fn file(path: &Path, cause: &impl ToString) -> Self {
        Self::KeyFile { path: path.to_owned(), cause: cause.to_string() }
    }
}
