//! Whole clusters on real machines of this host, through the server as people use it; and what it says to bad input.
//!
//! What runs machines says why and does nothing where the host cannot carry any.

mod check;
mod failing_script;
mod footprint;
mod kills;
#[path = "../lab/mod.rs"]
mod lab;
mod machines;
mod refusals;
mod shapes;
mod three_at_once;
