//! The same as `main.rs`, on PostgreSQL.

// A panic is a test's way to fail, also in what tests share.
#![allow(clippy::unwrap_used)]

mod audit;
mod clusters;
mod described;
mod entities;
mod json_rules;
mod nodes;
mod plugins;
#[path = "../../schema/tests/store/postgres.rs"]
#[allow(dead_code, reason = "crashes of the database are another suite's matter")]
mod postgres;
mod quotas;
mod roles;
mod secrets;
mod server;
mod tenants;
mod world;

/// Where a new server keeps its data.
fn database() -> Option<String> {
    Some(postgres::SHARED.new_database())
}

/// What the database of this address holds.
fn stored(url: &str) -> Vec<u8> {
    let (server, schema) = url.split_once("?options=-csearch_path%3D").unwrap();
    let dump = std::process::Command::new("pg_dump")
        .args(["--data-only", "--inserts", "-n", schema, server])
        .output();
    let dump = dump.unwrap();
    assert!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
    dump.stdout
}
