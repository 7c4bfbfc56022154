//! The server is killed at random moments, and everything ends as it would have.
//!
//! Machines are simulated: they keep what is promised of real ones, and their log says what was really done and when.

// A panic is a test's way to fail, and printing its way to say what led to it.
#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout)]

mod acknowledged;
mod journal;
mod kills;
#[path = "../lab/mod.rs"]
mod lab;
// The store's tests start their PostgreSQL the same way.
#[allow(dead_code, reason = "some of it is only for the store's tests")]
#[path = "../../schema/tests/store/postgres.rs"]
mod postgres;
mod random;
mod timeouts;
mod world;
