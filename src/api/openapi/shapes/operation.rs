//! How the installation does, and what provisioners say.

use std::collections::BTreeMap;

use cooperage_domain::layout::RemedyStep;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

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

/// What somebody did.
#[derive(Serialize, ToSchema)]
pub struct AuditEntry {
    sequence: u64,
    /// Milliseconds since 1970.
    at: i64,
    /// The id that the answer carried as `X-Request-Id`.
    request: String,
    /// Internal id of the tenant.
    tenant: String,
    user: String,
    /// `token ID`, `session ID`, `password` or `headers`.
    credential: String,
    /// Address the request came from.
    peer: String,
    /// Address a trusted proxy said it came from.
    forwarded: String,
    /// `user` or `tasks`.
    port: String,
    /// Method and route.
    action: String,
    object: String,
    status: u16,
    /// `done`, `refused` or `failed`.
    outcome: String,
    /// Of this entry and all before.
    hash: String,
}

/// Entries of the audit log.
#[derive(Serialize, ToSchema)]
pub struct AuditPage {
    entries: Vec<AuditEntry>,
    /// The cursor of the next page; none: this is the last one.
    next: Option<u64>,
}

/// Where the chain is broken.
#[derive(Serialize, ToSchema)]
pub struct AuditBreak {
    sequence: Option<u64>,
    reason: String,
}

/// Whether the audit log is as it was written.
#[derive(Serialize, ToSchema)]
pub struct AuditCheck {
    intact: bool,
    entries: Option<u64>,
    broken: Option<AuditBreak>,
    /// What older entries, that are gone, ended with.
    anchor: Option<Value>,
    /// What the newest one ends with.
    head: Option<Value>,
}

/// What is sealed, and under which keys.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretsStatus {
    key_file: String,
    current_key: String,
    older_keys: Vec<String>,
    data_keys: u64,
    /// Data keys that are not yet under the current key.
    data_keys_behind: u64,
    entity_versions: u64,
    clusters: u64,
    /// Data keys put under another key just now.
    #[serde(skip_serializing_if = "Option::is_none")]
    rewrapped: Option<u64>,
}

/// A provisioner that registers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    id: String,
    host: String,
    port: u16,
    capacity_total: u32,
    /// What it speaks beyond Coopr's protocol.
    extensions: Option<Vec<String>>,
    /// Whether it takes no more tasks.
    draining: Option<bool>,
}

/// That the server takes requests.
#[derive(Serialize, ToSchema)]
pub struct Ready {
    /// `ready`.
    status: String,
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
#[serde(rename_all = "camelCase")]
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
    /// Changes of the request that would help, each against one reason or another.
    remedy_steps: Option<Vec<RemedyStep>>,
}
