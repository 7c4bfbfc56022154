//! What the tasks of a cluster printed.

use actix_web::{HttpResponse, web};
use cooperage_domain::id::TaskId;
use serde::Deserialize;
use serde_json::{Value, json};

use super::identity::Identity;
use super::paging::Paging;
use super::problem::Problem;
use super::state::AppState;

/// Most lines an answer holds unless fewer are asked for.
const PAGE: u32 = 1_000;
/// Name of a task's lines in their cursors.
const OF_TASK: &str = "lines of a task";
/// Name of a cluster's lines in their cursors.
const OF_CLUSTER: &str = "lines of a cluster";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Query {
    /// Only this task.
    task: Option<String>,
    /// Only lines after this number of the task.
    after: u64,
}

/// `GET /v2/clusters/{id}/logs[?task=ID&after=N&limit=N&cursor=C]`: lines in order, each with its number in its task. The
/// next part of a task's lines is that behind them; of a cluster's lines, which begin with the latest, that before them.
pub async fn get(
    state: web::Data<AppState>,
    identity: Identity,
    id: web::Path<String>,
    query: web::Query<Query>,
    part: Paging,
) -> Result<HttpResponse, Problem> {
    let cluster = state.cluster(&identity, &id).await?;
    let part = part.at_most(PAGE);
    let mut answer = HttpResponse::Ok();
    let lines: Vec<Value> = match &query.task {
        Some(task) => {
            let task: TaskId = task.parse()?;
            if task.job.cluster != cluster.id {
                return Err(Problem::not_found("task", task));
            }
            let (after, wanted) = (part.place(OF_TASK)?.unwrap_or(query.after), part.wanted());
            let mut found = state.blocking(move |state| Ok(state.store.output(task, after, wanted)?)).await?;
            let last = part.cut(&mut found).map(|line| line.sequence);
            part.link(&mut answer, OF_TASK, last);
            found.iter().map(line).collect()
        }
        None => {
            let (id, before, wanted) = (cluster.id, part.place(OF_CLUSTER)?, part.wanted());
            let mut found =
                state.blocking(move |state| Ok(state.store.output_before(id, before, wanted)?)).await?;
            // The oldest come first, and the one too many is the oldest.
            found.reverse();
            let last = part.cut(&mut found).map(place);
            part.link(&mut answer, OF_CLUSTER, last);
            found.reverse();
            found.iter().map(line).collect()
        }
    };
    Ok(answer.json(json!({ "lines": lines })))
}

/// A line's place in the order of time.
const fn place(stored: &cooperage_schema::StoredOutput) -> (i64, u32, u64) {
    (stored.chunk.at_ms, stored.chunk.task.number, stored.sequence)
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
