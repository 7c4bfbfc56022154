//! Profiles: one JSON object per user, of which only the user knows the meaning.

use diesel::prelude::*;

use crate::error::StoreError;
use crate::sql::{Statement, Value};
use crate::store::Store;
use crate::tables::profiles;

const PUT: &str = "INSERT INTO profiles (tenant, username, document) VALUES (?, ?, ?) \
    ON CONFLICT (tenant, username) DO UPDATE SET document = excluded.document";

impl Store {
    /// The profile of a user, as JSON.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn profile(&self, tenant: &str, user: &str) -> Result<Option<String>, StoreError> {
        self.read(|engine| {
            let mine = profiles::table.find((tenant, user));
            Ok(mine.select(profiles::document).first(engine).optional()?)
        })
    }

    /// Stores the profile of a user in place of an older one.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_profile(&self, tenant: &str, user: &str, document: String) -> Result<(), StoreError> {
        let (tenant, user) = (tenant.to_owned(), user.to_owned());
        self.write(move |engine| {
            let values = [Value::text(&tenant), Value::text(&user), Value::text(&document)];
            Statement::<_>::new(PUT, &values).execute(engine)?;
            Ok(())
        })
    }

    /// Removes the profile of a user, if there is one.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn delete_profile(&self, tenant: &str, user: &str) -> Result<(), StoreError> {
        let (tenant, user) = (tenant.to_owned(), user.to_owned());
        self.write(move |engine| {
            diesel::delete(profiles::table.find((tenant, user))).execute(engine)?;
            Ok(())
        })
    }
}
