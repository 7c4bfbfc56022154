//! A database of its own on a server that holds others: for measurements, which must touch nobody's tables.

use diesel::connection::SimpleConnection;

use crate::engine::{Engine, Role};
use crate::error::StoreError;
use crate::url::DatabaseUrl;

/// A database that was made empty, and is dropped with this.
#[derive(Debug)]
pub struct Scratch {
    server: DatabaseUrl,
    name: String,
    url: DatabaseUrl,
}

impl Scratch {
    /// Makes one on the server behind a URL of PostgreSQL, whose own database is not touched. Its user must be allowed to
    /// make databases.
    ///
    /// # Errors
    /// When the URL is none of PostgreSQL, the server cannot be reached, or does not let a database be made.
    pub fn make(server: &DatabaseUrl) -> Result<Self, StoreError> {
        let name = format!("cooperage_scratch_{}", hex(&crate::seal::new_key()[..8]));
        let url = server.with_database(&name)?;
        let mut engine = Engine::open(server, Role::Writer)?;
        engine.batch_execute(&format!("CREATE DATABASE {name}"))?;
        Ok(Self { server: server.clone(), name, url })
    }

    /// Where it is.
    #[must_use]
    pub const fn url(&self) -> &DatabaseUrl {
        &self.url
    }
}

impl Drop for Scratch {
    /// What is left of it when the server has gone away is named so that people know what it was.
    fn drop(&mut self) {
        let Ok(mut engine) = Engine::open(&self.server, Role::Writer) else { return };
        let _ = engine.batch_execute(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
