//! Tests of the layout solver through its public functions.

mod brute_force;
mod cases;
mod input;
mod properties;
