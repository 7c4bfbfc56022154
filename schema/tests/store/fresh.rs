//! A new, empty database for one test, on either engine.

use std::path::PathBuf;

use cooperage_schema::{DatabaseUrl, Engine, Store, StoreError, StoreOptions};
use diesel::prelude::*;
use diesel::sql_types::Text;
use tempfile::TempDir;

#[cfg(feature = "postgres")]
use crate::postgres::{SHARED, Server};

/// Where the database is, kept as long as the test needs it.
pub struct Fresh {
    pub url: DatabaseUrl,
    folder: TempDir,
}

impl Fresh {
    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = folder.path().join("test.db").to_str().unwrap().parse().unwrap();
        Self { url, folder }
    }

    #[cfg(feature = "postgres")]
    pub fn postgres() -> Self {
        Self::on(&SHARED)
    }

    #[cfg(feature = "postgres")]
    pub fn on(server: &Server) -> Self {
        Self { url: server.new_database().parse().unwrap(), folder: tempfile::tempdir().unwrap() }
    }

    /// Opens it, as the server of this name.
    pub fn open_as(&self, server: &str) -> Store {
        self.try_open_as(server).unwrap()
    }

    /// Tries to open it, as the server of this name.
    pub fn try_open_as(&self, server: &str) -> Result<Store, StoreError> {
        let secrets_key = Some(self.key_file());
        Store::open(
            &self.url,
            StoreOptions { server: server.to_owned(), readers: 2, secrets_key, ..StoreOptions::default() },
        )
    }

    /// Where the keys of its secrets are.
    pub fn key_file(&self) -> PathBuf {
        self.folder.path().join("secrets.key")
    }

    /// Everything the database holds: its files, or what a dump of the server's tables shows.
    pub fn contents(&self, store: &Store) -> Vec<u8> {
        if self.url.to_string().starts_with("postgres") {
            return store.read(|engine| Ok(dump(engine))).unwrap();
        }
        let files = std::fs::read_dir(self.folder.path()).unwrap().map(|file| file.unwrap().path());
        files.flat_map(|file| std::fs::read(file).unwrap()).collect()
    }

    pub fn open(&self) -> Store {
        self.open_as("local")
    }
}

/// All rows of all tables, as text.
fn dump(engine: &mut Engine) -> Vec<u8> {
    #[derive(QueryableByName)]
    struct Row {
        #[diesel(sql_type = Text)]
        text: String,
    }
    let mut ask = |query: String| -> Vec<Row> { diesel::sql_query(query).load(engine).unwrap() };
    let tables =
        ask("SELECT tablename::text AS text FROM pg_tables WHERE schemaname = current_schema()".to_owned());
    let rows =
        tables.iter().flat_map(|table| ask(format!("SELECT t::text AS text FROM \"{}\" t", table.text)));
    rows.flat_map(|row| row.text.into_bytes()).collect()
}

/// Makes of each function that takes a [`Fresh`] one test per engine.
macro_rules! on_both_engines {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[test] fn $name() { super::$name(&crate::fresh::Fresh::sqlite()); })*
        }

        #[cfg(feature = "postgres")]
        mod postgres {
            $(#[test] fn $name() { super::$name(&crate::fresh::Fresh::postgres()); })*
        }
    };
}
pub(crate) use on_both_engines;
