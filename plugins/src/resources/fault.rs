//! Why a resource cannot be used.

use std::io;
use std::path::{Path, PathBuf};

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
    /// Its bytes are not those that were uploaded.
    #[error(
        "version {version} of resource {resource} came to harm: its SHA-256 is {found}, and it was uploaded with \
         {expected}; it is not used: upload it again, stage the new version and sync"
    )]
    Corrupt {
        /// Plugin, kind and name.
        resource: String,
        /// Which version.
        version: u64,
        /// The hash of what was uploaded.
        expected: String,
        /// The hash of what is there now.
        found: String,
    },
    /// The disk refuses.
    #[error("{path}: {source}")]
    Disk {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A store elsewhere refuses, or does not answer.
    #[error("{store}: {path}: {fault}")]
    Store {
        /// Which one, without secrets.
        store: String,
        /// What it was asked for.
        path: String,
        /// What it says.
        fault: String,
    },
}

/// Says in an I/O error which file it is about.
pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> ResourceError + '_ {
    move |source| ResourceError::Disk { path: path.to_owned(), source }
}
