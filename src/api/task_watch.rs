//! What comes from running tasks, and what they are told: output while they run, and that nobody waits for them any more.

use std::time::Duration;

use actix_web::{HttpResponse, web};
use cooperage_actors::handover::{AcceptLines, Holding};
use cooperage_actors::provisioner::Execution;
use cooperage_domain::worker_protocol::{
    ExecutionId, LONGEST_WAIT_SECONDS, LinesTaken, OutputBatch, OutputPart, OutputStream, OutputTaken,
    Unwanted, Watch,
};
use cooperage_plugins::{Output, Stream};

use super::body;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;
use super::tasks::{Standing, require_registered, standing, worker_name};

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Routes for provisioners.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/tasks/output", |on| on.post(output));
    routes.at("/v2/tasks/watch", |on| on.post(watch));
}

async fn output(state: State, body: web::Bytes) -> Answer {
    let batch: OutputBatch = body::parse(&body)?;
    require_registered(&state, &batch.provisioner_id)?;
    // To its end even if the provisioner goes away: what is counted must be kept.
    let taken = actix_rt::spawn(take_in(state, batch)).await.map_err(Problem::internal)??;
    Ok(HttpResponse::Ok().json(OutputTaken { taken }))
}

async fn take_in(state: State, batch: OutputBatch) -> Result<Vec<LinesTaken>, Problem> {
    let mut taken = Vec::new();
    for part in batch.outputs {
        let worker = worker_name(&batch.provisioner_id, &part.worker_id);
        let accept = AcceptLines {
            execution: execution(part.execution),
            worker,
            first: part.first,
            lines: part.lines.len() as u64,
        };
        if let Some((known, next)) = state.handover.accept_lines(&accept) {
            keep(&state, &part, known);
            taken.push(LinesTaken { execution: part.execution, next });
        }
    }
    Ok(taken)
}

/// Has lines stored, but for the first ones, which are there already.
fn keep(state: &State, part: &OutputPart, known: u64) {
    let ExecutionId { task_id, attempt } = part.execution;
    let secrets = state.vault.known(task_id.job.cluster).unwrap_or_default();
    let log = state.log.of(task_id, attempt, secrets.redactor.clone());
    for line in part.lines.iter().skip(usize::try_from(known).unwrap_or(usize::MAX)) {
        let stream = match line.stream {
            OutputStream::Stdout => Stream::Stdout,
            OutputStream::Stderr => Stream::Stderr,
            OutputStream::Progress => Stream::Progress,
        };
        log.line(stream, &line.text);
    }
}

async fn watch(state: State, body: web::Bytes) -> Answer {
    let watch: Watch = body::parse(&body)?;
    require_registered(&state, &watch.provisioner_id)?;
    // Waited for before it is looked at, so that nothing falls between.
    let given_up = state.handover.given_up(&watch.provisioner_id);
    let mut cancel = unwanted(&state, &watch).await?;
    if cancel.is_empty() {
        let wait = Duration::from_secs(watch.wait_seconds.min(LONGEST_WAIT_SECONDS).into());
        tokio::select! {
            found = given_up => cancel.extend(found.ok().map(|execution| ExecutionId {
                task_id: execution.task,
                attempt: execution.attempt,
            })),
            () = actix_rt::time::sleep(wait) => {}
            () = state.stopping.cancelled() => {}
        }
    }
    Ok(HttpResponse::Ok().json(Unwanted { cancel }))
}

/// What of it the worker does not hold, neither here nor in the journal. What cannot be known now goes on.
async fn unwanted(state: &State, watch: &Watch) -> Result<Vec<ExecutionId>, Problem> {
    let holding = |running: &cooperage_domain::worker_protocol::RunningTask| Holding {
        execution: execution(running.execution),
        worker: worker_name(&watch.provisioner_id, &running.worker_id),
    };
    let running = watch.running.iter().map(holding).collect();
    let mut unwanted = Vec::new();
    for Holding { execution: Execution { task, attempt }, worker } in state.handover.unheld(running) {
        match standing(state, task, Some(attempt), &worker).await {
            Ok(Standing::Ended { .. } | Standing::Unknown) => {
                unwanted.push(ExecutionId { task_id: task, attempt });
            }
            Ok(Standing::Open) | Err(_) => {}
        }
    }
    Ok(unwanted)
}

const fn execution(id: ExecutionId) -> Execution {
    Execution { task: id.task_id, attempt: id.attempt }
}
