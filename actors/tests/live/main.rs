//! The actors at work: a real store in a temporary folder, plugins written here that do what each test wants.
//!
//! One file per matter; those that begin with `supervise_` are one per way in which something fails and is started again.

#![allow(clippy::unwrap_used, reason = "what helps tests may panic as they may")]

mod abort;
mod adoption;
mod agent;
mod budget;
mod console;
mod create;
mod database;
mod failing;
mod fair;
mod fence;
mod health;
mod lab;
mod lease;
mod log;
mod maintenance;
mod many;
mod order;
mod rest;
mod rig;
#[allow(dead_code, reason = "shared with the kernel's tests, which use more of it")]
#[path = "../../../domain/tests/kernel/sketch.rs"]
mod sketch;
mod supervise_cluster;
mod supervise_node;
mod supervise_plugin;
mod supervise_process;
mod time_out;
