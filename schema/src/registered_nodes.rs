//! Nodes that users made known by themselves. What they say of a node is kept and shown, and has no other effect.

use diesel::prelude::*;

use crate::engine::Engine;
use crate::error::StoreError;
use crate::sql::{Statement, Value};
use crate::store::Store;
use crate::tables::registered_nodes;

/// A node that a user made known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredNode {
    /// Id of the user's tenant.
    pub tenant: String,
    /// Its id, unique in the tenant.
    pub id: String,
    /// The user.
    pub owner: String,
    /// All that was said of it, as JSON.
    pub document: String,
}

const PUT: &str = "INSERT INTO registered_nodes (tenant, id, owner, document) VALUES (?, ?, ?, ?) \
    ON CONFLICT (tenant, id) DO UPDATE SET document = excluded.document";

type Columns = (String, String, String, String);

fn registered((tenant, id, owner, document): Columns) -> RegisteredNode {
    RegisteredNode { tenant, id, owner, document }
}

impl Store {
    /// Nodes made known in a tenant, by id; only those of one user when one is named.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn registered_nodes(
        &self,
        tenant: &str,
        owner: Option<&str>,
    ) -> Result<Vec<RegisteredNode>, StoreError> {
        let rows: Vec<Columns> = self.read(|engine| {
            let mut query = registered_nodes::table
                .filter(registered_nodes::tenant.eq(tenant))
                .into_boxed::<<Engine as Connection>::Backend>();
            if let Some(owner) = owner {
                query = query.filter(registered_nodes::owner.eq(owner));
            }
            Ok(query.order(registered_nodes::id).load(engine)?)
        })?;
        Ok(rows.into_iter().map(registered).collect())
    }

    /// One node made known in a tenant.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn registered_node(&self, tenant: &str, id: &str) -> Result<Option<RegisteredNode>, StoreError> {
        let row: Option<Columns> =
            self.read(|engine| Ok(registered_nodes::table.find((tenant, id)).first(engine).optional()?))?;
        Ok(row.map(registered))
    }

    /// Stores what is said of a node in place of what was said before; whoever made it known first stays its owner.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_registered_node(&self, node: RegisteredNode) -> Result<(), StoreError> {
        self.write(move |engine| {
            let values = [&node.tenant, &node.id, &node.owner, &node.document].map(|text| Value::text(text));
            Statement::<_>::new(PUT, &values).execute(engine)?;
            Ok(())
        })
    }

    /// Forgets a node, if it is known.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn delete_registered_node(&self, tenant: &str, id: &str) -> Result<(), StoreError> {
        let (tenant, id) = (tenant.to_owned(), id.to_owned());
        self.write(move |engine| {
            diesel::delete(registered_nodes::table.find((tenant, id))).execute(engine)?;
            Ok(())
        })
    }
}
