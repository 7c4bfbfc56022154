//! Clusters, their nodes, jobs and logs.

use std::collections::BTreeMap;

use cooperage_domain::cluster::Taken;
use cooperage_domain::entity::{ClusterTemplate, Link, Provider};
use cooperage_domain::task::NodeProperties;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::care::{DownNote, Maintenance};

/// Whom a cluster belongs to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    user_id: String,
    /// Internal id of the tenant.
    tenant_id: String,
}

/// How far the latest job of a cluster is.
#[derive(Serialize, ToSchema)]
pub struct Progress {
    /// The kind of job.
    action: String,
    actionstatus: String,
    stepstotal: u64,
    stepscompleted: u64,
}

/// A cluster in a list.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSummary {
    /// Eight digits or more.
    id: String,
    name: String,
    owner_id: String,
    /// Milliseconds since 1970.
    create_time: i64,
    /// Milliseconds since 1970; 0: never.
    expire_time: i64,
    /// How long that is from now, in milliseconds; absent for those without an end.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_in: Option<i64>,
    /// Whether that is soon.
    #[serde(skip_serializing_if = "Option::is_none")]
    expiring: Option<bool>,
    /// From when on it counts as soon.
    expiry_warning_time: Option<i64>,
    /// `pending`, `active`, `incomplete`, `inconsistent` or `terminated`.
    status: String,
    num_nodes: u64,
    /// How many of them are of which hardware type.
    machines: BTreeMap<String, u64>,
    /// What its machines cost per hour at today's prices, in whatever money hardware types are priced in; absent where one of
    /// them has no price.
    #[serde(skip_serializing_if = "Option::is_none")]
    price_per_hour: Option<f64>,
    /// The cluster it is built upon; absent where it is built upon none.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    progress: Option<Progress>,
}

/// The number of a new cluster.
#[derive(Serialize, ToSchema)]
pub struct ClusterCreated {
    id: String,
    /// What is to be heeded: its lease ends behind that of its parent.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

/// Everything about a cluster.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    id: String,
    name: String,
    description: String,
    account: Account,
    /// Milliseconds since 1970.
    create_time: i64,
    /// Milliseconds since 1970; 0: never.
    expire_time: i64,
    /// How long that is from now, in milliseconds; absent for those without an end.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_in: Option<i64>,
    /// Whether that is soon.
    #[serde(skip_serializing_if = "Option::is_none")]
    expiring: Option<bool>,
    /// From when on it counts as soon.
    expiry_warning_time: Option<i64>,
    provider: Option<Provider>,
    cluster_template: Option<ClusterTemplate>,
    nodes: Vec<Node>,
    /// Names of its services.
    services: Vec<String>,
    latest_job_id: Option<String>,
    status: String,
    #[schema(value_type = Object)]
    config: Value,
    links: Vec<Link>,
    progress: Option<Progress>,
    /// Number of the last of its events that is seen here.
    revision: u64,
    /// What its machines cost per hour at today's prices, in whatever money hardware types are priced in; absent where one of
    /// them has no price.
    #[serde(skip_serializing_if = "Option::is_none")]
    price_per_hour: Option<f64>,
    /// Why the latest job ended as it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Why all of it is left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    maintenance: Option<Maintenance>,
    /// The cluster it is built upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    /// The foundation it is built upon, unless that is an ancestor anyway.
    #[serde(skip_serializing_if = "Option::is_none")]
    foundation: Option<String>,
    /// What it takes of its ancestors.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_ancestors: Option<Vec<Taken>>,
}

/// A node. What is made known by hand has whatever it was given.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<NodeProperties>,
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<Vec<Link>>,
    /// Configuration for this node alone, over that of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    config: Option<Value>,
    /// Why it is left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    maintenance: Option<Maintenance>,
    /// What on it is down.
    #[serde(skip_serializing_if = "Option::is_none")]
    down: Option<Vec<DownNote>>,
}

/// A node made known by hand; more fields are kept as they are.
#[derive(Serialize, ToSchema)]
pub struct RegisteredNode {
    id: String,
    services: Vec<Value>,
}

/// How far the latest job is.
#[derive(Serialize, ToSchema)]
pub struct ClusterStatus {
    clusterid: String,
    stepstotal: u64,
    stepscompleted: u64,
    status: String,
    actionstatus: Option<String>,
    action: Option<String>,
}

/// A task in a stage.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StagedTask {
    /// Cluster, job and number: `00000042-001-003`.
    id: String,
    task_name: String,
    node_id: String,
    /// Empty for tasks on the machine itself.
    service: String,
}

/// A try to carry out a task.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// From 1.
    number: u32,
    worker: String,
    start_time: i64,
    end_time: Option<i64>,
    /// 0: success.
    code: Option<i64>,
    /// Of a failure: transient, permanent, machine, script or unknown.
    error_kind: Option<String>,
}

/// A task in the graph.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphTask {
    id: String,
    task_name: String,
    node_id: String,
    service: String,
    /// Ids of the tasks it waits for.
    after: Vec<String>,
    status: String,
    /// How long it was taken to need when it was planned.
    estimate_ms: u64,
    attempts: Vec<Attempt>,
    /// Why it waits; only while it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<Vec<WaitReason>>,
    /// Whether it takes longer than its like; absent when not.
    #[serde(skip_serializing_if = "Option::is_none")]
    straggling: Option<bool>,
    /// How long its like take as a rule; only when it straggles.
    #[serde(skip_serializing_if = "Option::is_none")]
    typical_ms: Option<u64>,
}

/// Why a task waits.
#[derive(Serialize, ToSchema)]
pub struct WaitReason {
    /// For programs: `predecessor`, `node_busy`, `retry_pause`, `delay`, `job_paused`, `job_stopped`, `cluster_limit`,
    /// `global_limit`, `no_workers`, `workers_busy` or `next`.
    code: String,
    /// For people: continues the sentence "the task waits …".
    text: String,
    /// When it ends, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<i64>,
    /// Id of the task that is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<String>,
}

/// A task that waits.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingTask {
    id: String,
    /// What it is called: `START db on node-2`.
    title: String,
    task_name: String,
    node_id: String,
    service: String,
    /// Since when it could run, had it a worker.
    ready_since: Option<i64>,
    waiting: Vec<WaitReason>,
}

/// A task that takes longer than its like.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StragglingTask {
    id: String,
    title: String,
    task_name: String,
    node_id: String,
    service: String,
    /// How long its like take as a rule.
    typical_ms: u64,
}

/// Tasks of a cluster's latest job that wait, or that take long.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingTasks {
    cluster_id: String,
    job_id: Option<String>,
    status: Option<String>,
    waiting: Vec<WaitingTask>,
    straggling: Vec<StragglingTask>,
}

/// A job.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Cluster and number: `00000042-001`.
    id: String,
    cluster_id: String,
    action: String,
    current_stage: u64,
    stages: Vec<Vec<StagedTask>>,
    status: String,
    message: Option<String>,
    start_time: Option<i64>,
    end_time: Option<i64>,
    tasks: Vec<GraphTask>,
    /// Ids of the tasks that decide how long the job takes.
    critical_path: Vec<String>,
    /// How long the job was taken to need when it was planned, in milliseconds; it stays as it was said then.
    predicted_ms: u64,
}

/// A line that a task printed.
#[derive(Serialize, ToSchema)]
pub struct LogLine {
    task: String,
    attempt: u32,
    /// In its task, from 1.
    number: u64,
    /// Milliseconds since 1970.
    time: i64,
    /// `stdout` or `stderr`.
    stream: String,
    text: String,
}

/// Lines that tasks printed.
#[derive(Serialize, ToSchema)]
pub struct Logs {
    lines: Vec<LogLine>,
    /// Path and query of the next part, as in the header `Link`; left out where there is none.
    next: Option<String>,
    /// Of one task: number of the newest line that was looked at. Who asks for those after it misses none.
    newest: Option<u64>,
}

/// An event, as those who follow are told of it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FollowedEvent {
    /// Its place among the events of all clusters; larger than those of all before it.
    id: u64,
    cluster_id: String,
    /// Its number among the events of the cluster, from 1.
    revision: u64,
    /// Milliseconds since 1970.
    time: i64,
    /// On whose behalf.
    who: String,
    /// Such as `task_succeeded`, as in the history.
    kind: String,
    /// The job's id, where the event says it.
    job: Option<String>,
    /// The task's number in the cluster.
    task: Option<u32>,
    attempt: Option<u32>,
    status: Option<String>,
    message: Option<String>,
}

/// Some events; who accepts `text/event-stream` gets each as it happens, with its id.
#[derive(Serialize, ToSchema)]
pub struct FollowedEvents {
    events: Vec<FollowedEvent>,
    /// Ask for those after it the next time.
    last: u64,
}

/// Values for the provider that a task needs and that are not kept.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderFields {
    #[schema(value_type = Option<Object>)]
    provider_fields: Option<Value>,
}

/// Another end of the lease.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeaseChange {
    /// Milliseconds since 1970.
    expire_time: i64,
    /// Whether that of a pending cluster changes too, which it does not in Coopr.
    while_pending: Option<bool>,
}

/// Another configuration.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigChange {
    #[schema(value_type = Object)]
    config: Value,
    /// Whether to restart services; true unless said otherwise.
    restart: Option<bool>,
    #[schema(value_type = Option<Object>)]
    provider_fields: Option<Value>,
}

/// More services.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServicesToAdd {
    services: Vec<String>,
    #[schema(value_type = Option<Object>)]
    provider_fields: Option<Value>,
}

/// Which nodes, and what of them.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeQuestion {
    cluster_id: String,
    /// Only these properties; all when there are none.
    properties: Option<Vec<String>>,
    /// Only nodes that carry all of these.
    services: Option<Vec<String>>,
}
