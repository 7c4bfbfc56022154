//! What was measured, for people and beside what it should be.

use serde::Serialize;

use super::appends::Appended;
use super::idle::Weighed;
use super::load::{Aged, Carried};
use super::messages::MessageCost;
use super::syncs::Syncs;
use crate::Grid;
use crate::figure::{Figure, Target};

/// How long a task may wait at most, 99 of 100, from the end of its predecessor to its begin, in ms.
const LONGEST_WAIT: f64 = 5.0;

/// By how much a transition may cost more in a large cluster, or in one with a long journal, than in a small one.
const MOST_GROWTH: f64 = 1.5;

/// Most memory of a node's actor, and of a live cluster of five nodes, in KiB.
const NODE_KIB: f64 = 2.0;
const CLUSTER_KIB: f64 = 128.0;

/// What a message may cost more, in ns, because it can be looked at: a hundredth of a transition, which is some ten messages.
const MOST_FOR_BEING_SEEN: f64 = 50.0;

/// All that was measured.
#[derive(Debug, Serialize)]
pub struct Journals {
    pub engines: Vec<EngineMeasured>,
    pub weighed: Weighed,
    pub disk: Syncs,
    pub messages: MessageCost,
}

/// Work that came in even steps.
#[derive(Debug, Serialize)]
pub struct Paced {
    /// As many transitions per second.
    pub asked: f64,
    #[serde(flatten)]
    pub carried: Carried,
}

/// What was measured on one engine.
#[derive(Debug, Serialize)]
pub struct EngineMeasured {
    pub engine: &'static str,
    /// What is to be reached, in transitions per second.
    #[serde(skip)]
    pub rate: f64,
    /// Without actors.
    pub appended: Vec<Appended>,
    /// By clusters of five nodes at work.
    pub together: Vec<Carried>,
    /// By nodes of a cluster.
    pub sizes: Vec<Carried>,
    /// Where work comes in even steps, the most last.
    pub paced: Vec<Paced>,
    /// By length of the journal.
    pub aged: Vec<Aged>,
}

/// How much more the last costs than the first; times come in steps, so that one that is too short is nothing.
fn growth(costs: impl Iterator<Item = f64>) -> f64 {
    let costs: Vec<f64> = costs.collect();
    match (costs.first(), costs.last()) {
        (Some(first), Some(last)) if *first > 0.0 && *last > 0.0 => last / first,
        _ => 1.0,
    }
}

impl EngineMeasured {
    fn figures(&self) -> Vec<Figure> {
        let Self { engine, rate, together, sizes, paced, aged, .. } = self;
        let all = together.iter().chain(sizes);
        let most = all.map(|carried| carried.per_second).fold(0.0, f64::max);
        let of_size = growth(sizes.iter().map(|carried| carried.cost));
        let of_age = growth(aged.iter().map(|aged| aged.cost));
        let wait = |Paced { asked, carried }: &Paced| {
            let what = format!("wait for the next task at {asked} transitions/s, p99, {engine}");
            Figure::new(what, carried.wait_p99, "ms", Target::AtMost(LONGEST_WAIT))
        };
        let most = Figure::new(format!("durable transitions, {engine}"), most, "/s", Target::AtLeast(*rate));
        let growths = [
            Figure::new(
                format!("cost of a transition, largest ÷ smallest cluster, {engine}"),
                of_size,
                "",
                Target::AtMost(MOST_GROWTH),
            ),
            Figure::new(
                format!("cost of a transition, longest ÷ shortest journal, {engine}"),
                of_age,
                "",
                Target::AtMost(MOST_GROWTH),
            ),
        ];
        std::iter::once(most).chain(paced.iter().map(wait)).chain(growths).collect()
    }

    fn grids(&self) -> [Grid; 3] {
        let name = self.engine;
        let paced = self.paced.iter().map(|paced| (format!("{:.0}/s come", paced.asked), &paced.carried));
        let loads = self.together.iter().chain(&self.sizes).map(|load| (load.clusters.to_string(), load));
        let load = |(clusters, load): (String, &Carried)| {
            [
                name.to_owned(),
                clusters,
                load.nodes.to_string(),
                format!("{:.0}", load.per_second),
                format!("{:.2} ms", load.wait_p50),
                format!("{:.2} ms", load.wait_p99),
                format!("{:.0} µs", load.cost),
                format!("{:.1}", load.shared),
            ]
        };
        let headings =
            ["DATABASE", "CLUSTERS", "NODES", "TRANSITIONS/S", "WAIT", "P99", "COST", "APPENDS/COMMIT"];
        let loads = Grid::new(headings, loads.chain(paced).map(load));
        let aged = self.aged.iter().map(|aged| {
            let (rate, cost) = (format!("{:.0}", aged.per_second), format!("{:.0} µs", aged.cost));
            [name.to_owned(), aged.events.to_string(), rate, cost]
        });
        let aged = Grid::new(["DATABASE", "EVENTS IN JOURNAL", "TRANSITIONS/S", "COST"], aged);
        let appended = self.appended.iter().map(|row| {
            let (rate, shared) = (format!("{:.0}", row.per_second), format!("{:.1}", row.shared));
            [name.to_owned(), row.appenders.to_string(), rate, shared]
        });
        let headings = ["DATABASE", "APPENDERS WITHOUT ACTORS", "TRANSITIONS/S", "APPENDS/COMMIT"];
        [loads, aged, Grid::new(headings, appended)]
    }
}

impl Journals {
    /// Each beside what it should be.
    pub fn figures(&self) -> Vec<Figure> {
        let Weighed { nodes, clusters, node_kib, cluster_kib, at_rest, .. } = &self.weighed;
        let weights = [
            Figure::new(
                format!("memory of an idle node's actor, one of {nodes}"),
                *node_kib,
                "KiB",
                Target::AtMost(NODE_KIB),
            ),
            Figure::new(
                format!("memory of an idle live cluster of 5 nodes, one of {clusters}"),
                *cluster_kib,
                "KiB",
                Target::AtMost(CLUSTER_KIB),
            ),
            Figure::new(
                format!("idle clusters that went to rest, of {clusters}"),
                *at_rest as f64,
                "",
                Target::AtLeast(*clusters as f64),
            ),
        ];
        let MessageCost { plain_ns, unseen_ns, .. } = self.messages;
        let seen = Figure::new(
            "cost of a message because the console could look at it, while it does not",
            unseen_ns - plain_ns,
            "ns",
            Target::AtMost(MOST_FOR_BEING_SEEN),
        );
        self.engines.iter().flat_map(EngineMeasured::figures).chain(weights).chain([seen]).collect()
    }

    /// For people.
    pub fn grids(&self) -> Vec<Grid> {
        let weighed = &self.weighed;
        let row = [
            weighed.nodes.to_string(),
            format!("{:.2} KiB", weighed.node_kib),
            weighed.clusters.to_string(),
            format!("{:.1} KiB", weighed.cluster_kib),
            weighed.at_rest.to_string(),
            format!("{:.0}", weighed.back_per_second),
        ];
        let headings =
            ["NODES", "MEMORY OF ONE", "LIVE CLUSTERS", "MEMORY OF ONE", "WENT TO REST", "COME BACK/S"];
        let memory = Grid::new(headings, std::iter::once(row));
        let MessageCost { plain_ns, unseen_ns, watched_ns, examined_ns } = self.messages;
        let ns = [plain_ns, unseen_ns, watched_ns, examined_ns].map(|ns| format!("{ns:.0} ns"));
        let headings = [
            "A MESSAGE IN ACTIX'S OWN CONTEXT",
            "IN OURS, NOT LOOKED AT",
            "NUMBERS WATCHED",
            "LOOKED AT CLOSELY",
        ];
        let last = [self.disk.grid(), memory, Grid::new(headings, [ns].into_iter())];
        self.engines.iter().flat_map(EngineMeasured::grids).chain(last).collect()
    }
}
