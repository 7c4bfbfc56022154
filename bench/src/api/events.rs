//! Events as they happen: whether everybody who follows them gets each of them once, and how soon.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use fastrand::Rng;
use serde::Serialize;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::follower::{Follower, Told};
use super::load::{Load, Sent};
use crate::figure::{Figure, Target};
use crate::installation::Installation;
use crate::percentile::percentile;
use crate::wire::Wire;
use crate::{BenchError, Grid, catalogue, milliseconds, process};

/// Tasks of a node.
const TASKS_PER_NODE: u32 = 7;
/// Workers, and their pause behind a task: so that there are some hundred events in a second.
const WORKERS: usize = 4;
const PAUSE: Duration = Duration::from_millis(40);
/// Nothing comes for so long when everything was read.
const QUIET: Duration = Duration::from_millis(700);
/// How long everybody may take to see the last event.
const LIMIT: Duration = Duration::from_secs(120);
/// The shortest time that somebody stays, in ms; the longest is three times as much.
const STAY: u64 = 1_000;

/// How many follow, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub followers: u32,
    pub work: Duration,
}

/// What came of so many followers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Followed {
    followers: u32,
    events: usize,
    events_per_second: f64,
    /// Deliveries: an event to a follower.
    delivered: usize,
    /// How often followers went away and came back.
    returns: u32,
    /// Deliveries that were missing, and those that came more than once.
    missing: usize,
    repeated: usize,
    /// From the report of a task to the event at the follower, in ms. Who was away gets it from the moment of coming back.
    median: f64,
    p99: f64,
    longest: f64,
    /// Memory of the server while all followed, in MiB.
    resident: Option<f64>,
}

/// Has clusters brought up at a pace while so many follow.
///
/// # Errors
/// When the server fails.
pub async fn measure(server: &Installation, size: Size, seed: u64) -> Result<Followed, BenchError> {
    let token = server.token()?;
    let mut user = Wire::open(server.user(), Some(&token)).await?;
    catalogue::stock(&mut user, TASKS_PER_NODE).await?;
    for number in 0..WORKERS {
        // More nodes than workers get through.
        let name = format!("f{}-{number}", size.followers);
        catalogue::create(&mut user, &name, 40, TASKS_PER_NODE).await?;
    }
    let mut first = Follower::new(server.user(), token.clone(), 0);
    first.read_all(QUIET).await?;
    let begin = first.last;
    let (tell_end, end) = watch::channel(None);
    let mut followers = JoinSet::new();
    for number in 0..size.followers {
        let mut rng = Rng::with_seed(seed + u64::from(number));
        let stays = move || Duration::from_millis(rng.u64(STAY..3 * STAY));
        followers.spawn(Follower::new(server.user(), token.clone(), begin).follow(stays, end.clone()));
    }
    let begun = Instant::now();
    let load = Load::start(server.tasks(), WORKERS, PAUSE).await?;
    tokio::time::sleep(size.work).await;
    let resident = server.process().and_then(resident);
    let done = load.stop().await?;
    let taken = begun.elapsed();
    // Everything there was, in order: what each should have seen.
    let all = first.read_all(QUIET).await?;
    tell_end.send_replace(Some(first.last));
    let mut seen = Vec::new();
    let everybody = async {
        while let Some(follower) = followers.join_next().await {
            seen.push(follower.map_err(|fault| BenchError::Server(fault.to_string()))??);
        }
        Ok::<_, BenchError>(())
    };
    tokio::time::timeout(LIMIT, everybody)
        .await
        .map_err(|_| BenchError::Server("somebody never saw the last event".to_owned()))??;
    Ok(Followed::new(&size, &all, &done.sent, &seen, (taken, resident)))
}

impl Followed {
    fn new(
        size: &Size,
        all: &[(u64, Told)],
        sent: &Sent,
        seen: &[Follower],
        (taken, resident): (Duration, Option<f64>),
    ) -> Self {
        // Places of events that come of reports, with the time of these.
        let reported: HashMap<u64, Instant> = all
            .iter()
            .filter(|(_, told)| told.kind == "task_succeeded")
            .filter_map(|(place, told)| Some((*place, *sent.get(&(told.cluster_id.clone(), told.task?))?)))
            .collect();
        let (mut missing, mut repeated, mut latencies) = (0, 0, Vec::new());
        for follower in seen {
            let mut times: HashMap<u64, u32> = HashMap::with_capacity(all.len());
            for one in &follower.seen {
                *times.entry(one.place).or_default() += 1;
                if let Some(sent) = reported.get(&one.place) {
                    latencies.push(milliseconds(one.at.saturating_duration_since((*sent).max(one.asked))));
                }
            }
            missing += all.iter().filter(|(place, _)| !times.contains_key(place)).count();
            repeated += times.values().filter(|times| **times > 1).count();
        }
        Self {
            followers: size.followers,
            events: all.len(),
            events_per_second: all.len() as f64 / taken.as_secs_f64(),
            delivered: seen.iter().map(|follower| follower.seen.len()).sum(),
            returns: seen.iter().map(|follower| follower.returns).sum(),
            missing,
            repeated,
            median: percentile(&mut latencies, 50.0),
            p99: percentile(&mut latencies, 99.0),
            longest: percentile(&mut latencies, 100.0),
            resident,
        }
    }

    pub fn figures(all: &[Self]) -> Vec<Figure> {
        let wrong: usize = all.iter().map(|one| one.missing + one.repeated).sum();
        let wanted: usize = all.iter().map(|one| one.events * one.followers as usize).sum();
        let right = 100.0 * (wanted.saturating_sub(wrong) as f64) / wanted.max(1) as f64;
        let mut figures = vec![Figure::new(
            "events that each follower got exactly once",
            right,
            "%",
            Target::AtLeast(100.0),
        )];
        figures.extend(all.last().map(|last| {
            let what = format!("event to each of {} followers, p99", last.followers);
            Figure::new(what, last.p99, "ms", Target::AtMost(250.0))
        }));
        figures
    }

    pub fn grid(all: &[Self]) -> Grid {
        let row = |one: &Self| {
            [
                one.followers.to_string(),
                format!("{:.0}/s", one.events_per_second),
                one.delivered.to_string(),
                one.returns.to_string(),
                one.missing.to_string(),
                one.repeated.to_string(),
                format!("{:.1} ms", one.median),
                format!("{:.1} ms", one.p99),
                format!("{:.1} ms", one.longest),
                one.resident.map_or_else(String::new, |mib| format!("{mib:.0} MiB")),
            ]
        };
        let headings = [
            "FOLLOWERS",
            "EVENTS",
            "DELIVERED",
            "RETURNS",
            "MISSING",
            "REPEATED",
            "MEDIAN",
            "P99",
            "LONGEST",
            "MEMORY",
        ];
        Grid::new(headings, all.iter().map(row))
    }
}

/// Memory of a process that is in use, in MiB.
fn resident(of: u32) -> Option<f64> {
    process::held(Some(of)).ok().map(|held| held.resident as f64 / 1_048_576.0)
}
