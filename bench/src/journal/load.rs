//! Clusters at work: as many as fit, or as many as come in a second.

use std::time::{Duration, Instant};

use cooperage_actors::registry::Tell;
use cooperage_domain::cluster::{Command, ServiceChange};
use cooperage_domain::id::ClusterId;
use serde::Serialize;

use super::crew::TASKS_OF_NODE;
use super::stage::{Stage, gone};
use crate::BenchError;
use crate::percentile::of_durations;
use crate::process::own_processor_time;

/// A task is begun, and it has succeeded: each is an event that waits for its commit.
const TRANSITIONS_OF_TASK: u64 = 2;

/// What is done at once.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// Clusters at work.
    pub clusters: u64,
    /// Nodes of each.
    pub nodes: u64,
    /// For how long.
    pub period: Duration,
}

/// What came of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Carried {
    pub clusters: u64,
    pub nodes: u64,
    /// Durable transitions of tasks in a second.
    pub per_second: f64,
    /// From the end of a task's predecessor to its begin, in ms.
    pub wait_p50: f64,
    pub wait_p99: f64,
    /// Time of processors for a transition, in µs: all threads, the measurement's own work included.
    pub cost: f64,
    /// Appends that shared a commit, on the average.
    pub shared: f64,
}

/// What a transition of a cluster costs that has a long journal.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Aged {
    /// Events of its journal.
    pub events: u64,
    /// Durable transitions of tasks in a second.
    pub per_second: f64,
    /// Time of processors for a transition, in µs.
    pub cost: f64,
}

/// What had been done at one moment.
struct Mark {
    at: Instant,
    runs: u64,
    processor: Duration,
    commits: u64,
    jobs: u64,
}

impl Mark {
    fn of(stage: &Stage) -> Self {
        let commits = stage.commits();
        Self {
            at: Instant::now(),
            runs: stage.idle.runs(),
            processor: own_processor_time(),
            commits: commits.batches,
            jobs: commits.jobs,
        }
    }
}

/// Numbers clusters, from 1.
#[derive(Debug, Default)]
pub struct Numbers(u64);

impl Numbers {
    pub fn next(&mut self) -> ClusterId {
        self.0 += 1;
        ClusterId(self.0)
    }
}

/// Keeps so many clusters at work: when one is up, the next one is asked for.
///
/// # Errors
/// When one cannot be brought up.
pub async fn together(stage: &mut Stage, numbers: &mut Numbers, load: Load) -> Result<Carried, BenchError> {
    let begun = Mark::of(stage);
    let first = (0..load.clusters).map(|_| numbers.next()).collect::<Vec<_>>();
    futures::future::try_join_all(first.into_iter().map(|id| stage.create(id, load.nodes))).await?;
    while begun.at.elapsed() < load.period {
        stage.one_ended().await?;
        let next = (0..=stage.more_ended()).map(|_| numbers.next()).collect::<Vec<_>>();
        futures::future::try_join_all(next.into_iter().map(|id| stage.create(id, load.nodes))).await?;
    }
    let (ended, waits) = (Mark::of(stage), stage.idle.waits());
    settle(stage, load.clusters).await?;
    // What waited while the measurement was over counts for nothing.
    drop(stage.idle.waits());
    Ok(carried(load, [&begun, &ended], &waits))
}

/// Asks for clusters in even steps, so that their tasks make so many transitions a second, whether or not they keep up.
///
/// # Errors
/// When one cannot be brought up.
pub async fn paced(
    stage: &mut Stage,
    numbers: &mut Numbers,
    load: Load,
    per_second: f64,
) -> Result<Carried, BenchError> {
    let transitions = load.nodes * TASKS_OF_NODE * TRANSITIONS_OF_TASK;
    let step = Duration::from_secs_f64(transitions as f64 / per_second);
    let clusters = load.period.div_duration_f64(step).ceil() as u32;
    let begun = Mark::of(stage);
    let mut asked = Vec::new();
    for number in 0..clusters {
        tokio::time::sleep_until((begun.at + step * number).into()).await;
        asked.push(actix::spawn(stage.ask(numbers.next(), load.nodes)?));
    }
    let ended = Mark::of(stage);
    for answer in asked {
        answer.await.map_err(gone)?.map_err(gone)?.map_err(gone)?;
    }
    settle(stage, clusters.into()).await?;
    // Who is late counts as well.
    Ok(carried(load, [&begun, &ended], &stage.idle.waits()))
}

/// Waits until all is done.
async fn settle(stage: &mut Stage, clusters: u64) -> Result<(), BenchError> {
    let mut left = clusters.saturating_sub(stage.more_ended());
    while left > 0 {
        stage.one_ended().await?;
        left -= 1;
    }
    Ok(())
}

fn carried(load: Load, [begun, now]: [&Mark; 2], waits: &[Duration]) -> Carried {
    let transitions = ((now.runs - begun.runs) * TRANSITIONS_OF_TASK).max(1) as f64;
    Carried {
        clusters: load.clusters,
        nodes: load.nodes,
        per_second: transitions / (now.at - begun.at).as_secs_f64(),
        wait_p50: of_durations(waits, 50.0),
        wait_p99: of_durations(waits, 99.0),
        cost: (now.processor - begun.processor).as_secs_f64() * 1e6 / transitions,
        shared: (now.jobs - begun.jobs) as f64 / (now.commits - begun.commits).max(1) as f64,
    }
}

/// One cluster that is restarted again and again: what a transition costs when its journal has got long.
///
/// # Errors
/// When it cannot be told to.
pub async fn long_lived(
    stage: &mut Stage,
    id: ClusterId,
    nodes: u64,
    lengths: &[u64],
    window: Duration,
) -> Result<Vec<Aged>, BenchError> {
    stage.create(id, nodes).await?;
    stage.one_ended().await?;
    let mut aged = Vec::new();
    for &length in lengths {
        while restarted(stage, id).await? < length {}
        let (begun, runs) = (Instant::now(), stage.idle.runs());
        let processor = own_processor_time();
        let mut events = length;
        while begun.elapsed() < window {
            events = restarted(stage, id).await?;
        }
        let transitions = ((stage.idle.runs() - runs) * TRANSITIONS_OF_TASK).max(1) as f64;
        let cost = (own_processor_time() - processor).as_secs_f64() * 1e6 / transitions;
        aged.push(Aged { events, per_second: transitions / begun.elapsed().as_secs_f64(), cost });
    }
    drop(stage.idle.waits());
    Ok(aged)
}

/// Has all services restarted, and waits for it; the number of events that the journal had before.
async fn restarted(stage: &mut Stage, id: ClusterId) -> Result<u64, BenchError> {
    let (change, service) = (ServiceChange::Restart, None);
    let command = Command::ChangeServices { change, service, by: "bench".to_owned() };
    let told = stage.registry.send(Tell { id, command, who: "bench".to_owned() }).await;
    let events = told.map_err(gone)?.map_err(gone)?.sequence;
    stage.one_ended().await?;
    Ok(events)
}
