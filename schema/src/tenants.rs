//! Tenants: who shares the installation.

use diesel::prelude::*;

use crate::engine::Engine;
use crate::error::StoreError;
use crate::projection::TERMINATED;
use crate::sql::{Statement, Value};
use crate::store::Store;
use crate::tables::{clusters, foundations, profiles, registered_nodes, tenants, tokens};
use crate::{callbacks, entities, keyring, resources, users};

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

    /// The tenant with this id.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tenant_by_id(&self, id: &str) -> Result<Option<Tenant>, StoreError> {
        let row: Option<Columns> =
            self.read(|engine| Ok(tenants::table.find(id).first(engine).optional()?))?;
        Ok(row.map(tenant))
    }

    /// Stores a new tenant. With `from`, the id of another, it begins with the newest version of everything that one
    /// describes, and with all versions of its plugin resources: their bytes must be in their place already.
    ///
    /// # Errors
    /// [`StoreError::AlreadyExists`] when the name is taken, or when the database cannot be written; then nothing is stored.
    pub fn create_tenant(&self, tenant: Tenant, from: Option<&str>, at_ms: i64) -> Result<(), StoreError> {
        let (from, keyring) = (from.map(str::to_owned), self.keyring());
        self.write(move |engine| {
            let values = [Value::text(&tenant.id), Value::text(&tenant.name), Value::text(&tenant.document)];
            if Statement::<_>::new(INSERT, &values).execute(engine)? == 0 {
                return Err(StoreError::AlreadyExists { what: "tenant", name: tenant.name });
            }
            if let Some(from) = from {
                entities::copy(engine, &keyring, &from, &tenant.id, at_ms)?;
                resources::copy(engine, &from, &tenant.id)?;
            }
            Ok(())
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

    /// Removes a tenant with everything that is its own; only the record of its terminated clusters stays. Gives the tenant
    /// if it was there.
    ///
    /// # Errors
    /// [`StoreError::InUse`] for [`SUPERADMIN`] and for a tenant with clusters that are not terminated, or when the database
    /// cannot be written.
    pub fn delete_tenant(&self, name: &str) -> Result<Option<Tenant>, StoreError> {
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
            let found: Option<Columns> =
                tenants::table.filter(tenants::name.eq(&name)).first(engine).optional()?;
            let Some(found) = found.map(tenant) else { return Ok(None) };
            refuse_live_clusters(engine, &found)?;
            forget(engine, &found.id)?;
            Ok(Some(found))
        })
    }
}

fn refuse_live_clusters(engine: &mut Engine, tenant: &Tenant) -> Result<(), StoreError> {
    let mine = clusters::table.filter(clusters::tenant.eq(&tenant.id));
    let live: i64 = mine.filter(clusters::status.ne(TERMINATED)).count().get_result(engine)?;
    if live == 0 {
        return Ok(());
    }
    Err(StoreError::InUse {
        what: "tenant",
        name: tenant.name.clone(),
        status: format!("the owner of {live} clusters that are not terminated"),
        remedy: "delete its clusters first",
    })
}

fn forget(engine: &mut Engine, id: &str) -> QueryResult<()> {
    entities::clear(engine, id)?;
    callbacks::clear(engine, id)?;
    keyring::forget(engine, id)?;
    resources::clear(engine, id)?;
    diesel::delete(foundations::table.filter(foundations::tenant.eq(id))).execute(engine)?;
    diesel::delete(profiles::table.filter(profiles::tenant.eq(id))).execute(engine)?;
    diesel::delete(registered_nodes::table.filter(registered_nodes::tenant.eq(id))).execute(engine)?;
    diesel::delete(tokens::table.filter(tokens::tenant.eq(id))).execute(engine)?;
    users::clear(engine, id)?;
    diesel::delete(tenants::table.filter(tenants::id.eq(id))).execute(engine)?;
    Ok(())
}
