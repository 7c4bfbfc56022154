//! Plain data and pure decisions: what Cooperage knows and how it decides, without clocks, I/O, actors, SQL or HTTP.
//!
//! - [`entity`]: what an operator describes: providers, hardware, images, services, templates.
//! - [`layout`]: which nodes a cluster gets and which services sit on them.
//! - [`plan`]: the graph of tasks that brings a cluster from what it is to what it should be.
//! - [`cluster`]: the kernel, `decide`, `apply` and `due`: one cluster as a state machine.
//! - [`macros`]: references in configuration to what is only known once machines exist.

pub mod entity;
pub mod id;
pub mod invalid;
pub mod lease;
pub mod lenient;
pub mod plan;
pub mod task;
