//! The journal alone: how many appends become durable, with few and with many clusters that give them.
//!
//! Each appender is a cluster that waits for one append before it gives the next, as actors do. An append is one event of
//! some 300 bytes, the cluster's row and one task's.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use cooperage_domain::id::{ClusterId, JobId, NodeId, TaskId};
use cooperage_domain::task::TaskName;
use cooperage_schema::{
    Append, AppendError, Appended as Stored, ClusterRow, Projection, Store, StoredEvent, TaskRow,
};
use serde::Serialize;

use super::database::Engine;
use super::stage::gone;
use crate::BenchError;

/// Tasks of the job that is under way in each cluster.
const TASKS: u64 = 12;

/// What came of so many appenders.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Appended {
    pub appenders: u64,
    /// Durable appends in a second.
    pub per_second: f64,
    /// Appends that shared a commit, on the average.
    pub shared: f64,
}

/// Lets so many clusters append at once, one number of them after the other.
///
/// # Errors
/// When the database cannot be made, or refuses an append.
pub fn measure(engine: &Engine, appenders: &[u64], period: Duration) -> Result<Vec<Appended>, BenchError> {
    let database = engine.database()?;
    let store = database.open()?;
    let mut first = 1;
    let mut measured = Vec::new();
    for &many in appenders {
        let before = store.journal().statistics();
        let per_second = rate(&store, first, many, period).map_err(gone)?;
        first += many;
        let after = store.journal().statistics();
        let shared = (after.jobs - before.jobs) as f64 / (after.batches - before.batches).max(1) as f64;
        measured.push(Appended { appenders: many, per_second, shared });
    }
    store.close();
    Ok(measured)
}

/// Durable appends per second.
fn rate(store: &Store, first: u64, appenders: u64, period: Duration) -> Result<f64, AppendError> {
    let journal = store.journal();
    let (sender, answered) = channel::<(u64, Result<Stored, AppendError>)>();
    let give = |cluster: u64, sequence: u64| {
        let sender = sender.clone();
        journal.append(transition(cluster, sequence), move |result| {
            // After an error nobody listens any more.
            let _ = sender.send((cluster, result));
        });
    };
    let begun = Instant::now();
    for cluster in first..first + appenders {
        give(cluster, 0);
    }
    let (mut done, mut under_way) = (0_u64, appenders);
    while under_way > 0
        && let Ok((cluster, result)) = answered.recv()
    {
        done += 1;
        if begun.elapsed() < period {
            give(cluster, result?.sequence);
        } else {
            under_way -= 1;
        }
    }
    Ok(done as f64 / begun.elapsed().as_secs_f64())
}

fn transition(cluster: u64, sequence: u64) -> Append {
    let id = ClusterId(cluster);
    let done = u32::try_from(sequence % TASKS).unwrap_or_default();
    let json = format!("\"{}\"", "a task was reported complete, and this is what it said; ".repeat(5));
    let projection = Projection {
        cluster: Some(cluster_row(id, done)),
        tasks: vec![task_row(id, done)],
        ..Projection::default()
    };
    Append {
        cluster: id,
        epoch: 1,
        expected_sequence: sequence,
        at_ms: 1_700_000_000_000,
        actor: "cluster".to_owned(),
        who: "worker".to_owned(),
        events: vec![StoredEvent { version: 1, json }],
        projection,
        snapshot: None,
    }
}

fn cluster_row(id: ClusterId, steps_done: u32) -> ClusterRow {
    ClusterRow {
        id,
        tenant: "bench".to_owned(),
        owner: "bench".to_owned(),
        name: format!("bench-{id}"),
        status: "pending".to_owned(),
        template: "bench".to_owned(),
        provider: "idle".to_owned(),
        created_ms: 1_700_000_000_000,
        expires_ms: 0,
        nodes: 3,
        latest_job: Some(JobId { cluster: id, number: 2 }),
        steps_total: 12,
        steps_done,
        message: None,
        summary: format!("{{\"name\":\"bench-{id}\",\"services\":[\"web\"]}}"),
    }
}

fn task_row(cluster: ClusterId, number: u32) -> TaskRow {
    TaskRow {
        id: TaskId { job: JobId { cluster, number: 2 }, number },
        node: NodeId("0191e5a6-0000-7000-8000-000000000001".to_owned()),
        service: "web".to_owned(),
        name: TaskName::Start,
        status: "complete".to_owned(),
        attempts: 1,
        started_ms: Some(1_700_000_000_000),
        ended_ms: Some(1_700_000_000_001),
        code: Some(0),
    }
}
