//! Plugins that are programs of their own, in any language: providers and automators in folders beside the server.
//!
//! ```text
//!   DIR/NAME/*.json        what it is: Coopr's descriptor, with `process` in place of a Ruby class
//!   DIR/NAME/PROGRAM       what is run for each task, as its own process
//!
//!   order as JSON ──stdin──► program ──stdout──► {"log": …}, {"progress": …}, {"result": {…}}, a line each
//!                                    ──stderr──► the task's log
//! ```
//!
//! - `descriptor` reads a folder; `host` holds what all of them share and carries a task out.
//! - `workspace` is a folder for one run: its home, and its resources. Its record outlives a killed server.
//! - `process` starts and ends a program with its limits; `strays` finds what is left of one.
//! - `protocol` is what may stand on a line, `verdict` what a run comes to: pure decisions, both.
//!
//! A run does not outlive its server: what one that was killed left running is ended when the next one starts, and the same
//! order is given again with the same key. A program must find what its first run made; `docs/src/plugins.md` says so.

mod account;
mod descriptor;
mod health;
mod host;
mod masks;
mod order;
mod plugin;
mod process;
mod protocol;
mod strays;
mod verdict;
mod workspace;

pub use account::Account;
pub use descriptor::{Declared, DescriptorFault, declared};
pub use host::{PluginHost, ProcessLimits};
pub use plugin::{ExternalAutomator, ExternalProvider};
pub use protocol::{Line, LineFault, Lines, Report};
pub use workspace::{Swept, sweep};
