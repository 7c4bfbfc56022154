//! SSH to machines.
//!
//! - [`Target`] says where to log in; its host key is pinned, and [`scan`] learns it once.
//! - [`Transport`] and [`Connection`] are what every back end ([`Backend`]) offers: run, upload, download.
//! - [`Terminal`] is a person's shell on a machine, on a connection of its own.
//! - [`SshPool`] keeps connections open and lends them.
//! - [`execute`] runs a task on a machine so that a crash on either side neither loses nor repeats it; [`run_once`] runs
//!   something that may as well be repeated, and leaves nothing behind.

mod backend;
mod capture;
mod dial;
mod error;
mod executor;
mod exit_status;
mod host_key;
mod marker;
mod pool;
mod quote;
#[cfg(feature = "wezterm")]
mod relay;
mod remote_run;
mod russh_backend;
mod shell;
mod target;
mod terminal;
mod transport;
#[cfg(feature = "wezterm")]
mod wezterm_backend;
#[cfg(feature = "wezterm")]
mod wezterm_terminal;
mod wire;

pub use backend::{Backend, transport};
pub use capture::{Captured, LINE_LIMIT, Lines, TAIL_LIMIT, Tail};
pub use error::SshError;
pub use exit_status::ExitStatus;
pub use host_key::{HostKey, scan};
pub use pool::{Lease, PoolLimits, SshPool};
pub use quote::quoted;
pub use remote_run::{
    Command, Execution, Finished, RUNS_KEPT, RUNS_ROOT, RunFile, Shortcut, execute, run_once,
};
pub use russh_backend::RusshTransport;
pub use target::{DEFAULT_PORT, Target};
pub use terminal::{MAX_SIDE, Terminal, TerminalInput, TerminalOutput, TerminalSize};
pub use transport::{Connection, Sink, Transport};
#[cfg(feature = "wezterm")]
pub use wezterm_backend::WeztermTransport;
