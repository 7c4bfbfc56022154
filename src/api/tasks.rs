//! Tasks for workers elsewhere: taken, and finished.

use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::ContentType;
use actix_web::{HttpResponse, web};
use cooperage_actors::cluster::GetState;
use cooperage_actors::fleet::Enrolled;
use cooperage_actors::handover::{Finish, NotHeld};
use cooperage_actors::registry::{Find, FindError};
use cooperage_actors::worker_pool::Take;
use cooperage_domain::cluster::Attempt;
use cooperage_domain::id::TaskId;
use cooperage_domain::task::TaskOrder;
use cooperage_domain::worker_protocol::Finished;
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

/// The name under which the journal knows a worker.
pub fn worker_name(provisioner: &str, worker: &str) -> String {
    format!("{provisioner}.{worker}")
}

/// Only workers of registered provisioners get in.
pub fn require_registered(state: &State, provisioner: &str) -> Result<Enrolled, Problem> {
    state.roll.find(provisioner).ok_or_else(|| {
        let detail = format!("provisioner {provisioner:?} is not registered");
        Problem::new(StatusCode::FORBIDDEN, detail).with_remedy("register it again")
    })
}

async fn take(state: State, body: web::Bytes) -> Answer {
    let worker: WorkerId = body::parse(&body)?;
    require_registered(&state, &worker.provisioner_id)?;
    let name = worker_name(&worker.provisioner_id, &worker.worker_id);
    let pool = state.pools.find(&state.registry, &worker.tenant_id).await?;
    for _ in 0..MAX_NODES_ASKED {
        let (sender, order) = oneshot::channel::<TaskOrder>();
        let take = Take { name: name.clone(), waits: sender };
        if !pool.send(take).await.map_err(Problem::internal)? {
            break;
        }
        // Ends without an order when the node's task was gone.
        if let Ok(order) = order.await {
            let json = order.into_json().map_err(Problem::internal)?;
            return Ok(HttpResponse::Ok().content_type(ContentType::json()).body(json));
        }
    }
    Ok(HttpResponse::NoContent().finish())
}

async fn finish(state: State, body: web::Bytes) -> Answer {
    let finished: Finished = body::parse(&body)?;
    require_registered(&state, &finished.provisioner_id)?;
    let not_held = |fault: &NotHeld| Problem::new(StatusCode::EXPECTATION_FAILED, fault.to_string());
    // An id that is none names a task nobody holds.
    let task: TaskId = finished.task_id.parse().map_err(|_| not_held(&NotHeld))?;
    let worker = worker_name(&finished.provisioner_id, &finished.worker_id);
    let (attempt, report) = (finished.attempt, finished.report);
    for _ in 0..MAX_ASKED_AGAIN {
        let finish = Finish { task, attempt, worker: worker.clone(), report: report.clone() };
        match state.handover.finish(finish).await {
            Ok(()) => return Ok(HttpResponse::Ok().finish()),
            // After a restart the journal may know better: the attempt is about to be taken up.
            Err(NotHeld) => match standing(&state, task, attempt, &worker).await {
                Ok(Standing::Open) => actix_rt::time::sleep(PAUSE).await,
                // It came twice, since the answer to the first one was lost.
                Ok(Standing::Ended { code }) if code == report.status => {
                    return Ok(HttpResponse::Ok().finish());
                }
                Ok(Standing::Ended { .. } | Standing::Unknown) => return Err(not_held(&NotHeld)),
                // Nobody knows now; the worker is to ask again.
                Err(fault) => return Err(fault),
            },
        }
    }
    let detail = format!("task {task} is not taken up yet after a restart");
    Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail)
        .with_remedy("send the report again in a moment"))
}

/// What the journal says of a worker's attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The worker holds it.
    Open,
    /// It has ended with this code; only told to workers that say which attempt they mean.
    Ended {
        /// 0 is success.
        code: i64,
    },
    /// There is no such attempt of that worker.
    Unknown,
}

/// How an attempt stands. Asking makes the cluster take its open attempts up.
///
/// # Errors
/// When it cannot be known now.
pub async fn standing(
    state: &State,
    task: TaskId,
    attempt: Option<u32>,
    worker: &str,
) -> Result<Standing, Problem> {
    let find = Find { id: task.job.cluster };
    let cluster = match state.registry.send(find).await.map_err(Problem::internal)? {
        Ok(cluster) => cluster,
        Err(FindError::Unknown(_)) => return Ok(Standing::Unknown),
        Err(fault) => return Err(fault.into()),
    };
    let cluster = cluster.send(GetState).await.map_err(Problem::internal)?;
    let cluster = cluster.ok_or_else(|| Problem::internal("the cluster is being read"))?;
    let job = cluster.latest_job().filter(|job| job.id == task.job);
    let attempts = job.and_then(|job| job.tasks.get(&task.number)).map(|task| &task.attempts);
    let meant = |one: &&Attempt| match attempt {
        Some(number) => one.number == number,
        None => one.outcome.is_none(),
    };
    let found = attempts.into_iter().flatten().filter(|one| one.worker == worker).find(meant);
    Ok(match found.map(|found| &found.outcome) {
        Some(Some(outcome)) => Standing::Ended { code: outcome.code },
        Some(None) => Standing::Open,
        None => Standing::Unknown,
    })
}
