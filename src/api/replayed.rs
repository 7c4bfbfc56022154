//! Whether a journal gives what is stored beside it, and whether it would be decided the same again.

use std::collections::{BTreeSet, VecDeque};

use actix_web::{HttpResponse, web};
use cooperage_actors::projection::cluster_row;
use cooperage_actors::registry::{FindError, event};
use cooperage_domain::cluster::{Cluster, Event, Redecided, apply, redecide, words};
use cooperage_domain::id::ClusterId;
use cooperage_schema::ClusterRow;
use serde::Serialize;
use serde_json::Value;

use super::identity::Identity;
use super::problem::Problem;
use super::state::AppState;

/// Events that are read at once: a journal may be longer than what should be held in memory.
const PAGE: u32 = 1_000;
/// How many events the decider is shown ahead.
const AHEAD: usize = 64;

/// What came of replaying a journal.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    cluster_id: ClusterId,
    /// How many events there are.
    events: u64,
    /// How many of them came of decisions that were decided again, and the same.
    redecided: u64,
    /// How many came of decisions that cannot be told from what came of them.
    taken_as_they_are: u64,
    /// How many snapshots were found to be what the events before them give.
    snapshots: u64,
    /// Whether nothing is different.
    same: bool,
    /// The first difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Found>,
}

/// A difference.
#[derive(Debug, Serialize)]
struct Found {
    /// Number of the event where it is.
    revision: u64,
    /// What is different: `decision`, `snapshot`, `journal` or `table`.
    what: &'static str,
    /// In words.
    detail: String,
}

/// `GET …/replay`: reads a cluster's journal from its begin, and decides once more what it holds.
pub async fn get(
    state: web::Data<AppState>,
    identity: Identity,
    id: web::Path<String>,
) -> Result<HttpResponse, Problem> {
    let cluster = state.cluster(&identity, &id).await?;
    let id = cluster.id;
    let report = state.blocking(move |state| Replay::new(state, id)?.run()).await?;
    Ok(HttpResponse::Ok().json(report))
}

/// A replay under way.
struct Replay<'a> {
    state: &'a AppState,
    report: Report,
    snapshots: BTreeSet<u64>,
    cluster: Option<Cluster>,
    /// Events that were read and not applied yet.
    ahead: VecDeque<Event>,
    /// Number of the next event to read.
    next: u64,
    is_all_read: bool,
}

impl<'a> Replay<'a> {
    fn new(state: &'a AppState, id: ClusterId) -> Result<Self, Problem> {
        let snapshots = state.store.snapshot_sequences(id)?.into_iter().collect();
        let report = Report {
            cluster_id: id,
            events: 0,
            redecided: 0,
            taken_as_they_are: 0,
            snapshots: 0,
            same: false,
            difference: None,
        };
        let (cluster, ahead) = (None, VecDeque::new());
        Ok(Self { state, report, snapshots, cluster, ahead, next: 1, is_all_read: false })
    }

    fn run(mut self) -> Result<Report, Problem> {
        loop {
            if let Some(found) = self.read()? {
                return Ok(self.end(Some(found)));
            }
            if self.ahead.is_empty() {
                break;
            }
            let window = self.ahead.make_contiguous();
            let window = window.get(..AHEAD).unwrap_or(window);
            let count = match redecide(self.cluster.as_ref(), window) {
                Redecided::Same(count) => {
                    self.report.redecided += count as u64;
                    count
                }
                Redecided::Unknown => {
                    self.report.taken_as_they_are += 1;
                    1
                }
                Redecided::Otherwise { decided } => {
                    let found = self.otherwise(decided);
                    return Ok(self.end(Some(found)));
                }
            };
            for _ in 0..count {
                if let Some(found) = self.apply()? {
                    return Ok(self.end(Some(found)));
                }
            }
        }
        let found = self.compare_with_tables()?;
        Ok(self.end(found))
    }

    fn end(mut self, found: Option<Found>) -> Report {
        self.report.same = found.is_none();
        self.report.difference = found;
        self.report
    }

    /// Reads on when too few events are ahead. A gap in the journal is a difference.
    fn read(&mut self) -> Result<Option<Found>, Problem> {
        while self.ahead.len() < AHEAD && !self.is_all_read {
            let page = self.state.store.events(self.report.cluster_id, self.next, PAGE)?;
            self.is_all_read = page.len() < PAGE as usize;
            for stored in &page {
                if stored.sequence != self.next {
                    return Ok(Some(self.found("journal", format!("event {} is missing", self.next))));
                }
                match event(self.report.cluster_id, stored) {
                    Ok(event) => self.ahead.push_back(event),
                    Err(FindError::Unreadable(_, fault)) => return Ok(Some(self.found("journal", fault))),
                    Err(fault) => return Err(fault.into()),
                }
                self.next += 1;
            }
        }
        Ok(None)
    }

    /// A difference at the event that is next to be applied.
    fn found(&self, what: &'static str, detail: String) -> Found {
        Found { revision: self.report.events + 1, what, detail }
    }

    fn otherwise(&self, decided: Result<Vec<Event>, String>) -> Found {
        let said =
            |event: &Event| self.cluster.as_ref().map(|cluster| words(event, cluster)).unwrap_or_default();
        let is = self.ahead.front().map(said).unwrap_or_default();
        let would = match decided {
            Err(refusal) => format!("it would be refused today: {refusal}"),
            Ok(events) => {
                let first = events.iter().zip(&self.ahead).position(|(now, then)| now != then);
                let place = first.unwrap_or(events.len());
                match (events.get(place), self.ahead.get(place)) {
                    (Some(now), Some(then)) => format!(
                        "event {} would be {}, and is {}",
                        self.report.events + 1 + place as u64,
                        json(now),
                        json(then)
                    ),
                    (Some(now), None) => format!("{} would follow", json(now)),
                    (None, _) => "nothing would come of it today".to_owned(),
                }
            }
        };
        self.found("decision", format!("{is}: {would}"))
    }

    /// Applies the next event, and compares with a snapshot where there is one.
    fn apply(&mut self) -> Result<Option<Found>, Problem> {
        let Some(event) = self.ahead.pop_front() else { return Ok(None) };
        apply(&mut self.cluster, &event);
        self.report.events += 1;
        let at = self.report.events;
        if !self.snapshots.contains(&at) {
            return Ok(None);
        }
        let stored = self.state.store.snapshot_until(self.report.cluster_id, at)?;
        let Some(stored) = stored.filter(|snapshot| snapshot.sequence == at) else { return Ok(None) };
        let same = serde_json::from_str::<Cluster>(&stored.state)
            .is_ok_and(|state| Some(&state) == self.cluster.as_ref());
        if same {
            self.report.snapshots += 1;
            return Ok(None);
        }
        let detail = "the snapshot behind this event is not what the events give".to_owned();
        Ok(Some(Found { revision: at, what: "snapshot", detail }))
    }

    /// What lists show must be what the events give.
    fn compare_with_tables(&self) -> Result<Option<Found>, Problem> {
        let at = self.report.events;
        let found = |detail: String| Ok(Some(Found { revision: at, what: "table", detail }));
        let Some(cluster) = &self.cluster else { return found("the journal is empty".to_owned()) };
        let stored = self.state.store.cluster(cluster.id)?;
        let projected = cluster_row(cluster);
        if let Some(stored) = &stored
            && !is_same(stored, &projected)
        {
            return found(format!("the row of the cluster is {stored:?}, and the events give {projected:?}"));
        }
        Ok(None)
    }
}

/// Whether rows say the same. Upgrades write summaries in another order than events do.
fn is_same(stored: &ClusterRow, projected: &ClusterRow) -> bool {
    let summary = |row: &ClusterRow| serde_json::from_str::<Value>(&row.summary).ok();
    let in_order = ClusterRow { summary: projected.summary.clone(), ..stored.clone() };
    in_order == *projected && summary(stored) == summary(projected)
}

fn json(event: &Event) -> String {
    // Plain data with text keys always becomes JSON.
    let text = serde_json::to_string(event).unwrap_or_default();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// How much of an event is told, in characters.
const LONGEST: usize = 400;
