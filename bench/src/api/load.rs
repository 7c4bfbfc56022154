//! Workers that take tasks and say at once that they are done, as fast as the server lets them or at a pace.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::wire::Wire;
use crate::{BenchError, catalogue};

/// Name of the provisioner whose workers they are.
pub const PROVISIONER: &str = "bench";
/// Pause of a worker when there is nothing to do.
const NOTHING: Duration = Duration::from_millis(5);

/// When the reports of tasks were sent: by cluster and number of the task.
pub type Sent = HashMap<(String, u32), Instant>;

/// Workers at work.
pub struct Load {
    workers: JoinSet<Result<(), BenchError>>,
    shared: Arc<Shared>,
    begun: Instant,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    done: AtomicU64,
    sent: Mutex<Sent>,
}

/// What the workers did.
#[derive(Debug)]
pub struct Done {
    /// Tasks finished in a second.
    pub rate: f64,
    /// When the reports were sent.
    pub sent: Sent,
}

impl Load {
    /// So many workers, each of which rests for `pause` behind a task.
    ///
    /// # Errors
    /// When the server lets no provisioner in.
    pub async fn start(tasks: SocketAddr, workers: usize, pause: Duration) -> Result<Self, BenchError> {
        catalogue::register(&mut Wire::open(tasks, None).await?, PROVISIONER, &[]).await?;
        let shared = Arc::new(Shared::default());
        let mut set = JoinSet::new();
        for number in 0..workers {
            let shared = Arc::clone(&shared);
            set.spawn(async move { work(tasks, &format!("w{number}"), pause, &shared).await });
        }
        Ok(Self { workers: set, shared, begun: Instant::now() })
    }

    /// How many tasks they have finished.
    pub fn done(&self) -> u64 {
        self.shared.done.load(Ordering::Relaxed)
    }

    /// Lets them end, and says what they did.
    ///
    /// # Errors
    /// When the server refused one.
    pub async fn stop(mut self) -> Result<Done, BenchError> {
        let taken = self.begun.elapsed();
        let done = self.done();
        self.shared.stop.store(true, Ordering::Relaxed);
        while let Some(ended) = self.workers.join_next().await {
            ended.map_err(|fault| BenchError::Server(fault.to_string()))??;
        }
        let sent = std::mem::take(&mut *self.shared.sent.lock().await);
        Ok(Done { rate: done as f64 / taken.as_secs_f64(), sent })
    }
}

async fn work(tasks: SocketAddr, worker: &str, pause: Duration, shared: &Shared) -> Result<(), BenchError> {
    let mut wire = Wire::open(tasks, None).await?;
    let me = json!({"workerId": worker, "provisionerId": PROVISIONER, "tenantId": catalogue::TENANT});
    while !shared.stop.load(Ordering::Relaxed) {
        let order = wire.must("POST", "/v2/tasks/take", &me).await?;
        let Some(id) = order["taskId"].as_str() else {
            tokio::time::sleep(NOTHING).await;
            continue;
        };
        let mut report = report(&order, &me);
        report["taskId"] = id.into();
        if !pause.is_zero() {
            let sent = Instant::now();
            shared.sent.lock().await.extend(key(id).map(|key| (key, sent)));
        }
        wire.must("POST", "/v2/tasks/finish", &report).await?;
        shared.done.fetch_add(1, Ordering::Relaxed);
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
    }
    Ok(())
}

/// That a task is done, with what the next ones need of a machine.
fn report(order: &Value, me: &Value) -> Value {
    let mut report = me.clone();
    report["status"] = 0.into();
    report["stdout"] = "".into();
    report["stderr"] = "".into();
    if order["taskName"] == "CONFIRM" || order["taskName"] == "CREATE" {
        report["result"] = json!({"ssh_host_keys": {"ed25519": "AAAA"}});
        report["ipaddresses"] = json!({"access_v4": "127.0.0.1", "bind_v4": "127.0.0.1"});
        report["hostname"] = order["config"]["hostname"].clone();
    }
    report
}

/// Cluster and number of a task, as events name it: `00000001-002-003` is task 3 of cluster 00000001.
fn key(id: &str) -> Option<(String, u32)> {
    let mut parts = id.split('-');
    let cluster = parts.next()?.to_owned();
    Some((cluster, parts.nth(1)?.parse().ok()?))
}
