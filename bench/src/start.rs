//! How soon a server is there: with a long past, and after a kill in the middle of everything. And how large it is.

mod past;

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;

use crate::catalogue::{self, TENANT};
use crate::figure::{Figure, Target};
use crate::installation::Installation;
use crate::process::{self, Held};
use crate::wire::{Answer, Wire};
use crate::{BenchError, Grid, Section, Thoroughness, milliseconds};
use past::Past;

/// How much is measured.
struct Extent {
    /// Finished clusters in the store.
    pasts: &'static [u32],
    /// Tasks in flight.
    flights: &'static [u32],
    /// Starts of which the quickest counts.
    starts: u32,
    /// How long a server rests until it is weighed.
    rest: Duration,
}

const WHOLE: Extent = Extent {
    pasts: &[0, 10, 100, 1_000, 10_000],
    flights: &[10, 100, 1_000, 10_000],
    starts: 3,
    rest: Duration::from_secs(2),
};

/// The same in short.
const QUICK: Extent =
    Extent { pasts: &[0, 100], flights: &[100], starts: 1, rest: Duration::from_millis(100) };

/// Nodes of a finished cluster. Every other one was deleted in the end.
const NODES: u32 = 2;
/// Tasks of each node.
const TASKS_PER_NODE: u32 = 5;
/// Tasks in flight in each cluster.
const IN_FLIGHT: u32 = 10;
/// And those that wait for a worker: one may be given out before the kill, and one is left for afterwards.
const WAITING: u32 = 2;
/// Name of the provisioner whose workers have the tasks.
const PROVISIONER: &str = "bench";
/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(1);
/// How long to wait for a task.
const PATIENCE: Duration = Duration::from_secs(120);

/// A start with so many finished clusters.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Start {
    clusters: u32,
    /// Size of the database, in MB.
    database_mb: f64,
    /// From the start of the process until it says that it is ready.
    ready_ms: f64,
    /// At rest: in memory, and what of that is no part of a file.
    resident_mb: f64,
    own_mb: f64,
}

/// A start after a kill with so many tasks in flight.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Recovery {
    tasks: u32,
    clusters: u32,
    ready_ms: f64,
    /// From the start of the process until a worker has been given a task.
    first_task_ms: f64,
    /// Until every cluster has given one to a worker.
    all_ms: f64,
}

/// What was measured.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Starts {
    program_mb: f64,
    starts: Vec<Start>,
    recoveries: Vec<Recovery>,
}

/// Starts servers and kills them.
///
/// # Errors
/// When one does not start, or does not do its work.
pub fn measure(how: &Thoroughness) -> Result<Section, BenchError> {
    let extent = if how.quick { &QUICK } else { &WHOLE };
    let starts = extent.pasts.iter().map(|clusters| start(&how.program, *clusters, extent));
    let starts = starts.collect::<Result<_, _>>()?;
    let recoveries = extent.flights.iter().map(|tasks| recovery(&how.program, *tasks));
    let recoveries = recoveries.collect::<Result<_, _>>()?;
    let program_mb = megabytes(std::fs::metadata(&how.program)?.len());
    let starts = Starts { program_mb, starts, recoveries };
    Section::new(&starts, starts.grids(), starts.figures())
}

/// A server that was started once, has what clusters are made of, and does not run.
fn stocked(program: &Path) -> Result<Installation, BenchError> {
    let mut server = Installation::new(program, &["workers.local=0"])?;
    server.start()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut user = Wire::open(server.user(), Some(&server.token()?)).await?;
        catalogue::stock(&mut user, TASKS_PER_NODE).await?;
        catalogue::register(&mut Wire::open(server.tasks(), None).await?, PROVISIONER, &[]).await
    })?;
    server.kill()?;
    Ok(server)
}

fn start(program: &Path, clusters: u32, extent: &Extent) -> Result<Start, BenchError> {
    let mut server = stocked(program)?;
    let mut past = Past::of(&server, TASKS_PER_NODE)?;
    for number in 0..clusters {
        past.finished(NODES, number % 2 == 1)?;
    }
    past.close()?;
    let database_mb = megabytes(std::fs::metadata(server.data_dir().join("cooperage.db"))?.len());
    let mut ready = Duration::MAX;
    for _ in 0..extent.starts {
        server.kill()?;
        ready = ready.min(server.start()?);
    }
    std::thread::sleep(extent.rest);
    let held = server.process().map_or(Ok(Held::default()), |server| process::held(Some(server)))?;
    let ready_ms = milliseconds(ready);
    let (resident_mb, own_mb) = (megabytes(held.resident), megabytes(held.own));
    Ok(Start { clusters, database_mb, ready_ms, resident_mb, own_mb })
}

fn recovery(program: &Path, tasks: u32) -> Result<Recovery, BenchError> {
    let mut server = stocked(program)?;
    let mut past = Past::of(&server, TASKS_PER_NODE)?;
    let clusters = tasks.div_ceil(IN_FLIGHT);
    for _ in 0..clusters {
        past.in_flight(IN_FLIGHT + WAITING, WAITING as usize, PROVISIONER)?;
    }
    past.close()?;
    // A server that knows all of it is killed, so that what is started is what a kill leaves.
    let begun = Instant::now();
    server.start()?;
    dispatched(&server, begun, 1)?;
    server.kill()?;
    let begun = Instant::now();
    let ready_ms = milliseconds(server.start()?);
    let times = dispatched(&server, begun, clusters)?;
    let first_task_ms = times.first().copied().map_or(0.0, milliseconds);
    let all_ms = times.last().copied().map_or(0.0, milliseconds);
    Ok(Recovery { tasks, clusters, ready_ms, first_task_ms, all_ms })
}

/// Asks for tasks until so many came, each for another worker: when each of them did, since `begun`.
fn dispatched(server: &Installation, begun: Instant, count: u32) -> Result<Vec<Duration>, BenchError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut wire = Wire::open(server.tasks(), None).await?;
        let mut times = Vec::new();
        while times.len() < count as usize {
            // None of the workers that have a task, nor of those that took one before an earlier kill.
            let worker = format!("{}-{}", begun.elapsed().as_nanos(), times.len());
            let who = json!({"workerId": worker, "provisionerId": PROVISIONER, "tenantId": TENANT});
            match wire.ask("POST", "/v2/tasks/take", &serde_json::to_vec(&who)?).await? {
                Answer { status: 200, .. } => times.push(begun.elapsed()),
                Answer { status: 204, .. } if begun.elapsed() < PATIENCE => tokio::time::sleep(PAUSE).await,
                Answer { status, body } => {
                    return Err(BenchError::Refused {
                        request: "POST /v2/tasks/take".to_owned(),
                        status,
                        said: String::from_utf8_lossy(&body).into_owned(),
                    });
                }
            }
        }
        Ok(times)
    })
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1_000_000.0
}

impl Starts {
    fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        if let Some(most) = self.starts.last() {
            let what = format!("ready with {} finished clusters", most.clusters);
            figures.push(Figure::new(what, most.ready_ms, "ms", Target::AtMost(300.0)));
        }
        if let Some(most) = self.recoveries.last() {
            let what = format!("first task after a kill with {} in flight", most.tasks);
            figures.push(Figure::new(what, most.first_task_ms, "ms", Target::AtMost(1_000.0)));
        }
        figures.push(Figure::new("size of the program", self.program_mb, "MB", Target::AtMost(40.0)));
        figures.extend(
            self.starts.first().map(|idle| {
                Figure::new("resident memory, idle", idle.resident_mb, "MB", Target::AtMost(40.0))
            }),
        );
        figures
    }

    fn grids(&self) -> Vec<Grid> {
        let start = |start: &Start| {
            [
                start.clusters.to_string(),
                format!("{:.1} MB", start.database_mb),
                format!("{:.0} ms", start.ready_ms),
                format!("{:.1} MB", start.resident_mb),
                format!("{:.1} MB", start.own_mb),
            ]
        };
        let recovery = |recovery: &Recovery| {
            [
                recovery.tasks.to_string(),
                recovery.clusters.to_string(),
                format!("{:.0} ms", recovery.ready_ms),
                format!("{:.0} ms", recovery.first_task_ms),
                format!("{:.0} ms", recovery.all_ms),
            ]
        };
        vec![
            Grid::new(["FINISHED", "DATABASE", "READY", "RESIDENT", "OWN"], self.starts.iter().map(start)),
            Grid::new(
                ["IN FLIGHT", "CLUSTERS", "READY", "FIRST TASK", "ALL"],
                self.recoveries.iter().map(recovery),
            ),
        ]
    }
}
