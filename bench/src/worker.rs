//! How fast remote workers are given tasks and rid of them: from the request for a cluster until the last report is durable.

mod client;

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;
use tokio::task::LocalSet;

use crate::figure::{Figure, Target};
use crate::installation::Installation;
use crate::wire::Wire;
use crate::{BenchError, Grid, Section, Thoroughness, catalogue, percentile, process};
use client::{Batch, PROVISIONER, Work};

/// Connections of the one client.
const CONNECTIONS: usize = 64;
/// Tasks of each node, one after the other.
const TASKS_PER_NODE: u32 = 20;
/// Pause between two looks at whether a cluster is there.
const PAUSE: Duration = Duration::from_millis(5);

/// How workers ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum Asking {
    /// As Coopr's: each for itself.
    Plain,
    /// As ours: all at once, and waiting.
    Batch,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
struct Load {
    asking: Asking,
    /// Clusters that are brought up at once.
    clusters: u32,
    /// Nodes of each.
    nodes: u32,
    tasks_per_node: u32,
    /// Whether it has a target. Few nodes have too little to do at once for so many workers, and orders of very many are long:
    /// they are there to show how it grows.
    #[serde(skip)]
    has_target: bool,
}

/// What came of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    #[serde(flatten)]
    load: Load,
    tasks: usize,
    /// From the first request for a cluster until the last report is durable.
    seconds: f64,
    tasks_per_second: f64,
    /// What the slowest hundredth of the answers took, in ms.
    take_ms: f64,
    finish_ms: f64,
    /// Processor time for each task, in µs.
    server_us: f64,
    client_us: f64,
}

/// What was measured.
#[derive(Debug, Serialize)]
struct Runs {
    connections: usize,
    runs: Vec<Run>,
}

const fn load(asking: Asking, clusters: u32, nodes: u32) -> Load {
    let has_target = nodes * clusters >= 100;
    Load { asking, clusters, nodes, tasks_per_node: TASKS_PER_NODE, has_target }
}

/// One cluster as it grows, then ten at once.
const LOADS: [Load; 7] = [
    load(Asking::Plain, 1, 10),
    load(Asking::Plain, 1, 100),
    Load { asking: Asking::Plain, clusters: 1, nodes: 1_000, tasks_per_node: 5, has_target: false },
    load(Asking::Plain, 10, 10),
    load(Asking::Plain, 10, 100),
    load(Asking::Batch, 1, 100),
    load(Asking::Batch, 10, 100),
];

const QUICK: [Load; 2] = [
    Load { asking: Asking::Plain, clusters: 1, nodes: 5, tasks_per_node: 5, has_target: true },
    Load { asking: Asking::Batch, clusters: 3, nodes: 3, tasks_per_node: 5, has_target: true },
];

/// Has clusters brought up by workers that do nothing.
///
/// # Errors
/// When the server does not start, or does not do its work.
pub fn measure(how: &Thoroughness) -> Result<Section, BenchError> {
    let loads: &[Load] = if how.quick { &QUICK } else { &LOADS };
    let runs = loads.iter().map(|load| run(&how.program, *load)).collect::<Result<Vec<_>, _>>()?;
    let runs = Runs { connections: CONNECTIONS, runs };
    Section::new(&runs, vec![runs.grid()], runs.figures())
}

fn run(program: &Path, load: Load) -> Result<Run, BenchError> {
    let mut server = Installation::new(program, &["workers.local=0"])?;
    server.start()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, bring_up(&server, load))
}

type Worker = Pin<Box<dyn Future<Output = Result<(), BenchError>>>>;

/// Brings everything up, over a client that is one thread.
async fn bring_up(server: &Installation, load: Load) -> Result<Run, BenchError> {
    let token = server.token()?;
    let mut user = Wire::open(server.user(), Some(&token)).await?;
    catalogue::stock(&mut user, load.tasks_per_node).await?;
    catalogue::register(&mut Wire::open(server.tasks(), None).await?, PROVISIONER, &[]).await?;
    let tasks = (load.clusters * load.nodes * load.tasks_per_node) as usize;
    let work = Work::new(server.tasks(), tasks);
    let workers: Vec<_> = workers(&work, load.asking).into_iter().map(tokio::task::spawn_local).collect();
    let used = || {
        let server =
            server.process().map_or_else(|| Ok(process::own_processor_time()), process::processor_time)?;
        Ok::<_, BenchError>((server, process::own_processor_time()))
    };
    let (server_before, client_before) = used()?;
    let begun = Instant::now();
    let mut ids = Vec::new();
    for number in 0..load.clusters {
        let name = format!("c{number}");
        ids.push(catalogue::create(&mut user, &name, load.nodes, load.tasks_per_node).await?);
    }
    let ended = ended(&work, workers).await?;
    let (server_after, client_after) = used()?;
    for id in ids {
        until_active(&mut user, &id).await?;
    }
    let seconds = ended.duration_since(begun).as_secs_f64();
    let each = |after: Duration, before: Duration| {
        after.saturating_sub(before).as_secs_f64() * 1_000_000.0 / tasks.max(1) as f64
    };
    Ok(Run {
        load,
        tasks,
        seconds,
        tasks_per_second: tasks as f64 / seconds,
        take_ms: percentile::of_durations(&work.takes.borrow(), 99.0),
        finish_ms: percentile::of_durations(&work.finishes.borrow(), 99.0),
        server_us: each(server_after, server_before),
        client_us: each(client_after, client_before),
    })
}

fn workers(work: &Rc<Work>, asking: Asking) -> Vec<Worker> {
    let mut all: Vec<Worker> = vec![Box::pin(client::beat(Rc::clone(work)))];
    match asking {
        Asking::Plain => {
            let worker = |number| Box::pin(client::plain(Rc::clone(work), number)) as Worker;
            all.extend((1..=CONNECTIONS).map(worker));
        }
        Asking::Batch => {
            let batch = Batch::new(CONNECTIONS);
            let finish = |_| Box::pin(Rc::clone(&batch).finish(Rc::clone(work))) as Worker;
            all.extend((1..CONNECTIONS).map(finish));
            all.push(Box::pin(batch.take(Rc::clone(work))));
        }
    }
    all
}

/// Until all tasks are finished, or a worker gave up: why it did.
async fn ended(
    work: &Rc<Work>,
    workers: Vec<tokio::task::JoinHandle<Result<(), BenchError>>>,
) -> Result<Instant, BenchError> {
    let failed = async {
        for worker in workers {
            match worker.await {
                Ok(Ok(())) => {}
                Ok(Err(fault)) => return fault,
                Err(fault) => return BenchError::Server(fault.to_string()),
            }
        }
        std::future::pending().await
    };
    tokio::select! {
        ended = work.done() => ended,
        fault = failed => Err(fault),
    }
}

/// Looks until a cluster is there; a job that ended in another way is a fault.
async fn until_active(user: &mut Wire, id: &str) -> Result<(), BenchError> {
    loop {
        let status = user.must("GET", &format!("/v2/clusters/{id}/status"), &Value::Null).await?;
        match status["status"].as_str() {
            Some("active") => return Ok(()),
            Some("pending") => tokio::time::sleep(PAUSE).await,
            _ => return Err(BenchError::Server(format!("cluster {id} did not come up: {status}"))),
        }
    }
}

impl Runs {
    fn figures(&self) -> Vec<Figure> {
        let figure = |run: &Run| {
            let Load { asking, clusters, nodes, .. } = run.load;
            let what = match (asking, clusters) {
                (Asking::Plain, 1) => format!("tasks taken and finished, a cluster of {nodes} nodes"),
                (Asking::Plain, _) => {
                    format!("tasks taken and finished, {clusters} clusters of {nodes} nodes")
                }
                (Asking::Batch, 1) => format!("the same in batches, a cluster of {nodes} nodes"),
                (Asking::Batch, _) => format!("the same in batches, {clusters} clusters of {nodes} nodes"),
            };
            Figure::new(what, run.tasks_per_second, "/s", Target::AtLeast(3_000.0))
        };
        self.runs.iter().filter(|run| run.load.has_target).map(figure).collect()
    }

    fn grid(&self) -> Grid {
        let row = |run: &Run| {
            [
                match run.load.asking {
                    Asking::Plain => "one by one".to_owned(),
                    Asking::Batch => "in batches".to_owned(),
                },
                run.load.clusters.to_string(),
                run.load.nodes.to_string(),
                run.tasks.to_string(),
                format!("{:.0}/s", run.tasks_per_second),
                format!("{:.1} ms", run.take_ms),
                format!("{:.1} ms", run.finish_ms),
                format!("{:.0} µs", run.server_us),
                format!("{:.0} µs", run.client_us),
            ]
        };
        let headings = [
            "TAKEN",
            "CLUSTERS",
            "NODES",
            "TASKS",
            "DONE",
            "TAKE P99",
            "FINISH P99",
            "SERVER CPU",
            "CLIENT CPU",
        ];
        Grid::new(headings, self.runs.iter().map(row))
    }
}
