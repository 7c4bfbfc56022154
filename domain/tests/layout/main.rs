//! Tests of the layout solver through its public functions.

mod additions;
mod brute_force;
mod cases;
mod companions;
mod cp_sat;
mod input;
mod objectives;
mod properties;
mod refusals;
mod resize_brute_force;
mod resize_properties;
mod resizing;
mod rules;
