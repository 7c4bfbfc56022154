//! Provisioners: who brings workers, and when each was last heard of.

use cooperage_domain::provisioner::Provisioner;
use diesel::prelude::*;

use crate::error::StoreError;
use crate::sql::{Statement, Value};
use crate::store::Store;
use crate::tables::provisioners;

const PUT: &str = "INSERT INTO provisioners (id, document, seen_ms) VALUES (?, ?, ?) \
    ON CONFLICT (id) DO UPDATE SET document = excluded.document, seen_ms = excluded.seen_ms";
const DELETE: &str = "DELETE FROM provisioners WHERE id = ?";

/// A provisioner that is registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// The provisioner.
    pub provisioner: Provisioner,
    /// When it was last heard of, in milliseconds since 1970.
    pub seen_ms: i64,
}

impl Store {
    /// All that are registered, by id.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn provisioners(&self) -> Result<Vec<Registration>, StoreError> {
        let rows: Vec<(String, String, i64)> =
            self.read(|engine| Ok(provisioners::table.order(provisioners::id).load(engine)?))?;
        let registration = |(id, document, seen_ms): (String, String, i64)| {
            let provisioner = serde_json::from_str(&document)
                .map_err(|fault| StoreError::corrupt(format!("provisioner {id}"), fault))?;
            Ok(Registration { provisioner, seen_ms })
        };
        rows.into_iter().map(registration).collect()
    }

    /// Stores registrations; those of the same id are replaced. All or none.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_provisioners(&self, registrations: Vec<Registration>) -> Result<(), StoreError> {
        self.write(move |engine| {
            for registration in &registrations {
                let document = serde_json::to_string(&registration.provisioner)
                    .map_err(|fault| StoreError::corrupt("a provisioner", fault))?;
                let id = Value::text(&registration.provisioner.id);
                let values = [id, Value::text(&document), Value::int(registration.seen_ms)];
                Statement::<_>::new(PUT, &values).execute(engine)?;
            }
            Ok(())
        })
    }

    /// Forgets a provisioner; one that is not there is no fault.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn delete_provisioner(&self, id: &str) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.write(move |engine| {
            Statement::<_>::new(DELETE, &[Value::text(&id)]).execute(engine)?;
            Ok(())
        })
    }
}
