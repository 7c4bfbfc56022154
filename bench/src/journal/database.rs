//! Databases that are made for a measurement and are gone after it.

use cooperage_schema::{DatabaseUrl, Scratch, Store, StoreOptions};
use tempfile::TempDir;

use crate::BenchError;

/// A database for one measurement.
pub struct Database {
    url: DatabaseUrl,
    /// Holds the file with the keys of secrets, and the database if it is a file.
    folder: TempDir,
    _scratch: Option<Scratch>,
}

impl Database {
    /// A store on it, with secrets.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(&self) -> Result<Store, BenchError> {
        let secrets_key = Some(self.folder.path().join("key"));
        Ok(Store::open(&self.url, StoreOptions { secrets_key, ..StoreOptions::default() })?)
    }
}

/// An engine to be measured, and where its databases may be.
#[derive(Debug, Clone)]
pub enum Engine {
    /// Files in the folder for temporary ones.
    Sqlite,
    /// Databases of their own on this server.
    Postgres(DatabaseUrl),
}

impl Engine {
    /// As people call it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres(_) => "PostgreSQL",
        }
    }

    /// An empty database.
    ///
    /// # Errors
    /// When none can be made.
    pub fn database(&self) -> Result<Database, BenchError> {
        let folder = tempfile::tempdir().map_err(BenchError::Folder)?;
        match self {
            Self::Sqlite => {
                let url = DatabaseUrl::Sqlite(folder.path().join("bench.db"));
                Ok(Database { url, folder, _scratch: None })
            }
            Self::Postgres(server) => {
                let scratch = Scratch::make(server)?;
                Ok(Database { url: scratch.url().clone(), folder, _scratch: Some(scratch) })
            }
        }
    }
}
