//! Plain data and pure decisions: what Cooperage knows and how it decides, without clocks, I/O, actors, SQL or HTTP.
//!
//! - [`entity`]: what an operator describes: providers, hardware, images, services, templates.
//! - [`dependency_cycle`]: services that wait for each other in a circle.
//! - [`layout`]: which nodes a cluster gets and which services sit on them.
//! - [`plan`]: the graph of tasks that brings a cluster from what it is to what it should be.
//! - [`cluster`]: the kernel, `decide`, `apply` and `due`: one cluster as a state machine.
//! - [`macros`]: references in configuration to what is only known once machines exist.

pub mod access;
pub mod audit;
pub mod backoff;
pub mod callback;
pub mod cluster;
pub mod cluster_secrets;
pub mod dependency_cycle;
pub mod entity;
pub mod error_kind;
pub mod health;
pub mod hostname;
pub mod id;
pub mod invalid;
pub mod layout;
pub mod lease;
pub mod lenient;
pub mod machine_time;
pub mod macros;
#[cfg(not(feature = "mutants"))]
mod mutant;
#[cfg(feature = "mutants")]
pub mod mutant;
pub mod neighbours;
pub mod node_action;
pub mod plan;
pub mod provider_fields;
pub mod provisioner;
pub mod quota;
pub mod redact;
pub mod resolve;
pub mod secret_fields;
pub mod spoken_time;
pub mod task;
pub mod tenant;
pub mod worker_protocol;
pub mod worker_slots;
