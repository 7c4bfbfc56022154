//! Shapes of requests and answers that are no entities, for the description only: handlers write and read them as JSON, and
//! the tests hold what they say against these.

use std::collections::BTreeMap;

use cooperage_domain::entity::{
    ClusterTemplate, HardwareType, ImageType, Link, PartialTemplate, Provider, Service,
};
use cooperage_domain::task::NodeProperties;
use cooperage_domain::tenant::TenantSpec;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

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
    /// `pending`, `active`, `incomplete`, `inconsistent` or `terminated`.
    status: String,
    num_nodes: u64,
    progress: Option<Progress>,
}

/// The number of a new cluster.
#[derive(Serialize, ToSchema)]
pub struct ClusterCreated {
    id: String,
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
    /// Why the latest job ended as it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
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
    estimate_ms: u64,
    attempts: Vec<Attempt>,
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

/// An entity and its kind.
#[derive(Serialize, ToSchema)]
pub struct AppliedEntity {
    /// `provider`, `hardwaretype`, `imagetype`, `service`, `clustertemplate`, `partialtemplate`.
    kind: String,
    name: String,
}

/// What became, or would become, of an entity.
#[derive(Serialize, ToSchema)]
pub struct AppliedChange {
    kind: String,
    name: String,
    /// `created`, `changed` or `unchanged`.
    change: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Value>,
    after: Value,
}

/// Everything a tenant describes, by kind.
#[derive(Default, Serialize, ToSchema)]
#[serde(default)]
pub struct Export {
    providers: Vec<Provider>,
    hardwaretypes: Vec<HardwareType>,
    imagetypes: Vec<ImageType>,
    services: Vec<Service>,
    clustertemplates: Vec<ClusterTemplate>,
    partialtemplates: Vec<PartialTemplate>,
}

/// A version of a plugin resource.
#[derive(Serialize, ToSchema)]
pub struct Resource {
    name: String,
    version: u64,
    /// `active`, `inactive`, `staged` or `recalled`.
    status: String,
    /// Of its bytes, in hexadecimal digits.
    sha256: String,
    /// In bytes.
    size: u64,
}

/// A tenant to be made or changed.
#[derive(Serialize, ToSchema)]
pub struct TenantChange {
    tenant: TenantSpec,
    /// Whether it begins with what the superadmin's describes.
    bootstrap: Option<bool>,
}

/// A tenant's queue.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Queue {
    /// Tasks that wait for a worker.
    queued: u64,
    /// Tasks in the hands of one.
    in_progress: u64,
    total: u64,
}

/// Machine time of an interval.
#[derive(Serialize, ToSchema)]
pub struct UsageInterval {
    /// Where it begins, in seconds since 1970.
    time: i64,
    value: f64,
}

/// Machine time used.
#[derive(Serialize, ToSchema)]
pub struct Usage {
    /// Seconds since 1970.
    start: i64,
    /// Seconds since 1970.
    end: i64,
    data: Vec<UsageInterval>,
}

/// A user of a tenant.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct User {
    name: String,
    /// `reader`, `user`, `admin` or `superadmin`.
    role: String,
    /// Whether nothing of this user's is let in any more.
    disabled: bool,
    /// Whether the user can log in.
    has_password: bool,
    /// Milliseconds since 1970.
    created: i64,
}

/// A user to be made or changed; what is left out stays.
#[derive(Serialize, ToSchema)]
pub struct UserChange {
    /// Needed for a new one.
    name: Option<String>,
    role: Option<String>,
    /// 12 characters or more.
    password: Option<String>,
    disabled: Option<bool>,
}

/// What is known of a token; never its secret.
#[derive(Serialize, ToSchema)]
pub struct Token {
    id: String,
    /// What it is for.
    label: String,
    user: String,
    role: String,
    /// What it is limited to; none: nothing.
    scopes: Vec<String>,
    /// Milliseconds since 1970.
    created: i64,
    expires: Option<i64>,
    revoked: Option<i64>,
    /// Whether it lets anybody in now.
    counts: bool,
}

/// What a token is to be.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenRequest {
    /// What it is for.
    label: Option<String>,
    /// Who holds it; the caller unless said otherwise.
    user: Option<String>,
    /// The most the holder may be with it; what the user is unless said otherwise.
    role: Option<String>,
    /// What it is limited to, such as `clusters`, `catalog:read` or `read`.
    scopes: Option<Vec<String>>,
    /// How long it counts; for ever unless said otherwise.
    expires_in_seconds: Option<i64>,
}

/// A new token.
#[derive(Serialize, ToSchema)]
pub struct NewToken {
    #[serde(flatten)]
    about: Token,
    /// The secret, shown this once.
    token: String,
}

/// A token for a name and a password.
#[derive(Serialize, ToSchema)]
pub struct IssuedToken {
    access_token: String,
    token_type: String,
    /// Seconds.
    expires_in: i64,
}

/// Who logs in.
#[derive(Serialize, ToSchema)]
pub struct Login {
    tenant: String,
    user: String,
    password: String,
}

/// Who logged in.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoggedIn {
    user: String,
    tenant: String,
    role: String,
    /// Milliseconds since 1970.
    session_expires: i64,
}

/// Who the caller is.
#[derive(Serialize, ToSchema)]
pub struct Caller {
    user: String,
    tenant: String,
    role: String,
    scopes: Vec<String>,
    /// `headers`, `token` or `session`.
    credential: String,
}

/// Another password.
#[derive(Serialize, ToSchema)]
pub struct PasswordChange {
    old: String,
    new: String,
}

/// A provisioner that registers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    id: String,
    host: String,
    port: u16,
    capacity_total: u32,
}

/// A sign of life.
#[derive(Serialize, ToSchema)]
pub struct Heartbeat {
    /// Workers by tenant id.
    usage: Option<BTreeMap<String, u32>>,
}

/// A worker that asks for work.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Worker {
    worker_id: String,
    provisioner_id: String,
    tenant_id: String,
}

/// A refusal (RFC 9457).
#[derive(Serialize, ToSchema)]
pub struct Problem {
    /// The HTTP status.
    status: u16,
    /// The status in words.
    title: String,
    /// What is wrong, in a sentence.
    detail: String,
    /// The field at fault.
    field: Option<String>,
    /// Its value.
    value: Option<String>,
    /// What to do about it.
    remedy: Option<String>,
    /// Why there is no layout.
    reasons: Option<Vec<String>>,
}
