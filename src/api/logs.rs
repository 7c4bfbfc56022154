//! What the tasks of a cluster printed.

use actix_web::{HttpResponse, web};
use cooperage_domain::id::TaskId;
use serde::Deserialize;
use serde_json::{Value, json};

use super::identity::Identity;
use super::problem::Problem;
use super::state::AppState;

/// Most lines an answer holds unless fewer are asked for.
const PAGE: u32 = 1_000;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Query {
    /// Only this task.
    task: Option<String>,
    /// Only lines after this number of the task.
    after: u64,
    /// At most so many lines.
    limit: Option<u32>,
}

/// `GET /v2/clusters/{id}/logs[?task=ID&after=N&limit=N]`: lines in order, each with its number in its task.
pub async fn get(
    state: web::Data<AppState>,
    identity: Identity,
    id: web::Path<String>,
    query: web::Query<Query>,
) -> Result<HttpResponse, Problem> {
    let cluster = state.cluster(&identity, &id).await?;
    let limit = query.limit.unwrap_or(PAGE).min(PAGE);
    let lines: Vec<Value> = match &query.task {
        Some(task) => {
            let task: TaskId = task.parse()?;
            if task.job.cluster != cluster.id {
                return Err(Problem::not_found("task", task));
            }
            let after = query.after;
            let found = state.blocking(move |state| Ok(state.store.output(task, after, limit)?)).await?;
            found.iter().map(line).collect()
        }
        None => {
            let id = cluster.id;
            let found = state.blocking(move |state| Ok(state.store.latest_output(id, limit)?)).await?;
            found.iter().map(line).collect()
        }
    };
    Ok(HttpResponse::Ok().json(json!({ "lines": lines })))
}

fn line(stored: &cooperage_schema::StoredOutput) -> Value {
    let chunk = &stored.chunk;
    json!({
        "task": chunk.task,
        "attempt": chunk.attempt,
        "number": stored.sequence,
        "time": chunk.at_ms,
        "stream": chunk.stream.as_str(),
        "text": chunk.text,
    })
}
