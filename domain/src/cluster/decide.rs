//! The decider: what should happen, or why not.

use super::command::Command;
use super::event::Event;
use super::refusal::Refusal;
use super::state::Cluster;
use super::{abort, attempt, delete, retry};

/// What should happen to `cluster` because of `command`, at `now` (ms since 1970). An empty list: nothing needs to.
///
/// # Errors
/// When the command cannot be carried out; nothing has changed.
pub fn decide(cluster: &Cluster, command: Command, now: i64) -> Result<Vec<Event>, Refusal> {
    match command {
        Command::Delete { by } => delete::delete(cluster, by, now),
        Command::Retry { by } => retry::retry(cluster, by, now),
        Command::Abort { by } => abort::abort(cluster, by, now),
        Command::StartAttempt { task, worker } => attempt::start(cluster, task, worker, now),
        Command::FinishAttempt { task, attempt, report } => {
            attempt::finish(cluster, task, attempt, report, now)
        }
        Command::TimeOutAttempt { task, attempt } => attempt::time_out(cluster, task, attempt, now),
    }
}

/// A refusal because of what the cluster is; `asked` is a participle ("deleted").
pub(super) fn wrong_state(cluster: &Cluster, asked: &'static str, remedy: &'static str) -> Refusal {
    Refusal::WrongState { cluster: cluster.id.to_string(), status: cluster.status, asked, remedy }
}
