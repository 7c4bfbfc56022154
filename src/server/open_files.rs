//! How many files and connections the process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use slog::{Logger, warn};

/// Allows as many as the system lets this process have: what most systems allow at first is enough for a few hundred
/// connections to machines.
pub fn allow_many(logger: &Logger) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return;
    }
    if let Err(fault) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        warn!(logger, "the number of open files cannot be raised"; "allowed" => current, "fault" => fault.to_string());
    }
}
