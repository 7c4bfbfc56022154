//! Which machines were made and given back, and when: what machine time is computed from.

use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_domain::task::TaskName;
use diesel::prelude::*;

use crate::engine::Engine;
use crate::error::StoreError;
use crate::store::Store;
use crate::tables::{clusters, tasks};

/// Whose machines are counted; `None` is everybody's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MachineTaskFilter {
    /// Id of the tenant.
    pub tenant: Option<String>,
    /// Who asked for the cluster.
    pub owner: Option<String>,
    /// Name of the cluster's template.
    pub template: Option<String>,
    /// The cluster.
    pub cluster: Option<ClusterId>,
}

/// The end of a successful task that made a machine or gave one back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineTask {
    /// The node whose machine it was.
    pub node: NodeId,
    /// Whether it was made; otherwise it was given back.
    pub made: bool,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
}

impl Store {
    /// The ends of successful CREATE and DELETE tasks, by time.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn machine_tasks(&self, filter: &MachineTaskFilter) -> Result<Vec<MachineTask>, StoreError> {
        let rows: Vec<(String, String, Option<i64>)> = self.read(|engine| {
            let mut query = tasks::table
                .inner_join(clusters::table.on(clusters::id.eq(tasks::cluster)))
                .filter(tasks::name.eq_any([TaskName::Create.as_str(), TaskName::Delete.as_str()]))
                .filter(tasks::code.eq(0))
                .filter(tasks::ended_ms.is_not_null())
                .into_boxed::<<Engine as Connection>::Backend>();
            if let Some(tenant) = &filter.tenant {
                query = query.filter(clusters::tenant.eq(tenant));
            }
            if let Some(owner) = &filter.owner {
                query = query.filter(clusters::owner.eq(owner));
            }
            if let Some(template) = &filter.template {
                query = query.filter(clusters::template.eq(template));
            }
            if let Some(cluster) = filter.cluster {
                query = query.filter(clusters::id.eq(cluster.0.cast_signed()));
            }
            let columns = (tasks::node, tasks::name, tasks::ended_ms);
            Ok(query.order((tasks::ended_ms, tasks::number)).select(columns).load(engine)?)
        })?;
        let task = |(node, name, at_ms): (String, String, Option<i64>)| {
            Some(MachineTask { node: NodeId(node), made: name == TaskName::Create.as_str(), at_ms: at_ms? })
        };
        Ok(rows.into_iter().filter_map(task).collect())
    }
}
