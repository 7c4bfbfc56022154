//! How long what people look at takes, with nothing else to do and under load.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::load::Load;
use crate::figure::{Figure, Target};
use crate::installation::Installation;
use crate::percentile::percentile;
use crate::wire::Wire;
use crate::{BenchError, Grid, catalogue, milliseconds};

/// Connections on which it is asked, each one question after the other.
const CONNECTIONS: usize = 2;
/// Pause between two questions: they are to be answered beside the work and not to be the work.
const PAUSE: Duration = Duration::from_millis(4);
/// Tasks of a node.
const TASKS_PER_NODE: u32 = 10;

/// How much is asked, of what.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// Questions of each sort.
    pub questions: usize,
    /// Clusters that are worked on meanwhile, and nodes of each.
    pub clusters: u32,
    pub nodes: u32,
    /// Workers.
    pub workers: usize,
}

/// How long answers took, in ms.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Timing {
    what: &'static str,
    idle_median: f64,
    idle_p99: f64,
    loaded_median: f64,
    loaded_p99: f64,
}

/// What was measured.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Gets {
    answers: Vec<Timing>,
    tasks_per_second: f64,
}

/// Asks on a server of its own, without and with work.
///
/// # Errors
/// When the server fails.
pub async fn measure(server: &Installation, size: Size) -> Result<Gets, BenchError> {
    let token = server.token()?;
    let mut user = Wire::open(server.user(), Some(&token)).await?;
    catalogue::stock(&mut user, TASKS_PER_NODE).await?;
    let mut ids = Vec::new();
    for number in 0..size.clusters {
        ids.push(catalogue::create(&mut user, &format!("c{number}"), size.nodes, TASKS_PER_NODE).await?);
    }
    // The last one is worked on last: it is looked at while it waits, and while it is worked on.
    let looked_at = ids.last().cloned().unwrap_or_default();
    let paths = paths(&looked_at);
    wait_for_plan(&mut user, &looked_at).await?;
    let idle = ask_all(server, &token, &paths, size.questions).await?;
    let load = Load::start(server.tasks(), size.workers, Duration::ZERO).await?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let loaded = ask_all(server, &token, &paths, size.questions).await?;
    let done = load.stop().await?;
    let answers =
        paths.iter().zip(idle.into_iter().zip(loaded)).map(|((what, _), (mut idle, mut loaded))| Timing {
            what,
            idle_median: percentile(&mut idle, 50.0),
            idle_p99: percentile(&mut idle, 99.0),
            loaded_median: percentile(&mut loaded, 50.0),
            loaded_p99: percentile(&mut loaded, 99.0),
        });
    Ok(Gets { answers: answers.collect(), tasks_per_second: done.rate })
}

fn paths(cluster: &str) -> Vec<(&'static str, String)> {
    vec![
        ("list of clusters", "/v2/clusters?limit=100".to_owned()),
        ("cluster", format!("/v2/clusters/{cluster}")),
        ("progress of its job", format!("/v2/clusters/{cluster}/status")),
        ("list of nodes", "/v2/nodes?limit=100".to_owned()),
        ("plan of its job", format!("/v2/clusters/{cluster}/plans/{cluster}-002")),
    ]
}

/// The job that brings a cluster up is planned behind the answer to its create.
async fn wait_for_plan(user: &mut Wire, cluster: &str) -> Result<(), BenchError> {
    loop {
        if user.ask("GET", &format!("/v2/clusters/{cluster}/plans/{cluster}-002"), b"").await?.status == 200 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Times of the answers to each question, in ms. Questions of all sorts are mixed.
async fn ask_all(
    server: &Installation,
    token: &str,
    paths: &[(&'static str, String)],
    questions: usize,
) -> Result<Vec<Vec<f64>>, BenchError> {
    let ask = async || {
        let mut wire = Wire::open(server.user(), Some(token)).await?;
        let mut times = vec![Vec::new(); paths.len()];
        for _ in 0..questions.div_ceil(CONNECTIONS) {
            for ((_, path), times) in paths.iter().zip(&mut times) {
                let begun = Instant::now();
                let answer = wire.ask("GET", path, b"").await?;
                times.push(milliseconds(begun.elapsed()));
                if answer.status != 200 {
                    let said = String::from_utf8_lossy(&answer.body).into_owned();
                    return Err(BenchError::Refused { request: path.clone(), status: answer.status, said });
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
        Ok::<_, BenchError>(times)
    };
    let (mut one, other) = tokio::try_join!(ask(), ask())?;
    for (one, other) in one.iter_mut().zip(other) {
        one.extend(other);
    }
    Ok(one)
}

impl Gets {
    pub fn figures(&self) -> Vec<Figure> {
        let worst = |of: fn(&Timing) -> f64| self.answers.iter().map(of).fold(0.0, f64::max);
        vec![
            Figure::new(
                "answers to GET under load, slowest p99",
                worst(|it| it.loaded_p99),
                "ms",
                Target::AtMost(10.0),
            ),
            Figure::new(
                "p99 of GET under load ÷ idle, largest",
                worst(|it| it.loaded_p99 / it.idle_p99.max(f64::MIN_POSITIVE)),
                "",
                Target::AtMost(3.0),
            ),
        ]
    }

    pub fn grid(&self) -> Grid {
        let row = |it: &Timing| {
            let time = |ms: f64| format!("{ms:.2} ms");
            [
                it.what.to_owned(),
                time(it.idle_median),
                time(it.idle_p99),
                time(it.loaded_median),
                time(it.loaded_p99),
                format!("{:.0}/s", self.tasks_per_second),
            ]
        };
        let headings = ["ANSWER", "IDLE", "IDLE P99", "LOADED", "LOADED P99", "TASKS"];
        Grid::new(headings, self.answers.iter().map(row))
    }
}
