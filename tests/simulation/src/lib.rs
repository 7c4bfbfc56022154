//! The simulation: whole clusters from their begin to their end, in simulated time, while everything goes wrong that can.
//!
//! ```text
//!   seed ──► Plan: what is asked, what goes wrong ──► a run, at one of two levels ──► Outcome
//!                                                          │ everything that can be seen
//!                                                          ▼
//!                                              nine checkers, one for each invariant
//! ```
//!
//! A run depends on nothing but its plan. When it breaks an invariant, [`shrink`] finds the shortest part of the plan that
//! breaks it too.

pub mod campaign;
pub mod catalog;
pub mod checkers;
pub mod cloud;
pub mod coverage;
pub mod desk;
pub mod fault;
pub mod kernel;
pub mod ledger;
pub mod operation;
pub mod outcome;
pub mod plan;
pub mod random;
pub mod seen;
#[cfg(feature = "server")]
pub mod server;
pub mod shrink;
