//! What provisioners and servers say to each other beyond Coopr's protocol, in the shape it has on the wire.
//!
//! A provisioner names the extensions it speaks when it registers, the server answers with those it grants, and nothing
//! changes for one that names none:
//!
//! | extension | what it adds |
//! |---|---|
//! | `take-batch` | tasks for many workers with one request, which waits until there are some |
//! | `output` | what tasks print, while they run |
//! | `cancel` | being told which running tasks nobody waits for any more |
//! | `drain` | saying that it is about to go |
//! | `resource-hashes` | hashes of plugin resources |

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::id::TaskId;
use crate::lenient::null_as_default;
use crate::task::{TaskOrder, TaskReport};

/// Longest time a request may ask to wait, in seconds. Shorter than what proxies usually allow.
pub const LONGEST_WAIT_SECONDS: u32 = 25;
/// Most workers one request may ask tasks for: an order holds all nodes of its cluster, and an answer that many orders.
pub const MOST_WORKERS: usize = 100;

/// Something a provisioner may speak beyond Coopr's protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Extension {
    /// Tasks for many workers with one request, which waits for them.
    TakeBatch,
    /// What tasks print, while they run.
    Output,
    /// Being told what is not wanted any more.
    Cancel,
    /// Saying that it is about to go.
    Drain,
    /// Hashes of plugin resources.
    ResourceHashes,
}

impl Extension {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::TakeBatch, Self::Output, Self::Cancel, Self::Drain, Self::ResourceHashes];
}

/// Reads names of extensions, without those that are not known.
///
/// # Errors
/// When it is no list of texts.
pub fn known_extensions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<Extension>, D::Error> {
    let names: Vec<String> = null_as_default(deserializer)?;
    let known = |name: String| serde_json::from_value(serde_json::Value::String(name)).ok();
    Ok(names.into_iter().filter_map(known).collect())
}

/// A server's answer to a registration that named extensions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Granted {
    /// Those it grants.
    #[serde(default, deserialize_with = "known_extensions")]
    pub extensions: BTreeSet<Extension>,
}

/// Asks for tasks for workers that have none. A task that one of them holds, because an answer was lost, is given again.
///
/// An earlier request of the provisioner for the tenant waits no longer: it is answered with what it has. So a request
/// without workers ends the wait of those there are too many of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TakeBatch {
    /// The workers' provisioner.
    pub provisioner_id: String,
    /// Internal id of the tenant they work for.
    pub tenant_id: String,
    /// The workers, at most [`MOST_WORKERS`].
    #[serde(default)]
    pub worker_ids: Vec<String>,
    /// How long to wait when there is no task, at most [`LONGEST_WAIT_SECONDS`].
    #[serde(default)]
    pub wait_seconds: u32,
}

/// Tasks that were taken; none when there was none in time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Taken {
    /// At most one per worker.
    pub tasks: Vec<TakenTask>,
}

/// A task and whose it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TakenTask {
    /// The worker.
    pub worker_id: String,
    /// The task.
    pub task: TaskOrder,
}

/// A worker's report, with who it is. Sent again it is the same report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finished {
    /// The worker's provisioner.
    pub provisioner_id: String,
    /// The worker.
    pub worker_id: String,
    /// Internal id of the tenant it works for.
    pub tenant_id: String,
    /// The task, as text: one that is no id is a task nobody holds.
    pub task_id: String,
    /// Which attempt; old workers do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// What it reports.
    #[serde(flatten)]
    pub report: TaskReport,
}

/// Names one execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionId {
    /// The task.
    #[schema(value_type = String)]
    pub task_id: TaskId,
    /// Number of the attempt.
    pub attempt: u32,
}

/// What tasks of a provisioner printed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputBatch {
    /// The provisioner.
    pub provisioner_id: String,
    /// By execution.
    pub outputs: Vec<OutputPart>,
}

/// Lines of one execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputPart {
    /// The execution.
    #[serde(flatten)]
    pub execution: ExecutionId,
    /// The worker that carries it out.
    pub worker_id: String,
    /// Number of the first line, from 0, by which lines that come twice are known.
    pub first: u64,
    /// The lines in order.
    pub lines: Vec<OutputLine>,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OutputLine {
    /// Where it was printed.
    pub stream: OutputStream,
    /// What, without the end of the line.
    pub text: String,
}

/// Where a line was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputStream {
    /// By the task.
    Stdout,
    /// By the task, as an error.
    Stderr,
    /// By the plugin.
    Progress,
}

/// Which lines have arrived.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OutputTaken {
    /// Executions whose lines are wanted. Others are not known (yet): their lines may be sent again later.
    pub taken: Vec<LinesTaken>,
}

/// How far the lines of an execution have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinesTaken {
    /// The execution.
    #[serde(flatten)]
    pub execution: ExecutionId,
    /// Number of the line that comes next.
    pub next: u64,
}

/// What a provisioner carries out; it asks which of it nobody waits for any more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Watch {
    /// The provisioner.
    pub provisioner_id: String,
    /// What its workers carry out.
    pub running: Vec<RunningTask>,
    /// How long to wait when all of it is wanted, at most [`LONGEST_WAIT_SECONDS`].
    #[serde(default)]
    pub wait_seconds: u32,
}

/// What a worker carries out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunningTask {
    /// The execution.
    #[serde(flatten)]
    pub execution: ExecutionId,
    /// The worker.
    pub worker_id: String,
}

/// Executions that are to be stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Unwanted {
    /// Which.
    pub cancel: Vec<ExecutionId>,
}

/// What a provisioner is to do for a tenant, as the server tells it. Everything may be missing or `null`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The tenant, where it does not stand in the path.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Workers to bring.
    #[serde(default, deserialize_with = "workers")]
    pub workers: u32,
    /// All plugin resources in use.
    #[serde(default, deserialize_with = "null_as_default")]
    pub resources: Resources,
}

fn workers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    Ok(crate::lenient::optional_number(deserializer)?.unwrap_or(0))
}

/// Plugin resources in use: by side (`providertypes`, `automatortypes`), plugin and kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Resources(pub Named<Named<Named<Kind>>>);

/// Things by name; each may be `null`.
type Named<T> = BTreeMap<String, Option<T>>;

/// Resources of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kind {
    /// The versions in use.
    #[serde(default, deserialize_with = "null_as_default")]
    pub active: Vec<ActiveVersion>,
}

/// A version in use.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ActiveVersion {
    /// The resource.
    pub name: String,
    /// Its version.
    #[serde(deserialize_with = "crate::lenient::number")]
    pub version: u64,
    /// SHA-256 of its bytes, in hexadecimal; only told by servers that grant it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// A version in use, with where it belongs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WantedResource {
    /// `providertypes` or `automatortypes`.
    pub side: String,
    /// The plugin.
    pub plugin: String,
    /// The kind.
    pub kind: String,
    /// The version.
    pub version: ActiveVersion,
}

impl Resources {
    /// All versions, in order.
    #[must_use]
    pub fn versions(&self) -> Vec<WantedResource> {
        let mut versions = Vec::new();
        for (side, plugins) in &self.0 {
            for (plugin, kinds) in plugins.iter().flatten() {
                for (kind, found) in kinds.iter().flatten() {
                    let active = found.iter().flat_map(|found| &found.active);
                    versions.extend(active.map(|version| WantedResource {
                        side: side.clone(),
                        plugin: plugin.clone(),
                        kind: kind.clone(),
                        version: version.clone(),
                    }));
                }
            }
        }
        versions.sort();
        versions
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn extensions_nobody_knows_are_left_out() {
        let granted: Granted = serde_json::from_value(json!({"extensions": ["drain", "telepathy"]})).unwrap();
        assert_eq!(granted.extensions, BTreeSet::from([Extension::Drain]));
        assert_eq!(serde_json::from_value::<Granted>(json!({})).unwrap(), Granted::default());
        let names = serde_json::to_value(Extension::ALL).unwrap();
        assert_eq!(names, json!(["take-batch", "output", "cancel", "drain", "resource-hashes"]));
    }

    #[test]
    fn assignments_are_read_with_whatever_is_missing() {
        let read = |value| serde_json::from_value::<Assignment>(value).unwrap();
        for empty in [
            json!({}),
            json!({"workers": null, "resources": null, "plugins": {}}),
            json!({"resources": {"automatortypes": null, "providertypes": {"x": null, "y": {"z": null}}}}),
            json!({"workers": "0", "resources": {"automatortypes": {"x": {"y": {"active": null}}}}}),
        ] {
            let assignment = read(empty.clone());
            assert_eq!((assignment.workers, assignment.resources.versions().len()), (0, 0), "{empty}");
        }
        let assignment = read(json!({"workers": "4", "resources": {"automatortypes": {"shell": {"scripts": {
            "format": "file", "permissions": "0755",
            "active": [{"name": "b.sh", "version": "3"}, {"name": "a.sh", "version": 1, "sha256": "ff"}]}}}}}));
        assert_eq!(assignment.workers, 4);
        let names: Vec<_> = assignment.resources.versions().into_iter().map(|one| one.version.name).collect();
        assert_eq!(names, ["a.sh", "b.sh"]);
    }

    #[test]
    fn reports_are_read_as_old_workers_send_them() {
        let text =
            r#"{"provisionerId": "p", "workerId": "w", "tenantId": "t", "taskId": "x", "status": "1"}"#;
        let read: Finished = serde_json::from_str(text).unwrap();
        assert_eq!((read.attempt, read.report.status), (None, 1));
    }
}
