//! Parts of long lists of nodes, each behind a place in the list: what is inserted meanwhile neither repeats nor hides
//! anything.

use cooperage_domain::id::{ClusterId, NodeId};
use diesel::prelude::*;

use crate::clusters::{NodeColumns, node_row};
use crate::engine::Engine;
use crate::error::StoreError;
use crate::projection::NodeRow;
use crate::registered_nodes::RegisteredNode;
use crate::store::Store;
use crate::tables::{clusters, nodes, registered_nodes};

/// A node's place in the list of all: cluster, number, id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePlace {
    /// Its cluster.
    pub cluster: ClusterId,
    /// Its number there.
    pub number: u32,
    /// Its id.
    pub id: NodeId,
}

impl Store {
    /// As [`Self::all_nodes`] of one tenant: at most `limit` of those behind a place.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn nodes_behind(
        &self,
        tenant: &str,
        owner: Option<&str>,
        behind: Option<&NodePlace>,
        limit: u32,
    ) -> Result<Vec<NodeRow>, StoreError> {
        let rows: Vec<NodeColumns> = self.read(|engine| {
            let mut query = nodes::table
                .inner_join(clusters::table.on(clusters::id.eq(nodes::cluster)))
                .select(nodes::all_columns)
                .filter(nodes::tenant.eq(tenant))
                .into_boxed::<<Engine as Connection>::Backend>();
            if let Some(owner) = owner {
                query = query.filter(clusters::owner.eq(owner));
            }
            if let Some(NodePlace { cluster, number, id }) = behind {
                let (cluster, number) = (cluster.0.cast_signed(), i64::from(*number));
                let same_number = nodes::number.eq(number).and(nodes::id.gt(id.as_str()));
                let same_cluster = nodes::cluster.eq(cluster).and(nodes::number.gt(number).or(same_number));
                query = query.filter(nodes::cluster.gt(cluster).or(same_cluster));
            }
            Ok(query.order((nodes::cluster, nodes::number, nodes::id)).limit(limit.into()).load(engine)?)
        })?;
        rows.into_iter().map(node_row).collect()
    }

    /// As [`Self::registered_nodes`]: at most `limit` of those behind an id.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn registered_nodes_behind(
        &self,
        tenant: &str,
        owner: Option<&str>,
        behind: Option<&str>,
        limit: u32,
    ) -> Result<Vec<RegisteredNode>, StoreError> {
        let rows: Vec<(String, String, String, String)> = self.read(|engine| {
            let mut query = registered_nodes::table
                .filter(registered_nodes::tenant.eq(tenant))
                .into_boxed::<<Engine as Connection>::Backend>();
            if let Some(owner) = owner {
                query = query.filter(registered_nodes::owner.eq(owner));
            }
            if let Some(id) = behind {
                query = query.filter(registered_nodes::id.gt(id));
            }
            Ok(query.order(registered_nodes::id).limit(limit.into()).load(engine)?)
        })?;
        Ok(rows
            .into_iter()
            .map(|(tenant, id, owner, document)| RegisteredNode { tenant, id, owner, document })
            .collect())
    }
}
