//! A new, empty database for one test, on either engine.

use cooperage_schema::{DatabaseUrl, Store, StoreOptions};
use tempfile::TempDir;

#[cfg(feature = "postgres")]
use crate::postgres::{SHARED, Server};

/// Where the database is, kept as long as the test needs it.
pub struct Fresh {
    pub url: DatabaseUrl,
    _folder: Option<TempDir>,
}

impl Fresh {
    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = folder.path().join("test.db").to_str().unwrap().parse().unwrap();
        Self { url, _folder: Some(folder) }
    }

    #[cfg(feature = "postgres")]
    pub fn postgres() -> Self {
        Self::on(&SHARED)
    }

    #[cfg(feature = "postgres")]
    pub fn on(server: &Server) -> Self {
        Self { url: server.new_database().parse().unwrap(), _folder: None }
    }

    /// Opens it, as the server of this name.
    pub fn open_as(&self, server: &str) -> Store {
        let options = StoreOptions { server: server.to_owned(), readers: 2, ..StoreOptions::default() };
        Store::open(&self.url, options).unwrap()
    }

    pub fn open(&self) -> Store {
        self.open_as("local")
    }
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
