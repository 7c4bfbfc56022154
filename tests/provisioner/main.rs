//! Provisioners on other machines: processes of their own, killed, drained, forgotten, and cut off from their server.
//!
//! Machines are simulated: they keep what is promised of real ones, and their log says what was really done and when.

// A panic is a test's way to fail, and printing its way to say what led to it.
#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout)]

mod cancel;
mod coopr;
mod drain;
mod footprint;
mod forgotten;
mod kills;
#[path = "../lab/mod.rs"]
mod lab;
mod lost_answers;
mod process;
#[allow(dead_code, reason = "some of it is only for that suite")]
#[path = "../crash/random.rs"]
mod random;
mod resources;
mod survival;
mod tokens;
#[path = "../crash/world.rs"]
mod world;
