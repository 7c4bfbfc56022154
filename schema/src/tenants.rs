//! Tenants: who shares the installation.

use diesel::prelude::*;

use crate::error::StoreError;
use crate::sql::{Statement, Value};
use crate::store::Store;
use crate::tables::tenants;

/// Id and name of the tenant of the installation's operators. It is there from the start and stays.
pub const SUPERADMIN: &str = "superadmin";

/// A tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    /// Its id, for ever; a tenant made later under the same name has another.
    pub id: String,
    /// Its name; unique.
    pub name: String,
    /// Everything else, as JSON.
    pub document: String,
}

const INSERT: &str =
    "INSERT INTO tenants (id, name, document) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING";
const UPDATE: &str = "UPDATE tenants SET document = ? WHERE name = ?";

type Columns = (String, String, String);

fn tenant((id, name, document): Columns) -> Tenant {
    Tenant { id, name, document }
}

impl Store {
    /// All tenants, by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        let rows: Vec<Columns> = self.read(|engine| Ok(tenants::table.load(engine)?))?;
        let mut all: Vec<Tenant> = rows.into_iter().map(tenant).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// The tenant of this name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tenant(&self, name: &str) -> Result<Option<Tenant>, StoreError> {
        let row: Option<Columns> = self
            .read(|engine| Ok(tenants::table.filter(tenants::name.eq(name)).first(engine).optional()?))?;
        Ok(row.map(tenant))
    }

    /// Stores a new tenant.
    ///
    /// # Errors
    /// [`StoreError::AlreadyExists`] when the name is taken, or when the database cannot be written.
    pub fn create_tenant(&self, tenant: Tenant) -> Result<(), StoreError> {
        self.write(move |engine| {
            let values = [Value::text(&tenant.id), Value::text(&tenant.name), Value::text(&tenant.document)];
            match Statement::<_>::new(INSERT, &values).execute(engine)? {
                0 => Err(StoreError::AlreadyExists { what: "tenant", name: tenant.name }),
                _ => Ok(()),
            }
        })
    }

    /// Replaces the document of a tenant, or stores the tenant when its name is new; the id of one that is there stays.
    /// Gives whether it is new.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_tenant(&self, tenant: Tenant) -> Result<bool, StoreError> {
        self.write(move |engine| {
            let change = [Value::text(&tenant.document), Value::text(&tenant.name)];
            if Statement::<_>::new(UPDATE, &change).execute(engine)? > 0 {
                return Ok(false);
            }
            let values = [Value::text(&tenant.id), Value::text(&tenant.name), Value::text(&tenant.document)];
            Statement::<_>::new(INSERT, &values).execute(engine)?;
            Ok(true)
        })
    }

    /// Removes a tenant, but nothing that belongs to it. Gives whether it was there.
    ///
    /// # Errors
    /// [`StoreError::InUse`] for [`SUPERADMIN`], or when the database cannot be written.
    pub fn delete_tenant(&self, name: &str) -> Result<bool, StoreError> {
        if name == SUPERADMIN {
            return Err(StoreError::InUse {
                what: "tenant",
                name: name.to_owned(),
                status: "the operators' own".to_owned(),
                remedy: "keep it: without it nobody could make tenants",
            });
        }
        let name = name.to_owned();
        self.write(move |engine| {
            Ok(diesel::delete(tenants::table.filter(tenants::name.eq(name))).execute(engine)? > 0)
        })
    }
}
