//! The REST interface as its callers see it: the program itself is started, and asked over HTTP.
//!
//! Machines are not needed for what is tested here: no worker takes the tasks of the clusters.

#![allow(clippy::unwrap_used, reason = "tests may unwrap: a panic is their way to fail")]

mod audit;
mod clusters;
mod described;
mod entities;
mod json_rules;
mod nodes;
mod plugins;
mod quotas;
mod roles;
mod secrets;
mod server;
mod tenants;
mod world;

/// Where a new server keeps its data: in its own directory.
fn database() -> Option<String> {
    None
}

/// What the database of this address holds.
fn stored(_: &str) -> Vec<u8> {
    unreachable!("the database is a file in the server's directory")
}
