//! What actors with nothing to do keep in memory, and that clusters go to rest and come back.

use std::time::{Duration, Instant};

use actix::Addr;
use cooperage_actors::console::Live as _;
use cooperage_actors::node::{Identity, Node};
use cooperage_actors::registry::{Find, Look};
use cooperage_domain::id::{ClusterId, NodeId};
use serde::Serialize;
use slog::o;

use super::crew::TENANT;
use super::database::Engine;
use super::load::Numbers;
use super::stage::{Stage, gone};
use crate::{BenchError, process};

/// Nodes of a cluster that is weighed.
const NODES: u64 = 5;

/// So many clusters are brought up at once.
const TOGETHER: u64 = 50;

/// How long clusters with nothing to do stay live where they are to go to rest.
const REST_AFTER: Duration = Duration::from_millis(500);

/// Longer than any measurement lasts.
const NEVER: Duration = Duration::from_secs(24 * 3600);

/// How long is waited for clusters to go to rest.
const PATIENCE: Duration = Duration::from_secs(60);

/// Of how many things the memory is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Crowd {
    pub nodes: u32,
    pub clusters: u64,
}

/// What was found.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Weighed {
    pub nodes: u32,
    pub clusters: u64,
    /// Memory of one node's actor, in KiB.
    pub node_kib: f64,
    /// Memory of one live cluster of five nodes with all its actors, in KiB.
    pub cluster_kib: f64,
    /// How many went to rest by themselves.
    pub at_rest: u64,
    /// How many a second come back from the journal.
    pub back_per_second: f64,
}

/// Node actors with nothing to do, all in this process at once.
///
/// # Errors
/// When they cannot be started.
pub async fn nodes(engine: &Engine, many: u32) -> Result<f64, BenchError> {
    let database = engine.database()?;
    let mut stage = Stage::set(&database, NEVER)?;
    let id = Numbers::default().next();
    stage.create(id, 1).await?;
    stage.one_ended().await?;
    let found = stage.registry.send(Find { id }).await.map_err(gone)?;
    let cluster = found.map_err(gone)?;
    let before = resident();
    let start = |number: u32| {
        let id = NodeId(format!("{number:08x}-0000-4000-8000-000000000000"));
        let logger = stage.logger.new(o!("node" => id.to_string()));
        let identity = Identity { id, cluster: ClusterId(1), tenant: TENANT.to_owned() };
        let path = format!("/clusters/{}/nodes/{}", identity.cluster, identity.id);
        let node = Node::new(identity, cluster.downgrade(), stage.colleagues.clone(), NEVER, logger);
        node.live(&stage.console, path)
    };
    let nodes: Vec<Addr<Node>> = (0..many).map(start).collect();
    // Each has had its turn when the last one answers that it is there.
    tokio::task::yield_now().await;
    let each = (resident() - before) / f64::from(many.max(1));
    drop(nodes);
    Ok(each)
}

/// Clusters that are up and have nothing to do: first live, then at rest.
///
/// # Errors
/// When they cannot be brought up.
pub async fn clusters(engine: &Engine, many: u64) -> Result<(f64, u64, f64), BenchError> {
    let database = engine.database()?;
    let each = {
        let mut stage = Stage::set(&database, NEVER)?;
        let mut numbers = Numbers::default();
        // What is made once, like connections and caches, is there already.
        bring_up(&mut stage, &mut numbers, many / 10 + 1).await?;
        let before = resident();
        bring_up(&mut stage, &mut numbers, many).await?;
        (resident() - before) / many.max(1) as f64
    };
    let stage = Stage::set(&database, REST_AFTER)?;
    let begun = Instant::now();
    for first in (1..=many).step_by(TOGETHER as usize) {
        let these = (first..=many).take(TOGETHER as usize).map(ClusterId);
        let found = futures::future::join_all(these.map(|id| stage.registry.send(Find { id }))).await;
        for found in found {
            found.map_err(gone)?.map_err(gone)?;
        }
    }
    let back = many as f64 / begun.elapsed().as_secs_f64();
    Ok((each, at_rest(&stage, many).await?, back))
}

async fn bring_up(stage: &mut Stage, numbers: &mut Numbers, many: u64) -> Result<(), BenchError> {
    let mut left = many;
    while left > 0 {
        let these = left.min(TOGETHER);
        let ids: Vec<ClusterId> = (0..these).map(|_| numbers.next()).collect();
        futures::future::try_join_all(ids.into_iter().map(|id| stage.create(id, NODES))).await?;
        for _ in 0..these {
            stage.one_ended().await?;
        }
        left -= these;
    }
    Ok(())
}

/// How many of the clusters have no actor any more, once that does not change.
async fn at_rest(stage: &Stage, many: u64) -> Result<u64, BenchError> {
    let begun = Instant::now();
    loop {
        let mut live = 0;
        for id in (1..=many).map(ClusterId) {
            live += u64::from(stage.registry.send(Look { id }).await.map_err(gone)?.is_some());
        }
        if live == 0 || begun.elapsed() > PATIENCE {
            return Ok(many - live);
        }
        tokio::time::sleep(REST_AFTER).await;
    }
}

/// Resident memory of this process in KiB; 0 where nobody tells.
fn resident() -> f64 {
    process::held(None).map_or(0.0, |held| held.resident as f64 / 1024.0)
}
