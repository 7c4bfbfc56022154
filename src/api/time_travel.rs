//! Clusters as they were: at any moment, between two moments, and event by event.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_actors::registry::{event, read_at};
use cooperage_domain::cluster::{Cluster, Event, difference, job_of, words};
use cooperage_domain::id::{ClusterId, JobId};
use cooperage_schema::RecordedEvent;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::identity::Identity;
use super::paging::Paging;
use super::problem::Problem;
use super::replayed;
use super::routes::Routes;
use super::secret_fields::SecretFields;
use super::state::AppState;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;
type Id = web::Path<String>;

/// Name of the list of events in its cursors.
const LIST: &str = "history";
/// Events in an answer unless another number is asked for.
const PAGE: u32 = 100;
/// Events that are read at once while those that are asked for are looked for.
const READ_TOGETHER: u32 = 1_000;

/// Routes of the past.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/clusters/{id}/history", |on| on.get(history));
    routes.at("/v2/clusters/{id}/diff", |on| on.get(diff));
    routes.at("/v2/clusters/{id}/replay", |on| on.get(replayed::get));
}

/// A moment of a cluster: the number of an event, a job (its end, or as far as it is), or a time.
///
/// # Errors
/// When it is none of these, or the cluster was not there yet.
pub fn revision(state: &AppState, now: &Cluster, field: &str, text: &str) -> Result<u64, Problem> {
    let wrong = || {
        let detail = format!("{field}: {text:?} is no moment of cluster {}", now.id);
        Problem::new(StatusCode::BAD_REQUEST, detail)
            .at(field, text)
            .with_remedy("give a revision (cooperage cluster history shows them), a job's id, or a time: 2027-01-31T18:00:00Z or ms since 1970")
    };
    if let Ok(job) = text.parse::<JobId>()
        && text.contains('-')
        && job.cluster == now.id
    {
        return end_of_job(state, now, job.number)?.ok_or_else(wrong);
    }
    let time = match text.parse::<i64>() {
        // So long ago there was no cluster: it is the number of an event.
        Ok(number) if number < now.created => {
            let number = u64::try_from(number).map_err(|_| wrong())?;
            let is_known = (1..=now.sequence).contains(&number);
            return if is_known { Ok(number) } else { Err(not_there(field, text, now)) };
        }
        Ok(ms) => ms,
        Err(_) => text.parse::<Timestamp>().map_err(|_| wrong())?.as_millisecond(),
    };
    state.store.sequence_at(now.id, time)?.ok_or_else(|| not_there(field, text, now))
}

fn not_there(field: &str, text: &str, now: &Cluster) -> Problem {
    let detail = format!("{field}: at {text:?} there was no cluster {}", now.id);
    Problem::new(StatusCode::NOT_FOUND, detail)
        .at(field, text)
        .with_remedy(format!("it has revisions 1 to {}, since {} ms", now.sequence, now.created))
}

/// Number of the event that ended a job, or of the last one while it has not ended.
fn end_of_job(state: &AppState, now: &Cluster, job: u32) -> Result<Option<u64>, Problem> {
    let Some(found) = now.jobs.get(&job) else { return Ok(None) };
    let Some(ended) = found.ended else { return Ok(Some(now.sequence)) };
    // It was decided at that moment, and recorded a little later: within a minute, unless the database was away.
    let soon = state.store.sequence_at(now.id, ended.saturating_add(MOST_DELAY))?.map_or(0, |last| last + 1);
    for before in [soon, u64::MAX] {
        let found = end_before(state, now, job, before)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The longest time between a decision and its record, in ms, as a rule.
const MOST_DELAY: i64 = 60_000;

/// The last event before the one numbered `before` that ended a job.
fn end_before(state: &AppState, now: &Cluster, job: u32, mut before: u64) -> Result<Option<u64>, Problem> {
    loop {
        let page = state.store.events_before(now.id, before, READ_TOGETHER)?;
        for stored in &page {
            match event(now.id, stored)? {
                Event::JobEnded { job: of, .. } if of == job => return Ok(Some(stored.sequence)),
                // The search for a layout ends with what came of it.
                Event::LayoutFound { .. } | Event::LayoutRefused { .. } if job == 1 => {
                    return Ok(Some(stored.sequence));
                }
                _ => {}
            }
        }
        match page.last() {
            Some(last) => before = last.sequence,
            None => return Ok(None),
        }
    }
}

/// A cluster as it was at a moment. Waits for the database.
///
/// # Errors
/// As [`revision`].
pub fn at(state: &AppState, now: &Arc<Cluster>, field: &str, text: &str) -> Result<Arc<Cluster>, Problem> {
    let revision = revision(state, now, field, text)?;
    if revision == now.sequence {
        return Ok(Arc::clone(now));
    }
    Ok(Arc::new(read_at(&state.store, now.id, revision)?))
}

#[derive(Debug, Deserialize)]
struct Span {
    from: String,
    to: Option<String>,
}

/// `GET …/diff?from=&to=`: what is different between two moments.
async fn diff(state: State, identity: Identity, id: Id, span: web::Query<Span>) -> Answer {
    let now = state.cluster(&identity, &id).await?;
    let span = span.into_inner();
    let answer = state
        .blocking(move |state| {
            let from = at(state, &now, "from", &span.from)?;
            let to = span.to.as_deref().map(|text| at(state, &now, "to", text)).transpose()?.unwrap_or(now);
            let mut different = difference(Some(&from), &to);
            let kind = &to.provider.providertype;
            SecretFields::load(state)?.hide_values(kind, &mut different.provider);
            Ok(json!({
                "clusterId": to.id, "from": from.sequence, "to": to.sequence, "changes": different,
            }))
        })
        .await?;
    Ok(HttpResponse::Ok().json(answer))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HistoryQuery {
    /// Only of this job: its id or number.
    job: Option<String>,
    /// Only of these kinds, separated by commas.
    kind: Option<String>,
    /// Only before this revision.
    before: Option<u64>,
}

/// Which events are asked for.
struct Wanted {
    job: Option<u32>,
    kinds: Vec<String>,
}

impl HistoryQuery {
    fn wanted(self, cluster: ClusterId) -> Result<Wanted, Problem> {
        let job = |text: &String| {
            let id = text.parse::<JobId>().ok().filter(|id| id.cluster == cluster).map(|id| id.number);
            id.or_else(|| text.parse().ok()).ok_or_else(|| {
                let detail = format!("job: {text:?} is no job of cluster {cluster}");
                Problem::new(StatusCode::BAD_REQUEST, detail)
                    .at("job", text.as_str())
                    .with_remedy("give its id or its number; list the cluster's jobs")
            })
        };
        let kinds = self.kind.iter().flat_map(|list| list.split(','));
        let kinds = kinds.map(|kind| kind.trim().to_lowercase()).filter(|kind| !kind.is_empty());
        Ok(Wanted { job: self.job.as_ref().map(job).transpose()?, kinds: kinds.collect() })
    }
}

/// `GET …/history`: what happened, newest first.
async fn history(
    state: State,
    identity: Identity,
    id: Id,
    query: web::Query<HistoryQuery>,
    part: Paging,
) -> Answer {
    let now = state.cluster(&identity, &id).await?;
    let query = query.into_inner();
    let part = part.at_most(PAGE);
    let before: u64 = part.place(LIST)?.or(query.before).unwrap_or(u64::MAX);
    let wanted = query.wanted(now.id)?;
    let limit = part.wanted();
    let mut told = state
        .blocking(move |state| {
            let mut told = Vec::new();
            let mut before = before;
            loop {
                let page = state.store.events_before(now.id, before, READ_TOGETHER)?;
                for stored in &page {
                    told.extend(tell(&now, stored, &wanted)?);
                    if told.len() >= limit as usize {
                        return Ok(told);
                    }
                }
                match page.last() {
                    Some(last) if last.sequence > 1 => before = last.sequence,
                    _ => return Ok(told),
                }
            }
        })
        .await?;
    let last = part.cut(&mut told).map(|entry| entry["revision"].as_u64());
    let mut answer = HttpResponse::Ok();
    part.link(&mut answer, LIST, last);
    Ok(answer.json(told))
}

/// An event for people, if it is asked for.
fn tell(now: &Cluster, stored: &RecordedEvent, wanted: &Wanted) -> Result<Option<Value>, Problem> {
    let happened = event(now.id, stored)?;
    let tagged: Value = serde_json::from_str(&stored.event.json).map_err(Problem::internal)?;
    let kind = tagged["event"].as_str().unwrap_or_default();
    let job = job_of(&happened, now);
    let is_wanted = wanted.job.is_none_or(|number| job == Some(number))
        && (wanted.kinds.is_empty() || wanted.kinds.iter().any(|one| one == kind));
    Ok(is_wanted.then(|| {
        json!({
            "revision": stored.sequence,
            "time": stored.at_ms,
            "who": stored.who,
            "kind": kind,
            "job": job.map(|number| now.job_id(number)),
            "text": words(&happened, now),
        })
    }))
}
