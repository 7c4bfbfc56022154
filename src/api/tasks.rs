//! Tasks for workers elsewhere: taken, and finished.

use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_actors::cluster::GetState;
use cooperage_actors::fleet::ListProvisioners;
use cooperage_actors::handover::{Finish, NotHeld};
use cooperage_actors::registry::{Find, FindPool};
use cooperage_actors::worker_pool::Take;
use cooperage_domain::id::TaskId;
use cooperage_domain::task::{TaskOrder, TaskReport};
use serde::Deserialize;
use tokio::sync::oneshot;

use super::body;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;

/// Nodes that are asked in turn when one turns out to have nothing to do after all.
const MAX_NODES_ASKED: usize = 16;

/// How often a report is offered again while its task is being taken up after a restart.
const MAX_ASKED_AGAIN: u32 = 40;
/// Pause between two offers.
const PAUSE: Duration = Duration::from_millis(50);

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Routes for workers.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/tasks/take", |on| on.post(take));
    routes.at("/v2/tasks/finish", |on| on.post(finish));
}

/// Who asks, as workers say it; all are needed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WorkerId {
    worker_id: String,
    provisioner_id: String,
    tenant_id: String,
}

impl WorkerId {
    /// The name under which the journal knows the worker.
    fn name(&self) -> String {
        format!("{}.{}", self.provisioner_id, self.worker_id)
    }

    /// Only workers of registered provisioners get in.
    async fn require_registered(&self, state: &State) -> Result<(), Problem> {
        let known = state.fleet.send(ListProvisioners).await.map_err(Problem::internal)?;
        if known.iter().any(|provisioner| provisioner.id == self.provisioner_id) {
            return Ok(());
        }
        let detail = format!("provisioner {:?} is not registered", self.provisioner_id);
        Err(Problem::new(StatusCode::FORBIDDEN, detail).with_remedy("register it again"))
    }
}

async fn take(state: State, body: web::Bytes) -> Answer {
    let worker: WorkerId = body::parse(&body)?;
    worker.require_registered(&state).await?;
    let pool = FindPool { tenant: worker.tenant_id.clone() };
    let pool = state.registry.send(pool).await.map_err(Problem::internal)?;
    for _ in 0..MAX_NODES_ASKED {
        let (sender, order) = oneshot::channel::<TaskOrder>();
        let take = Take { name: worker.name(), waits: sender };
        if !pool.send(take).await.map_err(Problem::internal)? {
            break;
        }
        // Ends without an order when the node's task was gone.
        if let Ok(order) = order.await {
            return Ok(HttpResponse::Ok().json(order));
        }
    }
    Ok(HttpResponse::NoContent().finish())
}

/// A worker's report, with who it is.
#[derive(Debug, Deserialize)]
struct Finished {
    #[serde(flatten)]
    worker: WorkerId,
    #[serde(rename = "taskId")]
    task: String,
    #[serde(flatten)]
    report: TaskReport,
}

async fn finish(state: State, body: web::Bytes) -> Answer {
    let finished: Finished = body::parse(&body)?;
    finished.worker.require_registered(&state).await?;
    let not_held = |fault: &NotHeld| Problem::new(StatusCode::EXPECTATION_FAILED, fault.to_string());
    // An id that is none names a task nobody holds.
    let task: TaskId = finished.task.parse().map_err(|_| not_held(&NotHeld))?;
    let worker = finished.worker.name();
    for _ in 0..MAX_ASKED_AGAIN {
        let finish = Finish { task, worker: worker.clone(), report: finished.report.clone() };
        match state.handover.send(finish).await.map_err(Problem::internal)? {
            Ok(()) => return Ok(HttpResponse::Ok().finish()),
            // After a restart the journal may know better: the attempt is about to be taken up.
            Err(NotHeld) if is_open(&state, task, &worker).await => actix_rt::time::sleep(PAUSE).await,
            Err(NotHeld) => break,
        }
    }
    Err(not_held(&NotHeld))
}

/// Whether the journal says that this worker holds the task. Asking makes the cluster take its open attempts up.
async fn is_open(state: &State, task: TaskId, worker: &str) -> bool {
    let Ok(Ok(cluster)) = state.registry.send(Find { id: task.job.cluster }).await else { return false };
    let Ok(Some(cluster)) = cluster.send(GetState).await else { return false };
    let job = cluster.latest_job().filter(|job| job.id == task.job);
    let open = job.and_then(|job| job.tasks.get(&task.number)?.open_attempt());
    open.is_some_and(|attempt| attempt.worker == worker)
}
