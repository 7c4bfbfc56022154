//! The whole server in simulated time: registry, clusters, nodes, worker pools, janitor, provisioner, handover and journal,
//! over a real database in a file.
//!
//! Time is tokio's paused time: it moves on when nobody has anything to do, and stands still while anything is computed or
//! written. The first tenant's workers are plugins in the server's process, the second one's are elsewhere and outlive it.
//! A crash drops everything of the process at once; the outside world and the database's file stay.

mod gate;
mod live;
mod office;
mod outside;
mod plugins;
#[allow(dead_code, reason = "the server also shows what is used")]
#[path = "../../../../src/api/reservations.rs"]
mod reservations;
mod workers;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use actix::System;

use crate::outcome::Outcome;
use crate::plan::Plan;
use live::End;
use office::Home;
use outside::Outside;

/// Runs a plan.
///
/// # Panics
/// When there is no room for the database, or no more threads.
#[must_use]
pub fn run(plan: &Plan) -> Outcome {
    cooperage_actors::blocking::block_inline();
    let home = Home::new();
    let outside = Arc::new(Outside::new(plan));
    loop {
        let lived = catch_unwind(AssertUnwindSafe(|| live(&home, &outside, plan)));
        match lived {
            Ok(End::Crashed(ms)) => outside.pass(ms),
            Ok(End::Over) => break,
            Err(_) => {
                outside.lock().checkers.broken("the server panicked".to_owned());
                break;
            }
        }
    }
    outside.outcome()
}

/// One life of the server.
fn live(home: &Home, outside: &Arc<Outside>, plan: &Plan) -> End {
    let runtime = || {
        // Simulations end with the process when there are no more file descriptors or threads.
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap_or_else(|fault| panic!("no runtime: {fault}"))
    };
    let system = System::with_tokio_rt(runtime);
    system.block_on(async {
        let end = live::live(home, Arc::clone(outside), plan).await;
        // Here and not behind it: only in here the time is the simulated one.
        outside.stop();
        end
    })
}
