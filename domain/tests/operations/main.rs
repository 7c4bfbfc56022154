//! Every operation on a cluster under the three shapes of trouble, and every small cluster from every state it can reach.
//!
//! The provider outside is kept by the tests: machines are there when an attempt at CREATE made them, whatever it said, and
//! until an attempt at DELETE gave them back, whatever it said.

#[cfg(test)]
#[path = "../kernel/check.rs"]
mod check;
#[cfg(test)]
#[path = "../kernel/family.rs"]
mod family;
#[cfg(test)]
mod machines;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod rig;
#[cfg(test)]
mod shapes;
#[cfg(test)]
#[path = "../kernel/sketch.rs"]
#[allow(dead_code, reason = "the kernel's tests use all of it")]
mod sketch;
#[cfg(test)]
mod states;
#[cfg(test)]
mod table;
#[cfg(test)]
mod waits;
#[cfg(test)]
#[path = "../kernel/world.rs"]
#[allow(dead_code, reason = "the kernel's tests use all of it")]
mod world;
