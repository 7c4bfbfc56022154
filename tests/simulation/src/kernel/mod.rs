//! The faster level: the real kernel in a world that is all simulated, its server included.
//!
//! The server here is the plainest that the kernel allows. It keeps nobody apart and orders nothing: it offers tasks as they
//! become due, and relies on what the kernel refuses. Workers are elsewhere, and outlive it.

mod ancestry;
mod happening;
mod server;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::outcome::Outcome;
use crate::plan::Plan;
pub use world::{LONG, MORNING, ROUNDS, farewell, wait_at_the_end};

use world::World;

/// Runs a plan.
#[must_use]
pub fn run(plan: &Plan) -> Outcome {
    let mut world = World::new(plan);
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| world.run())) {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words");
        world.checkers.broken(format!("the kernel panicked: {text}"));
    }
    world.outcome()
}
