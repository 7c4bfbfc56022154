//! How close to the best that is possible clusters are brought up.

use std::num::NonZeroUsize;
use std::time::Instant;

use cooperage_domain::plan::predict::stage_makespan;
use cooperage_domain::plan::{PlannedTask, bounds, predict};
use fastrand::Rng;
use serde::Serialize;

use crate::figure::{Figure, Target};
use crate::hadoop::{Cluster, draw};
use crate::{BenchError, Grid, Section, milliseconds};

/// Numbers of nodes, and how many clusters of each are drawn.
const SIZES: [(u32, u32); 8] =
    [(5, 15), (10, 15), (20, 15), (50, 15), (100, 15), (200, 10), (500, 10), (1_000, 5)];

/// The same in short.
const QUICK: [(u32, u32); 3] = [(5, 3), (10, 3), (100, 1)];

/// What came of clusters of one size.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Size {
    nodes: u32,
    clusters: usize,
    /// Tasks of a cluster, on the average.
    tasks: usize,
    /// Makespan ÷ lower bound: the average and the worst.
    mean_ratio: f64,
    worst_ratio: f64,
    /// Makespan ÷ the bound that knows what a node has to do meanwhile, on the average.
    mean_ratio_to_nodes: f64,
    /// How long Coopr's stages take ÷ how long we take, by the same workers, and with a worker for each node.
    mean_gain: f64,
    mean_gain_with_all: f64,
    least_gain_with_all: f64,
    /// How long it takes to schedule one, in ms.
    milliseconds: f64,
}

/// What was measured.
#[derive(Debug, Serialize)]
struct Schedules {
    sizes: Vec<Size>,
}

/// What came of one cluster.
struct Run {
    tasks: usize,
    ratio: f64,
    ratio_to_nodes: f64,
    gain: f64,
    gain_with_all: f64,
    milliseconds: f64,
}

/// Brings random clusters up in thought.
///
/// # Errors
/// When one cannot be planned.
pub fn measure(quick: bool) -> Result<Section, BenchError> {
    let sizes: &[(u32, u32)] = if quick { &QUICK } else { &SIZES };
    let mut seed = 0;
    let mut measured = Vec::new();
    for (nodes, clusters) in sizes {
        let mut runs = Vec::new();
        for _ in 0..*clusters {
            runs.push(run(seed, *nodes)?);
            seed += 1;
        }
        measured.push(size(*nodes, &runs));
    }
    let schedules = Schedules { sizes: measured };
    Section::new(&schedules, vec![schedules.grid()], schedules.figures())
}

/// A quarter of the nodes to all of them can be worked on at once.
fn run(seed: u64, nodes: u32) -> Result<Run, BenchError> {
    let planned = draw(seed, nodes);
    let cluster = planned.map_err(|fault| BenchError::Question {
        question: format!("cluster {seed} of {nodes} nodes"),
        fault: fault.to_string(),
    })?;
    let workers = Rng::with_seed(seed).u32(nodes.div_ceil(4)..=nodes);
    let workers = NonZeroUsize::new(workers as usize).unwrap_or(NonZeroUsize::MIN);
    let begun = Instant::now();
    let predicted = predict(&cluster.graph, |task| cluster.durations[task.index], workers);
    let taken = begun.elapsed();
    let closer = bounds::lower_bound(&cluster.graph, &cluster.durations, workers);
    let all = NonZeroUsize::new(nodes as usize).unwrap_or(NonZeroUsize::MIN);
    Ok(Run {
        tasks: cluster.graph.len(),
        ratio: predicted.makespan.as_secs_f64() / predicted.lower_bound.as_secs_f64(),
        ratio_to_nodes: predicted.makespan.as_secs_f64() / closer.as_secs_f64(),
        gain: gain(&cluster, workers),
        gain_with_all: gain(&cluster, all),
        milliseconds: milliseconds(taken),
    })
}

/// How long the same tasks take in stages ÷ how long they take.
fn gain(cluster: &Cluster, workers: NonZeroUsize) -> f64 {
    let duration = |task: &PlannedTask| cluster.durations[task.index];
    let ours = predict(&cluster.graph, duration, workers).makespan;
    stage_makespan(&cluster.graph, duration, workers).as_secs_f64() / ours.as_secs_f64()
}

fn size(nodes: u32, runs: &[Run]) -> Size {
    Size {
        nodes,
        clusters: runs.len(),
        tasks: runs.iter().map(|run| run.tasks).sum::<usize>() / runs.len().max(1),
        mean_ratio: mean(runs.iter().map(|run| run.ratio)),
        worst_ratio: runs.iter().map(|run| run.ratio).fold(0.0, f64::max),
        mean_ratio_to_nodes: mean(runs.iter().map(|run| run.ratio_to_nodes)),
        mean_gain: mean(runs.iter().map(|run| run.gain)),
        mean_gain_with_all: mean(runs.iter().map(|run| run.gain_with_all)),
        least_gain_with_all: runs.iter().map(|run| run.gain_with_all).fold(f64::MAX, f64::min),
        milliseconds: mean(runs.iter().map(|run| run.milliseconds)),
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

impl Schedules {
    fn figures(&self) -> Vec<Figure> {
        let all = || self.sizes.iter().flat_map(|size| std::iter::repeat_n(size, size.clusters));
        let worst = self.sizes.iter().map(|size| size.worst_ratio).fold(0.0, f64::max);
        let mut figures = vec![
            Figure::new(
                "makespan ÷ lower bound, mean",
                mean(all().map(|size| size.mean_ratio)),
                "",
                Target::AtMost(1.05),
            ),
            Figure::new("makespan ÷ lower bound, worst", worst, "", Target::AtMost(1.15)),
        ];
        for (nodes, least) in [(10, 1.6), (100, 2.0)] {
            let of_size = self.sizes.iter().find(|size| size.nodes == nodes);
            figures.extend(of_size.map(|size| {
                let what = format!("stage plan ÷ ours, {nodes} nodes with a worker each");
                Figure::new(what, size.mean_gain_with_all, "", Target::AtLeast(least))
            }));
        }
        figures
    }

    fn grid(&self) -> Grid {
        let row = |size: &Size| {
            [
                size.nodes.to_string(),
                size.clusters.to_string(),
                size.tasks.to_string(),
                format!("{:.3}", size.mean_ratio),
                format!("{:.3}", size.worst_ratio),
                format!("{:.3}", size.mean_ratio_to_nodes),
                format!("{:.2}", size.mean_gain),
                format!("{:.2}", size.mean_gain_with_all),
                format!("{:.2}", size.least_gain_with_all),
                format!("{:.2} ms", size.milliseconds),
            ]
        };
        let headings = [
            "NODES",
            "CLUSTERS",
            "TASKS",
            "RATIO",
            "WORST",
            "CLOSER",
            "STAGES",
            "ALL WORKERS",
            "LEAST",
            "SCHEDULED IN",
        ];
        Grid::new(headings, self.sizes.iter().map(row))
    }
}
