//! Whole clusters on real machines of this host, through the server as people use it.
//!
//! What runs machines says why and does nothing where the host cannot carry any.

// A panic is a test's way to fail, and printing its way to say what led to it.
#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout)]

mod browser;
mod check;
mod failing_script;
mod footprint;
mod greeting;
mod heal;
mod kills;
#[path = "../lab/mod.rs"]
mod lab;
mod living;
mod machines;
mod remote;
mod three_at_once;
