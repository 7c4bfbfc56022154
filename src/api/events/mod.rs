//! Events as they happen: `GET /v2/events`, and `/events` behind the address of a cluster, a node or a task, as server-sent events
//! for those who accept `text/event-stream`, and for others as a list that ends.
//!
//! Each event has its place among those of all clusters as its id. Who comes back with the last one seen (`Last-Event-ID`, as
//! browsers do by themselves) gets all since then, however long ago that was and whether or not the server was
//! restarted: what is not in memory any more is in the journal.

mod frame;
mod hub;
mod part;

use std::collections::VecDeque;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_ENCODING, HeaderName};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, web};
use cooperage_domain::id::{ClusterId, NodeId, TaskId};
use cooperage_schema::{FeedFilter, PlacedEvent};
use futures::{Stream, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

pub use hub::{Hub, pump};

use super::identity::Identity;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;
use frame::Batch;
use hub::{Known, Listener};
use part::Part;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Events that are read together by who is behind.
const READ_TOGETHER: u32 = 500;
/// Most events that are looked through together for those that somebody wants.
const LOOKED_THROUGH: u64 = 50_000;
/// Something is sent at least this often, so that proxies keep the connection and a client that is gone is noticed.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);
/// A stream ends after so long; whoever comes back is asked anew who it is, and misses nothing.
const LONGEST: Duration = Duration::from_secs(900);
/// What a stream begins with: clients come back after so many milliseconds.
const BEGIN: &[u8] = b"retry: 1000\n\n";
/// A comment.
const STILL_HERE: &[u8] = b": still here\n\n";
/// Proxies such as nginx are told not to gather what should be seen at once.
const UNBUFFERED: (HeaderName, &str) = (HeaderName::from_static("x-accel-buffering"), "no");

/// Routes of events.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/events", |on| on.get(of_all));
    routes.at("/v2/clusters/{id}/events", |on| on.get(of_one));
    routes.at("/v2/clusters/{id}/nodes/{node}/events", |on| on.get(of_node));
    routes.at("/v2/clusters/{id}/tasks/{task}/events", |on| on.get(of_task));
}

#[derive(Debug, Default, Deserialize)]
struct Query {
    /// Behind this event: its id.
    after: Option<String>,
}

async fn of_all(state: State, identity: Identity, request: HttpRequest, query: web::Query<Query>) -> Answer {
    let owner = identity.owner_seen();
    let filter = FeedFilter { cluster: None, tenant: Some(identity.tenant), owner };
    follow(state, (filter, Part::Whole), &request, &query).await
}

fn within(identity: Identity, cluster: ClusterId) -> FeedFilter {
    FeedFilter { cluster: Some(cluster), tenant: Some(identity.tenant), owner: None }
}

async fn of_one(
    state: State,
    identity: Identity,
    id: web::Path<String>,
    request: HttpRequest,
    query: web::Query<Query>,
) -> Answer {
    let cluster = state.cluster(&identity, &id).await?.id;
    follow(state, (within(identity, cluster), Part::Whole), &request, &query).await
}

async fn of_node(
    state: State,
    identity: Identity,
    of: web::Path<(String, String)>,
    request: HttpRequest,
    query: web::Query<Query>,
) -> Answer {
    let (id, node) = of.into_inner();
    let (cluster, node) = (state.cluster(&identity, &id).await?, NodeId(node));
    if !cluster.nodes.contains_key(&node) {
        return Err(Problem::not_found("node", &node));
    }
    let part = Part::node(cluster.id, node);
    follow(state, (within(identity, cluster.id), part), &request, &query).await
}

async fn of_task(
    state: State,
    identity: Identity,
    of: web::Path<(String, String)>,
    request: HttpRequest,
    query: web::Query<Query>,
) -> Answer {
    let (id, task) = of.into_inner();
    let (cluster, task) = (state.cluster(&identity, &id).await?.id, task.parse::<TaskId>()?);
    let found = state.blocking(move |state| Ok(state.store.task(task)?)).await?;
    if found.is_none_or(|found| found.id.job.cluster != cluster) {
        return Err(Problem::not_found("task", task));
    }
    follow(state, (within(identity, cluster), Part::Task(task)), &request, &query).await
}

async fn follow(
    state: State,
    (filter, part): (FeedFilter, Part),
    request: &HttpRequest,
    query: &Query,
) -> Answer {
    let seen = request.headers().get("Last-Event-ID").and_then(|value| value.to_str().ok());
    let begin = seen.or(query.after.as_deref()).map(place).transpose()?;
    let accepts = request.headers().get_all(ACCEPT).filter_map(|value| value.to_str().ok());
    if !accepts.flat_map(|value| value.split(',')).any(|one| one.trim().starts_with("text/event-stream")) {
        return list(state, (filter, part), begin).await;
    }
    let most = state.settings.http.max_event_streams;
    let listener = state.events.listen(most).ok_or_else(|| {
        let detail = format!("{most} clients follow events, and no more may");
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail)
            .with_remedy("end one, or have an operator raise http.max_event_streams")
    })?;
    let begin = match begin {
        Some(place) => place,
        None => state.blocking(|state| Ok(state.store.newest_place()?)).await?,
    };
    let follower = Follower {
        state,
        filter,
        part,
        listener,
        place: begin,
        ready: VecDeque::from([Bytes::from_static(BEGIN)]),
        until: Instant::now() + LONGEST,
    };
    Ok(HttpResponse::Ok()
        .content_type("text/event-stream; charset=utf-8")
        .insert_header((CACHE_CONTROL, "no-store"))
        // Packed, it would be gathered until there is enough to pack.
        .insert_header((CONTENT_ENCODING, "identity"))
        .insert_header(UNBUFFERED)
        .streaming(follower.stream()))
}

/// The events behind a place, for those who ask now and then.
async fn list(state: State, (filter, mut part): (FeedFilter, Part), begin: Option<u64>) -> Answer {
    let (events, last) = state
        .blocking(move |state| {
            let begin = begin.map_or_else(|| state.store.newest_place(), Ok)?;
            let (events, last) = read(state, begin, &filter, &mut part)?;
            let events = events.iter().filter_map(frame::data).map(|data| serde_json::from_str(&data));
            Ok((events.collect::<Result<Vec<Value>, _>>().map_err(Problem::internal)?, last))
        })
        .await?;
    Ok(HttpResponse::Ok().json(json!({"events": events, "last": last})))
}

/// Some of the wanted events behind a place, and the place up to which there are no more of them.
fn read(
    state: &AppState,
    place: u64,
    filter: &FeedFilter,
    part: &mut Part,
) -> Result<(Vec<PlacedEvent>, u64), Problem> {
    let until = state.store.newest_place()?.min(place.saturating_add(LOOKED_THROUGH));
    let events = state.store.feed(place, until, filter, READ_TOGETHER)?;
    let last = match events.last() {
        Some(last) if events.len() == READ_TOGETHER as usize => last.place,
        _ => until.max(place),
    };
    Ok((part.of(state, events)?, last))
}

fn place(text: &str) -> Result<u64, Problem> {
    text.parse().map_err(|_| {
        let shown: String = text.chars().take(64).collect();
        Problem::new(StatusCode::BAD_REQUEST, format!("after: {shown:?} is no event's id"))
            .at("after", shown)
            .with_remedy("give the id of the last event seen, 0 for all, or nothing for those to come")
    })
}

/// One who follows events.
struct Follower {
    state: State,
    filter: FeedFilter,
    part: Part,
    listener: Listener,
    /// Everything up to here was sent.
    place: u64,
    /// What is to be sent next.
    ready: VecDeque<Bytes>,
    until: Instant,
}

impl Follower {
    /// What is sent. Nothing is got ready before the last was taken over, so that a slow line holds little.
    fn stream(self) -> impl Stream<Item = Result<Bytes, std::io::Error>> {
        stream::unfold(self, |mut follower| async move {
            loop {
                if let Some(bytes) = follower.ready.pop_front() {
                    return Some((Ok(bytes), follower));
                }
                if Instant::now() >= follower.until || follower.state.stopping.is_cancelled() {
                    return None;
                }
                follower.get_ready().await?;
            }
        })
    }

    /// Gets more ready, or waits for it; `None` when the journal cannot be read: who comes back goes on from the last event.
    async fn get_ready(&mut self) -> Option<()> {
        match self.listener.known(self.place) {
            Known::Batches(batches) if self.part.is_whole() => {
                for batch in batches {
                    self.take(&batch);
                }
            }
            Known::Nothing => self.wait().await,
            // Of what is kept in memory nobody knows which node it is about.
            Known::Batches(_) | Known::Elsewhere => {
                let before = self.place;
                self.read_on().await.ok()?;
                if self.place == before {
                    self.wait().await;
                }
            }
        }
        Some(())
    }

    /// Reads from the journal what is not kept in memory.
    async fn read_on(&mut self) -> Result<(), Problem> {
        let (place, filter, mut part) = (self.place, self.filter.clone(), std::mem::take(&mut self.part));
        let read = self.state.blocking(move |state| {
            let (events, last) = read(state, place, &filter, &mut part)?;
            Ok((Batch::new(place, &events), last, part))
        });
        let (batch, last, part) = read.await?;
        self.part = part;
        self.take(&batch);
        self.place = last;
        Ok(())
    }

    fn take(&mut self, batch: &Batch) {
        self.ready.extend(batch.wanted(&self.filter, self.place));
        self.place = self.place.max(batch.last);
    }

    async fn wait(&mut self) {
        tokio::select! {
            () = self.listener.more() => {}
            () = tokio::time::sleep(SIGN_OF_LIFE) => self.ready.push_back(Bytes::from_static(STILL_HERE)),
            () = self.state.stopping.cancelled() => {}
        }
    }
}
