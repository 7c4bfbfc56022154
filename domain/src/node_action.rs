//! The history of a node: what was done to it, when, and what went wrong.

use serde::{Deserialize, Serialize};

use crate::id::TaskId;
use crate::task::{TaskName, TaskReport};

/// How many actions of a node are remembered unless the settings say otherwise.
pub const DEFAULT_HISTORY: usize = 200;

/// How many characters of a failed action's output are kept unless the settings say otherwise.
pub const DEFAULT_LOG_LENGTH: usize = 2048;

/// Stands before output of which the beginning was cut off.
pub(crate) const SNIPPED: &str = "[snipped]";

/// One task taken by a worker. All times are in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeAction {
    /// The task.
    pub task_id: TaskId,
    /// The service it is about; empty for machine tasks.
    #[serde(default)]
    pub service: String,
    /// What was to be done.
    pub action: TaskName,
    /// When a worker took it.
    pub submit_time: i64,
    /// When its status last changed.
    #[serde(default)]
    pub status_time: i64,
    /// How it stands.
    pub status: ActionStatus,
    /// End of what it printed; only when it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// End of what it printed as errors; only when it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
}

/// How an action stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionStatus {
    /// A worker has it.
    InProgress,
    /// Done.
    Complete,
    /// Not done, or not known to be done.
    Failed,
}

impl NodeAction {
    /// A task that a worker takes at `now`; `service` is empty for machine tasks.
    #[must_use]
    pub fn start(task_id: TaskId, service: impl Into<String>, action: TaskName, now: i64) -> Self {
        Self {
            task_id,
            service: service.into(),
            action,
            submit_time: now,
            status_time: now,
            status: ActionStatus::InProgress,
            stdout: None,
            stderr: None,
        }
    }

    /// Ends the action with what the worker reports at `now`. Output is kept only for a failure, and of it the last
    /// `log_length` characters.
    pub fn finish(&mut self, report: &TaskReport, now: i64, log_length: usize) {
        self.status_time = now;
        if report.succeeded() {
            self.status = ActionStatus::Complete;
        } else {
            self.status = ActionStatus::Failed;
            self.stdout = Some(cut_log(&report.stdout, log_length));
            self.stderr = Some(cut_log(&report.stderr, log_length));
        }
    }
}

/// Adds an action to the history of a node, newest last; the oldest ones go so that at most `limit` remain.
pub fn remember(history: &mut Vec<NodeAction>, action: NodeAction, limit: usize) {
    history.push(action);
    history.drain(..history.len().saturating_sub(limit));
}

/// The last `length` characters of `log`, marked with `[snipped]` in front when something was cut off.
#[must_use]
pub fn cut_log(log: &str, length: usize) -> String {
    let surplus = log.chars().count().saturating_sub(length);
    if surplus == 0 {
        return log.to_owned();
    }
    let kept = log.chars().skip(surplus);
    SNIPPED.chars().chain(kept).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn started(service: &str) -> NodeAction {
        NodeAction::start("00000042-007-031".parse().unwrap(), service, TaskName::Install, 100)
    }

    #[test]
    fn its_json_is_that_of_cooprs_interface() {
        let mut action = started("nginx");
        action.finish(&TaskReport::success(), 200, DEFAULT_LOG_LENGTH);
        let document = json!({"taskId": "00000042-007-031", "service": "nginx", "action": "INSTALL",
            "submitTime": 100, "statusTime": 200, "status": "complete"});
        assert_eq!(serde_json::to_value(&action).unwrap(), document);
        assert_eq!(serde_json::from_value::<NodeAction>(document).unwrap(), action);
    }

    #[test]
    fn failures_keep_the_end_of_their_output() {
        let mut action = started("");
        let report = TaskReport { stdout: "1234567890".into(), ..TaskReport::failure(3, "oh") };
        action.finish(&report, 200, 8);
        assert_eq!(action.status, ActionStatus::Failed);
        assert_eq!(action.stdout.as_deref(), Some("[snipped]34567890"));
        assert_eq!(action.stderr.as_deref(), Some("oh"));
    }

    #[test]
    fn logs_are_cut_between_characters() {
        for (log, length, expected) in [
            ("1234567890", 10, "1234567890"),
            ("1234567890", 0, "[snipped]"),
            ("äöü", 2, "[snipped]öü"),
            ("", 0, ""),
        ] {
            assert_eq!(cut_log(log, length), expected, "{log} {length}");
        }
    }

    #[test]
    fn the_oldest_actions_are_forgotten() {
        let mut history = Vec::new();
        for service in ["a", "b", "c", "d"] {
            remember(&mut history, started(service), 3);
        }
        let services: Vec<_> = history.iter().map(|action| action.service.as_str()).collect();
        assert_eq!(services, ["b", "c", "d"]);
        remember(&mut history, started("e"), 0);
        assert!(history.is_empty());
    }
}
