//! Tasks for many workers of a provisioner with one request, which waits until there are some.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use actix::Addr;
use actix_web::http::StatusCode;
use actix_web::http::header::ContentType;
use actix_web::{HttpResponse, web};
use cooperage_actors::cluster::GetState;
use cooperage_actors::provisioner::Execution;
use cooperage_actors::registry::Find;
use cooperage_actors::worker_pool::{Dismiss, Park, WorkerPool};
use cooperage_domain::cluster;
use cooperage_domain::task::TaskOrder;
use cooperage_domain::worker_protocol::{LONGEST_WAIT_SECONDS, MOST_WORKERS, TakeBatch};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::body;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;
use super::tasks::{require_registered, worker_name};

/// How long to wait for more tasks once there is one.
const GATHER: Duration = Duration::from_millis(5);
/// How long a task that was given to a worker may take until it is recorded; then the worker is offered it again.
const RECORDED_WITHIN: Duration = Duration::from_secs(5);

/// How often those who wait are asked after tasks that never arrived.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Tells batches of one provisioner from each other.
static TICKET: AtomicU64 = AtomicU64::new(0);

type State = web::Data<AppState>;

/// Routes for provisioners.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/tasks/take/batch", |on| on.post(take));
}

async fn take(state: State, body: web::Bytes) -> Result<HttpResponse, Problem> {
    let batch: TakeBatch = body::parse(&body)?;
    check(&batch)?;
    let provisioner = require_registered(&state, &batch.provisioner_id)?;
    let names: Vec<String> =
        batch.worker_ids.iter().map(|worker| worker_name(&batch.provisioner_id, worker)).collect();
    let pool = state.pools.find(&state.registry, &batch.tenant_id).await?;
    let mut taken = Vec::new();
    // One that is about to go only gets what is its already.
    if names.is_empty() || provisioner.draining {
        pool.do_send(Dismiss { provisioner: batch.provisioner_id.clone(), ticket: None });
    } else if state.handover.undelivered(&batch.tenant_id, &names).is_empty() {
        let parking = Parking::new(pool, batch.provisioner_id.clone(), &names);
        taken = parking.wait(&state, &batch.tenant_id, &names, wait(&batch)).await;
    }
    let served: BTreeSet<&String> = taken.iter().map(|(name, _)| name).collect();
    let others: Vec<String> = names.iter().filter(|name| !served.contains(name)).cloned().collect();
    for (name, execution) in state.handover.undelivered(&batch.tenant_id, &others) {
        taken.extend(order_again(&state, execution).await.map(|order| (name, order)));
    }
    let prefix = batch.provisioner_id.len() + 1;
    let tasks = taken.into_iter().map(|(name, order)| (name[prefix..].to_owned(), order));
    let json = in_json(tasks).map_err(Problem::internal)?;
    Ok(HttpResponse::Ok().content_type(ContentType::json()).body(json))
}

/// A `Taken`, with orders as they write themselves.
fn in_json(tasks: impl Iterator<Item = (String, TaskOrder)>) -> serde_json::Result<String> {
    let mut json = "{\"tasks\":[".to_owned();
    for (number, (worker, order)) in tasks.enumerate() {
        json.push_str(if number == 0 { "{\"workerId\":" } else { ",{\"workerId\":" });
        json.push_str(&serde_json::to_string(&worker)?);
        json.push_str(",\"task\":");
        json.push_str(&order.into_json()?);
        json.push('}');
    }
    json.push_str("]}");
    Ok(json)
}

/// The order of an execution that is open, as it was given: for a worker that never received it.
async fn order_again(state: &State, execution: Execution) -> Option<TaskOrder> {
    let Execution { task, attempt } = execution;
    let find = Find { id: task.job.cluster };
    let cluster = state.registry.send(find).await.ok()?.ok()?;
    let cluster = cluster.send(GetState).await.ok()??;
    // An order of an earlier job would be another task's.
    cluster.latest_job().filter(|job| job.id == task.job)?;
    let mut order = cluster::order(&cluster, task.number, attempt).ok()?;
    let secrets = state.vault.known(task.job.cluster).unwrap_or_default();
    secrets.secrets.reveal(&mut order);
    Some(order)
}

fn wait(batch: &TakeBatch) -> Duration {
    Duration::from_secs(batch.wait_seconds.min(LONGEST_WAIT_SECONDS).into())
}

fn check(batch: &TakeBatch) -> Result<(), Problem> {
    let asked = batch.worker_ids.len();
    if asked <= MOST_WORKERS {
        return Ok(());
    }
    let detail = format!("workerIds: {asked} workers in one request; at most {MOST_WORKERS} are allowed");
    Err(Problem::new(StatusCode::BAD_REQUEST, detail)
        .at("workerIds", asked.to_string())
        .with_remedy("ask for fewer workers at once, and for the others with the next request"))
}

type Wait = BoxFuture<'static, (String, Option<TaskOrder>)>;

/// Workers that wait in the pool of their tenant.
struct Parking {
    pool: Addr<WorkerPool>,
    provisioner: String,
    ticket: u64,
    waits: FuturesUnordered<Wait>,
    taken: Vec<(String, TaskOrder)>,
}

impl Parking {
    fn new(pool: Addr<WorkerPool>, provisioner: String, names: &[String]) -> Self {
        let ticket = TICKET.fetch_add(1, Ordering::Relaxed);
        let waits = FuturesUnordered::new();
        let place = |name: &String| {
            let (place, order) = oneshot::channel();
            let named = name.clone();
            waits.push(Box::pin(async move { (named, order.await.ok()) }) as Wait);
            (name.clone(), place)
        };
        let workers = names.iter().map(place).collect();
        pool.do_send(Park { provisioner: provisioner.clone(), ticket, workers });
        Self { pool, provisioner, ticket, waits, taken: Vec::new() }
    }

    /// Until there is a task, and a little longer; or until the time is up, the server stops, or it turns out that a worker
    /// has a task that never arrived, as may be known only some time after a restart.
    async fn wait(
        mut self,
        state: &State,
        tenant: &str,
        names: &[String],
        limit: Duration,
    ) -> Vec<(String, TaskOrder)> {
        let until = Instant::now() + limit;
        while self.taken.is_empty() && !self.waits.is_empty() && Instant::now() < until {
            let look = until.min(Instant::now() + LOOK_AGAIN);
            tokio::select! {
                () = self.gather(look, 1) => {}
                () = state.stopping.cancelled() => break,
            }
            if self.taken.is_empty() && !state.handover.undelivered(tenant, names).is_empty() {
                break;
            }
        }
        if !self.taken.is_empty() {
            self.gather(Instant::now() + GATHER, usize::MAX).await;
        }
        self.pool.do_send(Dismiss { provisioner: self.provisioner.clone(), ticket: Some(self.ticket) });
        self.gather(Instant::now() + RECORDED_WITHIN, usize::MAX).await;
        self.taken
    }

    /// Until there are so many tasks, nobody waits any more, or the time is up. Places whose node had nothing to do after
    /// all end empty.
    async fn gather(&mut self, until: Instant, enough: usize) {
        while self.taken.len() < enough {
            let Ok(Some((name, order))) = timeout_at(until, self.waits.next()).await else { return };
            self.taken.extend(order.map(|order| (name, order)));
        }
    }
}

#[cfg(test)]
mod tests {
    use cooperage_domain::task::TaskConfig;
    use cooperage_domain::worker_protocol::Taken;
    use serde_json::json;

    use super::*;

    #[test]
    fn orders_are_written_as_everybody_reads_them() {
        let order: TaskOrder = serde_json::from_value(json!({
            "taskId": "00000001-002-003", "jobId": "00000001-002", "clusterId": "00000001", "taskName": "INSTALL",
            "nodeId": "n1", "attempt": 1, "config": {"hostname": "a\"b", "nodes": {"n1": {"nodenum": 1000}, "n2": {}}},
        }))
        .unwrap();
        let nobody = TaskOrder { config: TaskConfig::default(), ..order.clone() };
        let tasks = [("w.1", order), ("w\"2", nobody)];
        let json =
            in_json(tasks.clone().map(|(worker, order)| (worker.to_owned(), order)).into_iter()).unwrap();
        let read: Taken = serde_json::from_str(&json).unwrap();
        let read: Vec<_> = read.tasks.iter().map(|one| (one.worker_id.as_str(), one.task.clone())).collect();
        assert_eq!(read, tasks);
        assert_eq!(in_json(std::iter::empty()).unwrap(), "{\"tasks\":[]}");
    }
}
