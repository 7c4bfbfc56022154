//! Plans: the rules of ordering, Coopr's cases, plans kept as files, and what must hold for every cluster.

mod cases;
mod converge;
mod errors;
mod golden;
mod properties;
mod rules;
mod schedule;
mod sketch;
