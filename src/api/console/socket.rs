//! `GET /console`, a WebSocket: what whoever looks asks for, as JSON, and what happens, as JSON.
//!
//! | asks | is told |
//! |---|---|
//! | `{"do": "watch", "under": "/", "filter": "", "limit": 500}` | `{"tree": …}` each second |
//! | `{"do": "examine", "path": "/clusters/…"}` | `{"detail": …}` each second |
//! | `{"do": "follow", "under": "/clusters/…", "correlation": "…"}` | `{"messages": […], "missed": 0}` as they are handled |
//! | `{"do": "unwatch"}`, `{"do": "leave"}`, `{"do": "unfollow"}` | nothing more of it |
//!
//! Nothing is changed this way: `POST /console/actions` does that, each with a record of its own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::rt::time::interval;
use actix_web::{HttpRequest, HttpResponse, web};
use actix_ws::{CloseCode, CloseReason, Message as Frame, MessageStream, Session};
use cooperage_actors::console::{Examination, Filter, Followed, Tail};
use cooperage_domain::audit::Record;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, MissedTickBehavior};

use super::names::Names;
use super::view::{self, Actor, Detail, Message, Rates, Wanted};
use super::{State, absolute, at_rest};
use crate::api::audit;
use crate::api::identity::Identity;
use crate::api::operations::Port;
use crate::api::problem::Problem;
use crate::api::web_socket;

/// How often numbers are told.
const BEAT: Duration = Duration::from_secs(1);
/// Messages are gathered for so long.
const GATHERED: Duration = Duration::from_millis(200);
/// Messages that are told together at most.
const TOGETHER: usize = 500;
/// Beats until clusters at rest are read from the database again.
const REST_BEATS: u32 = 5;
/// A connection ends after so long; whoever comes back is asked anew who it is.
const LONGEST: Duration = Duration::from_secs(900);
/// So many may look at once.
const MOST: usize = 32;

static OPEN: AtomicUsize = AtomicUsize::new(0);

/// One of those who look.
struct Place;

impl Place {
    fn take() -> Option<Self> {
        let more = |open| (open < MOST).then_some(open + 1);
        OPEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok().map(|_| Self)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Begins to tell.
pub async fn open(
    state: State,
    identity: Identity,
    request: HttpRequest,
    body: web::Payload,
) -> Result<HttpResponse, Problem> {
    let place = Place::take().ok_or_else(|| {
        let detail = format!("{MOST} look at the console, and no more may");
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).with_remedy("close one")
    })?;
    let (answer, session, frames) = web_socket::open(&request, body)?;
    let look = state.console.look();
    let visit = Visit {
        state,
        identity,
        session,
        watch: None,
        close: None,
        tail: None,
        gathered: Vec::new(),
        names: Names::default(),
    };
    actix_web::rt::spawn(async move {
        visit.last(frames).await;
        drop((place, look));
    });
    Ok(answer)
}

/// What is asked for.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum Ask {
    Watch { under: Option<String>, filter: Option<String>, limit: Option<usize> },
    Unwatch,
    Examine { path: String },
    Leave,
    Follow { under: Option<String>, correlation: Option<String> },
    Unfollow,
}

/// The tree as it is watched.
struct Watch {
    wanted: Wanted,
    rates: Rates,
    at_rest: Vec<String>,
    beats: u32,
}

/// One who looks.
struct Visit {
    state: State,
    identity: Identity,
    session: Session,
    watch: Option<Watch>,
    close: Option<(String, Rates, Examination)>,
    tail: Option<Tail>,
    gathered: Vec<Message>,
    names: Names,
}

/// Why it ends.
enum End {
    Gone,
    Told(CloseCode, &'static str),
}

impl Visit {
    async fn last(mut self, frames: MessageStream) {
        let end = self.tell_all(frames).await;
        let reason = match end {
            End::Gone => None,
            End::Told(code, words) => Some(CloseReason { code, description: Some(words.to_owned()) }),
        };
        // Who is gone needs no farewell.
        let _ = self.session.close(reason).await;
    }

    async fn tell_all(&mut self, mut frames: MessageStream) -> End {
        let until = Instant::now() + LONGEST;
        let (mut beat, mut flush) = (interval(BEAT), interval(GATHERED));
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        flush.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let stopping = self.state.stopping.clone();
        loop {
            let told = tokio::select! {
                frame = frames.recv() => match frame {
                    Some(Ok(Frame::Text(text))) => self.hear(&text).await,
                    Some(Ok(Frame::Ping(bytes))) => self.session.pong(&bytes).await.map_err(|_| End::Gone),
                    Some(Ok(Frame::Pong(_) | Frame::Nop)) => Ok(()),
                    Some(Ok(_)) | Some(Err(_)) | None => Err(End::Gone),
                },
                message = next(&mut self.tail) => {
                    self.gather(&message);
                    if self.gathered.len() >= TOGETHER { self.flush().await } else { Ok(()) }
                }
                _ = flush.tick() => self.flush().await,
                _ = beat.tick() => self.beat().await,
                () = stopping.cancelled() => Err(End::Told(CloseCode::Away, "the server stops")),
                () = tokio::time::sleep_until(until) => {
                    Err(End::Told(CloseCode::Again, "come back: who you are is asked anew"))
                }
            };
            if let Err(end) = told {
                return end;
            }
        }
    }

    async fn say(&mut self, what: &Value) -> Result<(), End> {
        self.session.text(what.to_string()).await.map_err(|_| End::Gone)
    }

    async fn hear(&mut self, text: &str) -> Result<(), End> {
        let ask: Ask = match serde_json::from_str(text) {
            Ok(ask) => ask,
            Err(fault) => return self.say(&json!({"problem": fault.to_string()})).await,
        };
        match ask {
            Ask::Watch { under, filter, limit } => {
                let wanted = Wanted::new(under, filter, limit);
                // Rates go on from what was seen before, if it was of the same actors.
                let before = self.watch.take().filter(|before| before.wanted.under == wanted.under);
                let (rates, at_rest) = before.map(|it| (it.rates, it.at_rest)).unwrap_or_default();
                self.watch = Some(Watch { wanted, rates, at_rest, beats: 0 });
                self.tell_tree().await
            }
            Ask::Unwatch => {
                self.watch = None;
                Ok(())
            }
            Ask::Examine { path } => self.examine(&path).await,
            Ask::Leave => {
                self.close = None;
                Ok(())
            }
            Ask::Follow { under, correlation } => self.follow(under, correlation).await,
            Ask::Unfollow => {
                self.tail = None;
                self.flush().await
            }
        }
    }

    async fn examine(&mut self, path: &str) -> Result<(), End> {
        let path = absolute(path);
        self.close = self.state.console.examine(&path).map(|close| (path.clone(), Rates::default(), close));
        if self.close.is_some() {
            return self.tell_detail().await;
        }
        let at_rest = at_rest(&self.state).await.unwrap_or_default();
        match at_rest.contains(&path) {
            true => {
                // Without a name there is still its path.
                let _ = self.names.learn(&self.state, [path.as_str()]).await;
                self.say(&json!({"detail": Detail::passivated(&path, &self.names)})).await
            }
            false => self.say(&json!({"gone": path})).await,
        }
    }

    /// Follows messages; what is followed is on record.
    async fn follow(&mut self, under: Option<String>, correlation: Option<String>) -> Result<(), End> {
        let under = under.filter(|path| !path.is_empty()).map(|path| absolute(&path));
        let correlation = correlation.filter(|id| !id.is_empty());
        let record = Record {
            request: uuid::Uuid::now_v7().to_string(),
            port: Port::User.as_str().to_owned(),
            action: "follow messages of actors".to_owned(),
            object: match (&under, &correlation) {
                (Some(path), None) => path.clone(),
                (None, Some(id)) => format!("request {id}"),
                (Some(path), Some(id)) => format!("{path}, request {id}"),
                (None, None) => "/".to_owned(),
            },
            status: StatusCode::OK.as_u16(),
            ..Record::default()
        };
        if let Err(problem) = audit::write(&self.state, self.identity.caller().noted(record)).await {
            return self.say(&json!({"problem": problem.to_string()})).await;
        }
        self.tail = Some(self.state.console.follow(Filter { under, cause: correlation }));
        Ok(())
    }

    fn gather(&mut self, message: &Followed) {
        self.gathered.push(Message::new(message, self.state.clock.now()));
    }

    async fn flush(&mut self) -> Result<(), End> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let messages = std::mem::take(&mut self.gathered);
        let missed = self.tail.as_ref().map_or(0, Tail::missed);
        self.say(&json!({"messages": messages, "missed": missed})).await
    }

    async fn beat(&mut self) -> Result<(), End> {
        self.tell_tree().await?;
        self.tell_detail().await
    }

    async fn tell_tree(&mut self) -> Result<(), End> {
        let Some(watch) = &mut self.watch else { return Ok(()) };
        if watch.beats.is_multiple_of(REST_BEATS)
            && let Ok(found) = at_rest(&self.state).await
        {
            watch.at_rest = found;
        }
        watch.beats += 1;
        let seen = watch.rates.of(self.state.console.sample(&watch.wanted.under));
        let live = seen.iter().map(Actor::path);
        let paths = live.chain(watch.at_rest.iter().map(String::as_str));
        // Without names there are still paths.
        let _ = self.names.learn(&self.state, paths).await;
        let tree =
            view::tree(&seen, &watch.at_rest, &self.names, &watch.wanted, self.state.settings.console.faults);
        self.say(&json!({"tree": tree})).await
    }

    async fn tell_detail(&mut self) -> Result<(), End> {
        let Some((path, rates, close)) = &mut self.close else { return Ok(()) };
        let seen = rates.of(self.state.console.sample(path));
        let Some(actor) = view::newest_at(&seen, path) else {
            let gone = json!({"gone": path});
            self.close = None;
            return self.say(&gone).await;
        };
        // Without a name there is still its path.
        let _ = self.names.learn(&self.state, [path.as_str()]).await;
        let detail = Detail::new(actor.clone(), &self.names, &close.latencies());
        self.say(&json!({"detail": detail})).await
    }
}

/// The next message that is followed, if any are.
async fn next(tail: &mut Option<Tail>) -> Followed {
    if let Some(tail) = tail
        && let Some(message) = tail.next().await
    {
        return message;
    }
    std::future::pending().await
}
