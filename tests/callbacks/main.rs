//! Callbacks and leases in a running server: told, asked, killed, tried again.

// A panic is a test's way to fail, and printing its way to say what led to it.
#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout)]

mod asked;
mod crash;
#[path = "../lab/mod.rs"]
mod lab;
mod leases;
// The store's tests start their PostgreSQL the same way.
#[allow(dead_code, reason = "some of it is only for the store's tests")]
#[path = "../../schema/tests/store/postgres.rs"]
mod postgres;
mod target;
mod told;
mod traces;
mod world;
