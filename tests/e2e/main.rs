//! Whole clusters on real machines of this host, through the server as people use it.
//!
//! What runs machines says why and does nothing where the host cannot carry any.

mod check;
mod failing_script;
mod footprint;
mod kills;
#[path = "../lab/mod.rs"]
mod lab;
mod machines;
mod three_at_once;
