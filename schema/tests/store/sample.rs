//! Rows and appends that tests need and do not care about.

use cooperage_domain::id::{ClusterId, JobId, NodeId, TaskId};
use cooperage_domain::task::TaskName;
use cooperage_schema::{Append, ClusterRow, JobRow, NodeRow, Projection, StoredEvent, TaskRow};

pub fn event(text: &str) -> StoredEvent {
    StoredEvent { version: 1, json: format!(r#"{{"said":"{text}"}}"#) }
}

/// Events for a cluster whose journal ends at `expected_sequence`.
pub fn append(cluster: u64, expected_sequence: u64, texts: &[&str]) -> Append {
    Append {
        cluster: ClusterId(cluster),
        epoch: 1,
        expected_sequence,
        at_ms: 1_700_000_000_000,
        actor: "cluster".to_owned(),
        who: "ann".to_owned(),
        events: texts.iter().map(|text| event(text)).collect(),
        projection: Projection::default(),
        snapshot: None,
    }
}

pub fn job(cluster: u64, number: u32) -> JobId {
    JobId { cluster: ClusterId(cluster), number }
}

pub fn task(cluster: u64, number: u32) -> TaskId {
    TaskId { job: job(cluster, 1), number }
}

pub fn cluster_row(id: u64) -> ClusterRow {
    ClusterRow {
        id: ClusterId(id),
        tenant: "dept-a".to_owned(),
        owner: "ann".to_owned(),
        name: format!("farm-{id}"),
        status: "pending".to_owned(),
        template: "web-farm".to_owned(),
        provider: "lab".to_owned(),
        created_ms: 1_000,
        expires_ms: 0,
        nodes: 3,
        latest_job: Some(job(id, 1)),
        steps_total: 12,
        steps_done: 0,
        message: None,
        summary: "{}".to_owned(),
    }
}

pub fn node_row(cluster: u64, number: u32) -> NodeRow {
    NodeRow {
        id: NodeId(format!("node-{cluster}-{number}")),
        cluster: ClusterId(cluster),
        tenant: "dept-a".to_owned(),
        number,
        hostname: None,
        status: "new".to_owned(),
        document: "{}".to_owned(),
    }
}

pub fn job_row(cluster: u64, number: u32) -> JobRow {
    JobRow {
        id: job(cluster, number),
        action: "cluster_create".to_owned(),
        status: "running".to_owned(),
        started_ms: Some(1_000),
        ended_ms: None,
        message: None,
    }
}

pub fn task_row(cluster: u64, number: u32) -> TaskRow {
    TaskRow {
        id: task(cluster, number),
        node: NodeId(format!("node-{cluster}-1000")),
        service: String::new(),
        name: TaskName::Create,
        status: "running".to_owned(),
        attempts: 1,
        started_ms: Some(1_000),
        ended_ms: None,
        code: None,
    }
}
