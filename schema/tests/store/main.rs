//! The store, on both engines: every test runs on SQLite and on a PostgreSQL server started for it.

#![allow(clippy::unwrap_used, reason = "tests may unwrap: a panic is their way to fail")]

mod audit;
mod callbacks;
mod clusters;
mod crash;
mod entities;
mod feed;
mod fencing;
mod foreseen;
mod fresh;
mod idempotency;
mod journal;
mod machine_tasks;
mod opening;
mod output;
#[cfg(feature = "postgres")]
mod postgres;
mod proposals;
mod records;
mod resources;
#[cfg(feature = "postgres")]
mod restart;
mod sample;
mod secrets;
mod tenants;
mod upgrade;
mod users;
