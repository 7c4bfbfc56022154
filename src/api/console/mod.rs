//! The actors of this server, for its superadmin: which there are, what each does, its messages as they are handled, and a hand
//! on it. What messages say is not shown. `socket.rs` follows; `view.rs` is what is shown.

mod names;
mod socket;
mod view;

use std::collections::HashSet;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_actors::console::{Fault, SwitchError};
use cooperage_actors::registry::cluster_path;
use cooperage_domain::cluster::ClusterStatus;
use cooperage_schema::ClusterFilter;
use serde::Deserialize;
use serde_json::json;

use super::audit::about;
use super::body;
use super::identity::Identity;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;
use names::Names;
use view::{Actor, Rates, Wanted};

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Who asks once is told of what happens within this time.
const GLANCE: Duration = Duration::from_millis(250);
/// Longest time for which messages of an actor are measured for one who asks once, in seconds.
const LONGEST_LOOK: u64 = 30;
/// A pause lasts so long if nobody says otherwise, in seconds.
const PAUSE: u64 = 60;
/// Longest pause, in seconds: whoever goes home leaves nothing standing for longer.
const LONGEST_PAUSE: u64 = 3600;
/// Longest delay of a message, in ms.
const LONGEST_DELAY: u64 = 600_000;
/// Clusters at rest that are shown at most, the newest.
const MOST_AT_REST: u32 = 500;

/// Routes of the console.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/console", |on| on.get(socket::open));
    routes.at("/console/actors", |on| on.get(tree));
    routes.at("/console/actors/{path:.*}", |on| on.get(one));
    routes.at("/console/actions", |on| on.post(act));
}

/// Which actors.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Query {
    under: Option<String>,
    filter: Option<String>,
    limit: Option<usize>,
    /// For how many seconds one actor is looked at.
    seconds: Option<u64>,
}

impl Query {
    fn wanted(self) -> Wanted {
        Wanted::new(self.under, self.filter, self.limit)
    }
}

async fn tree(state: State, query: web::Query<Query>) -> Answer {
    let wanted = query.into_inner().wanted();
    let _look = state.console.look();
    let mut rates = Rates::default();
    rates.of(state.console.sample(&wanted.under));
    let at_rest = at_rest(&state).await?;
    tokio::time::sleep(GLANCE).await;
    let seen = rates.of(state.console.sample(&wanted.under));
    let mut names = Names::default();
    names.learn(&state, seen.iter().map(Actor::path).chain(at_rest.iter().map(String::as_str))).await?;
    Ok(HttpResponse::Ok().json(view::tree(&seen, &at_rest, &names, &wanted, state.settings.console.faults)))
}

async fn one(state: State, path: web::Path<String>, query: web::Query<Query>) -> Answer {
    let path = absolute(&path);
    let mut names = Names::default();
    names.learn(&state, [path.as_str()]).await?;
    let Some(close) = state.console.examine(&path) else {
        let at_rest = at_rest(&state).await?;
        let found = at_rest.iter().find(|resting| **resting == path);
        let found = found.ok_or_else(|| unknown(&path))?;
        return Ok(HttpResponse::Ok().json(view::Detail::passivated(found, &names)));
    };
    let look = query.seconds.map_or(GLANCE, |seconds| Duration::from_secs(seconds.min(LONGEST_LOOK)));
    let mut rates = Rates::default();
    rates.of(state.console.sample(&path));
    tokio::time::sleep(look).await;
    let seen = rates.of(state.console.sample(&path));
    let actor = view::newest_at(&seen, &path).ok_or_else(|| unknown(&path))?;
    Ok(HttpResponse::Ok().json(view::Detail::new(actor.clone(), &names, &close.latencies())))
}

/// Clusters that are not live, by the paths at which their actors would live, newest first.
async fn at_rest(state: &State) -> Result<Vec<String>, Problem> {
    let lasting = [
        ClusterStatus::Pending,
        ClusterStatus::Active,
        ClusterStatus::Incomplete,
        ClusterStatus::Inconsistent,
    ];
    let statuses = lasting.map(|status| status.as_str().to_owned()).into();
    let filter = ClusterFilter { statuses, limit: MOST_AT_REST, ..ClusterFilter::default() };
    let rows = state.blocking(move |state| Ok(state.store.clusters(&filter)?)).await?;
    let live = state.console.sample("/clusters");
    let live: HashSet<&str> = live.iter().map(|actor| &*actor.path).collect();
    Ok(rows
        .into_iter()
        .map(|row| cluster_path(row.id))
        .filter(|path| !live.contains(path.as_str()))
        .collect())
}

/// A path as actors have it, however it was written.
fn absolute(path: &str) -> String {
    format!("/{}", path.trim_matches('/'))
}

fn unknown(path: &str) -> Problem {
    Problem::not_found("actor", path)
        .with_remedy("GET /console/actors tells which there are; a cluster at rest has none until it is asked for something")
}

/// What is to be done with an actor.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Order {
    path: String,
    action: Action,
    /// How long a pause may last.
    seconds: Option<u64>,
    fault: Option<FaultKind>,
    delay_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Pause,
    Resume,
    Restart,
    Fault,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FaultKind {
    Drop,
    Delay,
    Crash,
}

impl Order {
    /// What is to go wrong.
    fn fault(&self) -> Result<Fault, Problem> {
        let bad = |field: &str, detail: &str| {
            Problem::new(StatusCode::BAD_REQUEST, detail).at(field, "").with_remedy(format!("give {field}"))
        };
        match self.fault {
            None => Err(bad("fault", "it is not said what is to go wrong: drop, delay or crash")),
            Some(FaultKind::Drop) => Ok(Fault::Drop),
            Some(FaultKind::Crash) => Ok(Fault::Crash),
            Some(FaultKind::Delay) => {
                let delay = self.delay_ms.filter(|ms| (1..=LONGEST_DELAY).contains(ms));
                let delay = delay.ok_or_else(|| bad("delayMs", "a delay takes from 1 to 600000 ms"))?;
                Ok(Fault::Delay(Duration::from_millis(delay)))
            }
        }
    }
}

async fn act(state: State, identity: Identity, body: web::Bytes) -> Answer {
    let order: Order = body::parse(&body)?;
    let path = absolute(&order.path);
    let console = &state.console;
    let done = match order.action {
        Action::Pause => {
            let seconds = order.seconds.unwrap_or(PAUSE).clamp(1, LONGEST_PAUSE);
            console.pause(&path, Duration::from_secs(seconds)).map(|()| path.clone())
        }
        Action::Resume => console.resume(&path).map(|()| path.clone()),
        Action::Restart => console.restart(&path).map(|stopped| stopped.to_string()),
        Action::Fault => {
            if !state.settings.console.faults {
                let detail = "this server injects no faults: the setting console.faults is false";
                return Err(Problem::new(StatusCode::FORBIDDEN, detail).with_remedy(
                    "set console.faults = true on a server that may be broken, and restart it",
                ));
            }
            console.inject(&path, order.fault()?).map(|()| path.clone())
        }
    };
    let done = done.map_err(refused)?;
    let word = format!("{:?}", order.action).to_lowercase();
    slog::warn!(state.logger, "an actor was told something at the console"; "actor" => &path, "action" => &word,
        "by" => &identity.user);
    Ok(about(HttpResponse::Ok().json(json!({"path": done, "action": word})), format!("{word} {path}")))
}

fn refused(fault: SwitchError) -> Problem {
    match fault {
        SwitchError::Unknown(path) => unknown(&path),
        SwitchError::NotPaused(_) => {
            Problem::new(StatusCode::CONFLICT, fault.to_string()).with_remedy("there is nothing to be done")
        }
        SwitchError::NotStartedAgain { .. } => Problem::new(StatusCode::CONFLICT, fault.to_string())
            .with_remedy("restart the server: systemctl restart cooperage"),
    }
}
