//! Plans: the rules of ordering, Coopr's cases, plans kept as files, and what must hold for every cluster.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in what tests share")]

mod cases;
mod companions;
mod converge;
mod errors;
mod golden;
mod properties;
mod rules;
mod schedule;
mod sketch;
