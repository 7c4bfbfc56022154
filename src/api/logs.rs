//! What the tasks of a cluster printed.

use actix_web::http::StatusCode;
use actix_web::http::header::LINK;
use actix_web::{HttpResponse, web};
use cooperage_domain::id::{ClusterId, TaskId};
use cooperage_schema::{OutputQuery, Pattern, StoredLine};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::identity::Identity;
use super::paging::{MAX_LIMIT, Paging};
use super::problem::Problem;
use super::state::AppState;

/// Most lines an answer holds unless fewer are asked for.
const PAGE: u32 = 1_000;
/// Name of a task's lines in their cursors, forwards.
const OF_TASK: &str = "lines of a task";
/// The same backwards.
const TO_TASK_END: &str = "last lines of a task";
/// Name of a cluster's lines in their cursors.
const OF_CLUSTER: &str = "lines of a cluster";

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Query {
    /// Only this task.
    task: Option<String>,
    /// Only lines after this number of the task.
    after: u64,
    /// The last so many.
    tail: Option<u32>,
    /// Only lines with this text.
    search: Option<String>,
    /// Whether it may be in any case.
    ignore_case: bool,
    /// Whether it is a regular expression.
    regex: bool,
    /// Only lines of this time or later.
    since: Option<String>,
}

/// Lines in the order in which they are shown, and where the next part is.
#[derive(Serialize)]
struct Page {
    lines: Vec<Value>,
    /// Path and query of the next part, as in `Link`.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// Of one task: number of the newest line that was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    newest: Option<u64>,
}

/// `GET /v2/clusters/{id}/logs`: lines in order, each with its number in its task. The next part of a task's lines is that
/// behind them; of the last lines of a task, and of a cluster's lines, that before them.
pub async fn get(
    state: web::Data<AppState>,
    identity: Identity,
    id: web::Path<String>,
    query: web::Query<Query>,
    part: Paging,
) -> Result<HttpResponse, Problem> {
    let cluster = state.cluster(&identity, &id).await?;
    let wanted = query.wanted()?;
    let part = part.at_most(query.tail()?.unwrap_or(PAGE));
    let (id, task) = (cluster.id, query.task(cluster.id)?);
    let (after, is_tail) = (query.after, query.tail.is_some());
    let page = state
        .blocking(move |state| match task {
            Some(task) if is_tail => last_of_task(state, task, &wanted, &part),
            Some(task) => of_task(state, task, &wanted, after, &part),
            None => of_cluster(state, id, &wanted, &part),
        })
        .await?;
    let mut answer = HttpResponse::Ok();
    if let Some(next) = &page.next {
        answer.insert_header((LINK, format!("<{next}>; rel=\"next\"")));
    }
    Ok(answer.json(page))
}

impl Query {
    fn task(&self, cluster: ClusterId) -> Result<Option<TaskId>, Problem> {
        let Some(text) = &self.task else { return Ok(None) };
        let task: TaskId = text.parse()?;
        if task.job.cluster != cluster {
            return Err(Problem::not_found("task", task));
        }
        Ok(Some(task))
    }

    fn tail(&self) -> Result<Option<u32>, Problem> {
        match self.tail {
            Some(tail) if !(1..=MAX_LIMIT).contains(&tail) => {
                Err(wrong("tail", &tail.to_string(), &format!("is not a number from 1 to {MAX_LIMIT}"))
                    .with_remedy("ask for fewer, and for the parts before them as the Link header says"))
            }
            tail => Ok(tail),
        }
    }

    fn wanted(&self) -> Result<OutputQuery, Problem> {
        let pattern = self.search.as_deref().map(|text| {
            Pattern::new(text, self.ignore_case, self.regex).map_err(|fault| {
                wrong("search", text, &fault.to_string()).with_remedy(
                    "search for a text, or with regex=true for an expression as Rust's regex has them",
                )
            })
        });
        let since = self.since.as_deref().map(|text| {
            let ms = text.parse::<i64>().ok();
            ms.or_else(|| text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)).ok_or_else(|| {
                wrong("since", text, "is no time").with_remedy("write 2027-01-31T18:00:00Z, or ms since 1970")
            })
        });
        Ok(OutputQuery { pattern: pattern.transpose()?, since_ms: since.transpose()? })
    }
}

fn wrong(field: &'static str, value: &str, fault: &str) -> Problem {
    let shown: String = value.chars().take(64).collect();
    Problem::new(StatusCode::BAD_REQUEST, format!("{field}: {shown:?} {fault}")).at(field, shown)
}

/// Forwards.
fn of_task(
    state: &AppState,
    task: TaskId,
    wanted: &OutputQuery,
    after: u64,
    part: &Paging,
) -> Result<Page, Problem> {
    let (after, limit) = (part.place(OF_TASK)?.unwrap_or(after), part.limit.unwrap_or(PAGE));
    let found = state.store.output_after(task, wanted, after, limit)?;
    Ok(Page {
        lines: found.lines.iter().map(line).collect(),
        next: part.next(OF_TASK, found.next),
        newest: Some(found.newest.max(after)),
    })
}

/// Backwards, and shown in order.
fn last_of_task(
    state: &AppState,
    task: TaskId,
    wanted: &OutputQuery,
    part: &Paging,
) -> Result<Page, Problem> {
    let limit = part.limit.unwrap_or(PAGE);
    let found = state.store.output_until(task, wanted, part.place(TO_TASK_END)?, limit)?;
    Ok(Page {
        lines: found.lines.iter().rev().map(line).collect(),
        next: part.next(TO_TASK_END, found.next),
        newest: Some(found.newest),
    })
}

/// Backwards, and shown in order.
fn of_cluster(state: &AppState, id: ClusterId, wanted: &OutputQuery, part: &Paging) -> Result<Page, Problem> {
    let limit = part.limit.unwrap_or(PAGE);
    let found = state.store.cluster_output(id, wanted, part.place(OF_CLUSTER)?, limit)?;
    Ok(Page {
        lines: found.lines.iter().rev().map(line).collect(),
        next: part.next(OF_CLUSTER, found.next),
        newest: None,
    })
}

fn line(stored: &StoredLine) -> Value {
    let line = &stored.line;
    json!({
        "task": line.task,
        "attempt": line.attempt,
        "number": stored.sequence,
        "time": line.at_ms,
        "stream": line.stream.as_str(),
        "text": line.text,
    })
}
