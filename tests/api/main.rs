//! REST as clients see it: what answers look like, and what is said to bad input.

mod catalog;
#[path = "../lab/mod.rs"]
mod lab;
mod refusals;
mod shapes;
