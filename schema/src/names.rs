//! What people call clusters and nodes.

use std::collections::HashMap;

use cooperage_domain::id::{ClusterId, NodeId};
use diesel::prelude::*;

use crate::error::StoreError;
use crate::store::Store;
use crate::tables::{clusters, nodes};

/// Ids in one query; databases take no more than some 32,000.
const TOGETHER: usize = 10_000;

impl Store {
    /// The names of these clusters, as far as there are such.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn cluster_names(&self, ids: &[ClusterId]) -> Result<HashMap<ClusterId, String>, StoreError> {
        let mut names = HashMap::with_capacity(ids.len());
        for ids in ids.chunks(TOGETHER) {
            let ids: Vec<i64> = ids.iter().map(|id| id.0.cast_signed()).collect();
            let found: Vec<(i64, String)> = self.read(|engine| {
                let wanted = clusters::table.filter(clusters::id.eq_any(&ids));
                Ok(wanted.select((clusters::id, clusters::name)).load(engine)?)
            })?;
            names.extend(found.into_iter().map(|(id, name)| (ClusterId(id.cast_unsigned()), name)));
        }
        Ok(names)
    }

    /// The host names of these nodes, of those that have one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn host_names(&self, ids: &[NodeId]) -> Result<HashMap<NodeId, String>, StoreError> {
        let mut names = HashMap::with_capacity(ids.len());
        for ids in ids.chunks(TOGETHER) {
            let ids: Vec<&str> = ids.iter().map(|id| id.0.as_str()).collect();
            let found: Vec<(String, Option<String>)> = self.read(|engine| {
                let wanted = nodes::table.filter(nodes::id.eq_any(&ids));
                Ok(wanted.select((nodes::id, nodes::hostname)).load(engine)?)
            })?;
            names.extend(found.into_iter().filter_map(|(id, name)| Some((NodeId(id), name?))));
        }
        Ok(names)
    }
}
