//! A trace in the words of OTLP (JSON). Ids follow from those of the job, so that the same trace sent twice is the same.

use cooperage_schema::{ClusterRow, JobRow, TaskRow};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A span inside of one process.
const INTERNAL: u32 = 1;
const OK: u32 = 1;
const ERROR: u32 = 2;
/// The status of jobs and tasks that are done.
const COMPLETE: &str = "complete";

/// A job with its tasks.
pub fn trace(cluster: &ClusterRow, job: &JobRow, tasks: &[TaskRow]) -> Value {
    let trace = hex(&format!("{} {:?}", job.id, job.started_ms), 16);
    let root = hex(&format!("{} {:?} job", job.id, job.started_ms), 8);
    let begin = job.started_ms.unwrap_or(cluster.created_ms);
    let mut spans = vec![json!({
        "traceId": trace, "spanId": root, "name": job.action, "kind": INTERNAL,
        "startTimeUnixNano": nanoseconds(begin), "endTimeUnixNano": nanoseconds(job.ended_ms.unwrap_or(begin)),
        "attributes": [
            text("cooperage.cluster.id", &cluster.id.to_string()), text("cooperage.cluster.name", &cluster.name),
            text("cooperage.tenant.id", &cluster.tenant), text("cooperage.owner", &cluster.owner),
            text("cooperage.template", &cluster.template), text("cooperage.provider", &cluster.provider),
            text("cooperage.job.id", &job.id.to_string()),
        ],
        "status": status(job.status == COMPLETE, job.message.as_deref()),
    })];
    spans.extend(tasks.iter().filter_map(|task| span(task, &trace, &root)));
    json!({"resourceSpans": [{
        "resource": {"attributes": [
            text("service.name", "cooperage"), text("service.version", env!("CARGO_PKG_VERSION")),
        ]},
        "scopeSpans": [{"scope": {"name": "cooperage.jobs"}, "spans": spans}],
    }]})
}

/// A task; none when it was never begun.
fn span(task: &TaskRow, trace: &str, root: &str) -> Option<Value> {
    let begin = task.started_ms?;
    let name = match task.service.as_str() {
        "" => task.name.to_string(),
        service => format!("{} {service}", task.name),
    };
    Some(json!({
        "traceId": trace, "spanId": hex(&format!("{trace} {}", task.id), 8), "parentSpanId": root,
        "name": name, "kind": INTERNAL,
        "startTimeUnixNano": nanoseconds(begin), "endTimeUnixNano": nanoseconds(task.ended_ms.unwrap_or(begin)),
        "attributes": [
            text("cooperage.task.id", &task.id.to_string()), text("cooperage.node.id", &task.node.to_string()),
            json!({"key": "cooperage.task.attempts", "value": {"intValue": task.attempts.to_string()}}),
        ],
        "status": status(task.status == COMPLETE, None),
    }))
}

fn status(is_well: bool, message: Option<&str>) -> Value {
    match (is_well, message) {
        (true, _) => json!({"code": OK}),
        (false, None) => json!({"code": ERROR}),
        (false, Some(message)) => json!({"code": ERROR, "message": message}),
    }
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// Milliseconds since 1970 as OTLP has times: nanoseconds, in a text since JSON's numbers are too short.
fn nanoseconds(ms: i64) -> String {
    (i128::from(ms) * 1_000_000).to_string()
}

/// So many bytes that follow from a text.
fn hex(text: &str, bytes: usize) -> String {
    Sha256::digest(text).iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}
