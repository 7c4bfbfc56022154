//! What touches machines: the [`Provider`] and [`Automator`] traits, the SSH transport, and the built-in plugins.
//!
//! A plugin is given one task at a time with all it needs ([`Context`]) and answers with a report or a fault. It must be
//! safe to give the same execution (task and attempt) twice: after a crash of the server it is given again, and must be
//! found, not repeated.

mod automator;
mod context;
pub mod external;
pub mod local;
mod output;
mod plugin_set;
mod provider;
pub mod resources;
pub mod shell;
#[cfg(feature = "simulation")]
pub mod simulated;
pub mod snapshots;
pub mod ssh;

pub use automator::Automator;
pub use context::{Context, TaskFault};
pub use output::{Output, Stream};
pub use plugin_set::PluginSet;
pub use provider::{Machine, MachineState, PowerAction, Provider};
