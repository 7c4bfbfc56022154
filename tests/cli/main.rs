//! The command line as people and their scripts use it: the program itself, against a server with simulated machines.

// A panic is a test's way to fail, and printing its way to say what led to it.
#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout)]

mod bench;
mod care;
#[path = "../api/catalog.rs"]
mod catalog;
mod clusters;
mod completion;
mod contexts;
mod entities;
mod exit_codes;
mod exports;
#[path = "../lab/mod.rs"]
mod lab;
mod logs;
mod operations;
mod outputs;
mod plans;
mod prompts;
mod terminal;
mod tls;
