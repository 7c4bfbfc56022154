//! What people see of a server at work: answers to their questions, events as they happen, and what tasks print.

mod events;
mod follower;
mod gets;
mod load;
mod output;

use std::time::Duration;

use serde::Serialize;

use crate::installation::Installation;
use crate::{BenchError, Section, Thoroughness};
use events::Followed;
use gets::Gets;
use output::Printed;

/// Nobody but our workers carries anything out.
const SETTINGS: [&str; 2] = ["workers.local=0", "health.heal=off"];

/// How much is measured.
struct Plan {
    gets: gets::Size,
    followers: &'static [u32],
    work: Duration,
    lines: &'static [u64],
}

const PLAN: Plan = Plan {
    gets: gets::Size { questions: 400, clusters: 40, nodes: 50, workers: 16 },
    followers: &[10, 100, 1_000],
    work: Duration::from_secs(10),
    lines: &[10_000, 100_000, 1_000_000],
};

/// The same in short.
const QUICK: Plan = Plan {
    gets: gets::Size { questions: 40, clusters: 2, nodes: 5, workers: 2 },
    followers: &[10],
    work: Duration::from_millis(1_500),
    lines: &[10_000],
};

/// What was measured.
#[derive(Debug, Serialize)]
struct Api {
    gets: Gets,
    events: Vec<Followed>,
    output: Vec<Printed>,
}

/// Measures servers of its own.
///
/// # Errors
/// When one fails.
pub fn measure(how: &Thoroughness) -> Result<Section, BenchError> {
    let plan = if how.quick { QUICK } else { PLAN };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let measured = runtime.block_on(run(how, &plan))?;
    let figures =
        [measured.gets.figures(), Followed::figures(&measured.events), Printed::figures(&measured.output)];
    let grids = vec![measured.gets.grid(), Followed::grid(&measured.events), Printed::grid(&measured.output)];
    Section::new(&measured, grids, figures.into_iter().flatten().collect())
}

async fn run(how: &Thoroughness, plan: &Plan) -> Result<Api, BenchError> {
    let server = || {
        let mut server = Installation::new(&how.program, &SETTINGS)?;
        server.start()?;
        Ok::<_, BenchError>(server)
    };
    let gets = gets::measure(&server()?, plan.gets).await?;
    let mut followed = Vec::new();
    for followers in plan.followers {
        let size = events::Size { followers: *followers, work: plan.work };
        followed.push(events::measure(&server()?, size, 7).await?);
    }
    let output = output::measure(&server()?, plan.lines).await?;
    Ok(Api { gets, events: followed, output })
}
