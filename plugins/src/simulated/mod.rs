//! Provider and automator `simulated`: machines that are directories, and work that is a pause.
//!
//! For tests of everything above the plugins, where hundreds of machines must come and go in seconds. They keep what is
//! promised of real ones: what was begun goes on when the server is killed, an execution asked for again is followed and
//! not repeated, a machine that was asked for is found again.
//!
//! ```text
//!   DIRECTORY/scenario.json              how long tasks take and which of them fail; may be absent
//!   DIRECTORY/log                        a line for each begin and each end of an execution, in order
//!   DIRECTORY/machines/NODE/             a machine
//!   DIRECTORY/machines/NODE/done         what was done on it: task, service, execution
//!   DIRECTORY/machines/NODE/health       how probes find it: `down WHY` or `unknown WHY`; without it, up
//!   DIRECTORY/machines/NODE/health.NAME  the same of a service
//!   DIRECTORY/runs/TASK-ATTEMPT/         an execution: who runs it, and its result once it has ended
//!   DIRECTORY/locks/NODE                 held while something is done to the machine
//! ```
//!
//! A line of the log holds what happened (`begin`, `end`, `killed`, or `overlap` when the machine was busy), seconds since
//! the host started, the process, node, task name, task, attempt and service.

mod automator;
mod execution;
mod health;
mod provider;
mod scenario;

pub use automator::SimulatedAutomator;
pub use provider::SimulatedProvider;
pub use scenario::{Fault, Scenario};

/// Name of the provider type and of the automator type.
pub const SIMULATED_TYPE: &str = "simulated";
