//! Reading the read tables.

use cooperage_domain::id::{ClusterId, JobId, NodeId, TaskId};
use cooperage_domain::task::TaskName;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as ValueError;

use crate::engine::Engine;
use crate::error::StoreError;
use crate::projection::{ClusterRow, JobRow, NodeRow, TERMINATED, TaskRow};
use crate::store::Store;
use crate::tables::{ancestry, clusters, jobs, nodes, tasks};

/// Which clusters to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterFilter {
    /// Only those of the tenant with this id.
    pub tenant: Option<String>,
    /// Only those this user asked for.
    pub owner: Option<String>,
    /// Only those with this name.
    pub name: Option<String>,
    /// Only those that are built upon this one: it is their parent, or their foundation.
    pub upon: Option<ClusterId>,
    /// Only those in one of these states; empty: in any.
    pub statuses: Vec<String>,
    /// Only those behind this one in the list: when it was created, in milliseconds since 1970, and its id.
    pub behind: Option<(i64, ClusterId)>,
    /// At most so many.
    pub limit: u32,
}

impl Default for ClusterFilter {
    fn default() -> Self {
        Self {
            tenant: None,
            owner: None,
            name: None,
            upon: None,
            statuses: Vec::new(),
            behind: None,
            limit: u32::MAX,
        }
    }
}

/// Status of a cluster with a job under way.
const PENDING: &str = "pending";

type ClusterColumns = (
    i64,
    String,
    String,
    String,
    String,
    String,
    String,
    i64,
    i64,
    i64,
    Option<i64>,
    i64,
    i64,
    Option<String>,
    String,
);
pub(crate) type NodeColumns = (String, i64, String, i64, Option<String>, String, String);
type JobColumns = (i64, i64, String, String, Option<i64>, Option<i64>, Option<String>);
type TaskColumns =
    (i64, i64, i64, String, String, String, String, i64, Option<i64>, Option<i64>, Option<i64>);

fn small(column: &'static str, value: i64) -> Result<u32, StoreError> {
    u32::try_from(value).map_err(|_| StoreError::corrupt(format!("column {column}"), value))
}

fn cluster_row(columns: ClusterColumns) -> Result<ClusterRow, StoreError> {
    let id = ClusterId(columns.0.cast_unsigned());
    let latest_job = columns.10.map(|number| small("clusters.latest_job", number)).transpose()?;
    Ok(ClusterRow {
        id,
        tenant: columns.1,
        owner: columns.2,
        name: columns.3,
        status: columns.4,
        template: columns.5,
        provider: columns.6,
        created_ms: columns.7,
        expires_ms: columns.8,
        nodes: small("clusters.nodes", columns.9)?,
        latest_job: latest_job.map(|number| JobId { cluster: id, number }),
        steps_total: small("clusters.steps_total", columns.11)?,
        steps_done: small("clusters.steps_done", columns.12)?,
        message: columns.13,
        summary: columns.14,
    })
}

pub(crate) fn node_row(columns: NodeColumns) -> Result<NodeRow, StoreError> {
    let (id, cluster, tenant, number, hostname, status, document) = columns;
    Ok(NodeRow {
        id: NodeId(id),
        cluster: ClusterId(cluster.cast_unsigned()),
        tenant,
        number: small("nodes.number", number)?,
        hostname,
        status,
        document,
    })
}

fn job_row(columns: JobColumns) -> Result<JobRow, StoreError> {
    let (cluster, number, action, status, started_ms, ended_ms, message) = columns;
    let id = JobId { cluster: ClusterId(cluster.cast_unsigned()), number: small("jobs.number", number)? };
    Ok(JobRow { id, action, status, started_ms, ended_ms, message })
}

fn task_row(columns: TaskColumns) -> Result<TaskRow, StoreError> {
    let (cluster, number, job, node, service, name, status, attempts, started_ms, ended_ms, code) = columns;
    let job = JobId { cluster: ClusterId(cluster.cast_unsigned()), number: small("tasks.job", job)? };
    let name = TaskName::deserialize(name.as_str().into_deserializer())
        .map_err(|fault: ValueError| StoreError::corrupt("column tasks.name", fault))?;
    Ok(TaskRow {
        id: TaskId { job, number: small("tasks.number", number)? },
        node: NodeId(node),
        service,
        name,
        status,
        attempts: small("tasks.attempts", attempts)?,
        started_ms,
        ended_ms,
        code,
    })
}

impl Store {
    /// Clusters that pass the filter, newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn clusters(&self, filter: &ClusterFilter) -> Result<Vec<ClusterRow>, StoreError> {
        let rows: Vec<ClusterColumns> = self.read(|engine| {
            let mut query = clusters::table.into_boxed::<<Engine as Connection>::Backend>();
            if let Some(tenant) = &filter.tenant {
                query = query.filter(clusters::tenant.eq(tenant));
            }
            if let Some(owner) = &filter.owner {
                query = query.filter(clusters::owner.eq(owner));
            }
            if let Some(name) = &filter.name {
                query = query.filter(clusters::name.eq(name));
            }
            if let Some(upon) = filter.upon.map(|id| id.0.cast_signed()) {
                let built = ancestry::table
                    .filter(ancestry::parent.eq(upon).or(ancestry::foundation.eq(upon)))
                    .select(ancestry::cluster);
                query = query.filter(clusters::id.eq_any(built));
            }
            if !filter.statuses.is_empty() {
                query = query.filter(clusters::status.eq_any(&filter.statuses));
            }
            if let Some((created, id)) = filter.behind {
                let same_moment = clusters::created_ms.eq(created).and(clusters::id.lt(id.0.cast_signed()));
                query = query.filter(clusters::created_ms.lt(created).or(same_moment));
            }
            Ok(query
                .order((clusters::created_ms.desc(), clusters::id.desc()))
                .limit(filter.limit.into())
                .load(engine)?)
        })?;
        rows.into_iter().map(cluster_row).collect()
    }

    /// How many clusters there are in each status, those of all tenants together.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn clusters_by_status(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let rows: Vec<(String, i64)> = self.read(|engine| {
            let counted = clusters::table.group_by(clusters::status);
            Ok(counted
                .select((clusters::status, diesel::dsl::count_star()))
                .order(clusters::status)
                .load(engine)?)
        })?;
        Ok(rows.into_iter().map(|(status, count)| (status, count.unsigned_abs())).collect())
    }

    /// Clusters that a server sees to when it starts, newest first: those with a job under way, and those whose lease ends.
    /// All others, however many there are, rest until somebody asks for them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn clusters_to_take_up(&self) -> Result<Vec<ClusterRow>, StoreError> {
        let rows: Vec<ClusterColumns> = self.read(|engine| {
            // Both as they stand in the index of those that live: an engine knows an index by its words.
            let live = sql::<Bool>("status <> 'terminated'");
            let busy = clusters::status.eq(PENDING).or(clusters::expires_ms.ne(0));
            let newest = (clusters::created_ms.desc(), clusters::id.desc());
            Ok(clusters::table.filter(live).filter(busy).order(newest).load(engine)?)
        })?;
        rows.into_iter().map(cluster_row).collect()
    }

    /// One cluster.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn cluster(&self, id: ClusterId) -> Result<Option<ClusterRow>, StoreError> {
        let row: Option<ClusterColumns> =
            self.read(|engine| Ok(clusters::table.find(id.0.cast_signed()).first(engine).optional()?))?;
        row.map(cluster_row).transpose()
    }

    /// The nodes of a cluster, by number.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn nodes(&self, cluster: ClusterId) -> Result<Vec<NodeRow>, StoreError> {
        let rows: Vec<NodeColumns> = self.read(|engine| {
            let mine = nodes::table.filter(nodes::cluster.eq(cluster.0.cast_signed()));
            Ok(mine.order((nodes::number, nodes::id)).load(engine)?)
        })?;
        rows.into_iter().map(node_row).collect()
    }

    /// The nodes of all clusters of a tenant (`None`: of all tenants), only of those one user asked for when one is named;
    /// by cluster and number.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn all_nodes(&self, tenant: Option<&str>, owner: Option<&str>) -> Result<Vec<NodeRow>, StoreError> {
        let rows: Vec<NodeColumns> = self.read(|engine| {
            let mut query = nodes::table
                .inner_join(clusters::table.on(clusters::id.eq(nodes::cluster)))
                .select(nodes::all_columns)
                .into_boxed::<<Engine as Connection>::Backend>();
            if let Some(tenant) = tenant {
                query = query.filter(nodes::tenant.eq(tenant));
            }
            if let Some(owner) = owner {
                query = query.filter(clusters::owner.eq(owner));
            }
            Ok(query.order((nodes::cluster, nodes::number, nodes::id)).load(engine)?)
        })?;
        rows.into_iter().map(node_row).collect()
    }

    /// The clusters of a tenant that are not terminated, each with its number of nodes: what counts against its quota.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn nodes_of_live_clusters(&self, tenant: &str) -> Result<Vec<(ClusterId, u32)>, StoreError> {
        let rows: Vec<(i64, i64)> = self.read(|engine| {
            let live =
                clusters::table.filter(clusters::tenant.eq(tenant)).filter(clusters::status.ne(TERMINATED));
            Ok(live.select((clusters::id, clusters::nodes)).load(engine)?)
        })?;
        let row =
            |(id, count): (i64, i64)| Ok((ClusterId(id.cast_unsigned()), small("clusters.nodes", count)?));
        rows.into_iter().map(row).collect()
    }

    /// One node.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn node(&self, id: &NodeId) -> Result<Option<NodeRow>, StoreError> {
        let row: Option<NodeColumns> =
            self.read(|engine| Ok(nodes::table.find(id.as_str()).first(engine).optional()?))?;
        row.map(node_row).transpose()
    }

    /// The jobs of a cluster, by number.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn jobs(&self, cluster: ClusterId) -> Result<Vec<JobRow>, StoreError> {
        let rows: Vec<JobColumns> = self.read(|engine| {
            let mine = jobs::table.filter(jobs::cluster.eq(cluster.0.cast_signed()));
            Ok(mine.order(jobs::number).load(engine)?)
        })?;
        rows.into_iter().map(job_row).collect()
    }

    /// One job.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn job(&self, id: JobId) -> Result<Option<JobRow>, StoreError> {
        let key = (id.cluster.0.cast_signed(), i64::from(id.number));
        let row: Option<JobColumns> =
            self.read(|engine| Ok(jobs::table.find(key).first(engine).optional()?))?;
        row.map(job_row).transpose()
    }

    /// The tasks of a cluster, by number; only those of one job when it is given.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tasks(&self, cluster: ClusterId, job: Option<JobId>) -> Result<Vec<TaskRow>, StoreError> {
        let rows: Vec<TaskColumns> = self.read(|engine| {
            let mut query = tasks::table
                .filter(tasks::cluster.eq(cluster.0.cast_signed()))
                .into_boxed::<<Engine as Connection>::Backend>();
            if let Some(job) = job {
                query = query.filter(tasks::job.eq(i64::from(job.number)));
            }
            Ok(query.order(tasks::number).load(engine)?)
        })?;
        rows.into_iter().map(task_row).collect()
    }

    /// One task.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn task(&self, id: TaskId) -> Result<Option<TaskRow>, StoreError> {
        let key = (id.job.cluster.0.cast_signed(), i64::from(id.number));
        let row: Option<TaskColumns> =
            self.read(|engine| Ok(tasks::table.find(key).first(engine).optional()?))?;
        Ok(row.map(task_row).transpose()?.filter(|row| row.id == id))
    }
}
