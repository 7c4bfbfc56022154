//! Tests of the layout solver through its public functions.

mod cases;
