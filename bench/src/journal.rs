//! How fast tasks follow each other through actors and journal when what they do takes no time, how that grows, and what
//! actors with nothing to do keep in memory.

mod appends;
mod crew;
mod database;
mod idle;
mod load;
mod messages;
mod report;
mod stage;
mod syncs;

use std::time::Duration;

use actix::System;
use cooperage_domain::id::ClusterId;

use crate::{BenchError, Section, Thoroughness};
use database::Engine;
use idle::{Crowd, Weighed};
use load::{Load, Numbers};
use report::{EngineMeasured, Journals, Paced};
use stage::Stage;

/// Transitions of tasks that have to become durable in a second.
const SQLITE_RATE: f64 = 20_000.0;
const POSTGRES_RATE: f64 = 10_000.0;

/// Longer than any measurement lasts.
const NEVER: Duration = Duration::from_secs(24 * 3600);

/// How much is measured.
struct Extent {
    /// How long each load lasts.
    period: Duration,
    /// Clusters of five nodes at work.
    together: &'static [u64],
    /// Clusters at work, and nodes of each.
    sizes: &'static [(u64, u64)],
    /// Lengths of journals, in events.
    lengths: &'static [u64],
    /// Those that append at once, without actors.
    appenders: &'static [u64],
    crowd: Crowd,
    /// How much of the rates that are to be reached is asked for where work comes in even steps: all of it last.
    shares: &'static [f64],
    /// How often the disk is waited for.
    syncs: usize,
}

const FULL: Extent = Extent {
    period: Duration::from_secs(5),
    together: &[1, 10, 100, 1_000],
    sizes: &[(100, 5), (10, 50), (1, 500)],
    lengths: &[0, 10_000, 50_000],
    appenders: &[1, 100, 2_000],
    crowd: Crowd { nodes: 100_000, clusters: 10_000 },
    shares: &[0.1, 0.25, 0.5, 1.0],
    syncs: 2_000,
};

const QUICK: Extent = Extent {
    period: Duration::from_millis(200),
    together: &[1, 4],
    sizes: &[(4, 5), (1, 20)],
    lengths: &[0, 100],
    appenders: &[10],
    crowd: Crowd { nodes: 1_000, clusters: 30 },
    shares: &[0.1],
    syncs: 50,
};

/// Nodes of most clusters.
const NODES: u64 = 5;

/// Nodes of the one that gets a long journal.
const NODES_OF_LONG_LIVED: u64 = 20;

/// Brings clusters up, with tasks that take no time.
///
/// # Errors
/// When a database cannot be made, or clusters do not come up.
pub fn measure(how: &Thoroughness) -> Result<Section, BenchError> {
    let extent = if how.quick { &QUICK } else { &FULL };
    // Memory first, while the heap holds nothing that was used and freed.
    let weighed = weigh(extent)?;
    let mut engines = vec![of_engine(&Engine::Sqlite, SQLITE_RATE, extent)?];
    if let Some(url) = &how.database_url {
        engines.push(of_engine(&Engine::Postgres(url.clone()), POSTGRES_RATE, extent)?);
    }
    let disk = syncs::measure(extent.syncs)?;
    let messages = messages::measure(extent.period)?;
    let journals = Journals { engines, weighed, disk, messages };
    Section::new(&journals, journals.grids(), journals.figures())
}

fn weigh(extent: &Extent) -> Result<Weighed, BenchError> {
    let Crowd { nodes, clusters } = extent.crowd;
    let node_kib = System::new().block_on(idle::nodes(&Engine::Sqlite, nodes))?;
    let (cluster_kib, at_rest, back_per_second) =
        System::new().block_on(idle::clusters(&Engine::Sqlite, clusters))?;
    Ok(Weighed { nodes, clusters, node_kib, cluster_kib, at_rest, back_per_second })
}

fn of_engine(engine: &Engine, rate: f64, extent: &Extent) -> Result<EngineMeasured, BenchError> {
    let appended = appends::measure(engine, extent.appenders, extent.period)?;
    System::new().block_on(async {
        let database = engine.database()?;
        let mut stage = Stage::set(&database, NEVER)?;
        let mut numbers = Numbers::default();
        let at_once = |clusters, nodes| Load { clusters, nodes, period: extent.period };
        let mut together = Vec::new();
        for clusters in extent.together {
            together.push(load::together(&mut stage, &mut numbers, at_once(*clusters, NODES)).await?);
        }
        let mut sizes = Vec::new();
        for (clusters, nodes) in extent.sizes {
            sizes.push(load::together(&mut stage, &mut numbers, at_once(*clusters, *nodes)).await?);
        }
        let mut paced = Vec::new();
        for asked in extent.shares.iter().map(|share| rate * share) {
            let carried = load::paced(&mut stage, &mut numbers, at_once(0, NODES), asked).await?;
            paced.push(Paced { asked, carried });
        }
        let id: ClusterId = numbers.next();
        let aged =
            load::long_lived(&mut stage, id, NODES_OF_LONG_LIVED, extent.lengths, extent.period).await?;
        Ok(EngineMeasured { engine: engine.name(), rate, appended, together, sizes, paced, aged })
    })
}
