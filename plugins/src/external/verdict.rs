//! What a run comes to: its result and the way its program ended, taken together. A pure decision.

use std::fmt;

use cooperage_domain::task::TaskReport;

use super::protocol::Report;
use crate::context::TaskFault;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// By itself, with this status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(status) => write!(f, "exit status {status}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// What a run of `plugin` comes to. Success is a result with status 0 and exit status 0, and nothing else is.
///
/// # Errors
/// Why it failed, naming the plugin. The status is the result's; without one it says nothing of what was made.
pub(super) fn verdict(plugin: &str, ending: Ending, report: Option<Report>) -> Result<TaskReport, TaskFault> {
    let failed = |message: String| Err(TaskFault::new(format!("Plugin {plugin} {message}")));
    let Some(report) = report else {
        return failed(match ending {
            Ending::Exit(0) => {
                "ended without a result; it must say {\"result\": {…}} on its standard output".to_owned()
            }
            ending => format!("ended with {ending} and without a result; what it said is in the task's log"),
        });
    };
    match (report.status, ending) {
        (0, Ending::Exit(0)) => Ok(report.into_task_report()),
        (0, ending) => {
            failed(format!("reported success and ended with {ending}, so that nothing is certain"))
        }
        (status, _) => {
            let why = match report.message.trim() {
                "" => format!("failed with status {status} and does not say why"),
                message => format!("failed: {message}"),
            };
            failed(why).map_err(|fault| TaskFault { status, kind: report.error_kind, ..fault })
        }
    }
}

/// What a run comes to that was broken off, with the reason.
pub(super) fn broken_off(plugin: &str, reason: impl fmt::Display) -> TaskFault {
    TaskFault::new(format!("Plugin {plugin}: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_may_say_what_kind_of_failure_it_is() {
        let text = r#"{"status": 5, "errorKind": "transient", "message": "try later"}"#;
        let report: Report = serde_json::from_str(text).unwrap();
        let fault = verdict("acme", Ending::Exit(0), Some(report)).unwrap_err();
        let report = TaskReport::from(fault);
        assert_eq!(report.error_kind, Some(cooperage_domain::error_kind::ErrorKind::Transient));
    }

    #[test]
    fn only_a_result_and_a_good_end_together_are_success() {
        let report =
            |status, message: &str| Some(Report { status, message: message.to_owned(), ..Report::default() });
        for (ending, given, status, words) in [
            (Ending::Exit(0), report(0, ""), 0, ""),
            (Ending::Exit(0), None, 1, "Plugin acme ended without a result"),
            (Ending::Exit(3), None, 1, "exit status 3 and without a result"),
            (Ending::Exit(201), None, 1, "exit status 201"),
            (Ending::Signal(9), None, 1, "signal 9"),
            (Ending::Exit(1), report(0, ""), 1, "reported success and ended with exit status 1"),
            (Ending::Signal(11), report(0, ""), 1, "signal 11"),
            (
                Ending::Exit(0),
                report(201, "the token is refused"),
                201,
                "Plugin acme failed: the token is refused",
            ),
            (Ending::Exit(7), report(5, ""), 5, "does not say why"),
        ] {
            match verdict("acme", ending, given) {
                Ok(report) => assert_eq!((status, report), (0, TaskReport::success())),
                Err(fault) => {
                    assert_eq!(fault.status, status, "{fault}");
                    assert!(
                        fault.message.contains(words) && fault.message.contains("acme"),
                        "{words}: {fault}"
                    );
                }
            }
        }
    }
}
