//! REST as clients see it: what answers look like, and what is said to bad input.

// A panic is a test's way to fail, and printing its way to say what led to it.
#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout)]

mod ancestry;
mod audit;
mod bucket;
mod care;
mod catalog;
mod console;
mod drafted_clusters;
mod events;
#[path = "../lab/mod.rs"]
mod lab;
mod layouts;
mod living;
mod logs;
mod plugins;
mod refusals;
mod secrets;
mod shapes;
mod terminal;
mod travel;
mod waiting;
