//! What a plugin is given with a task, and how it says that the task failed.

use std::sync::Arc;

use cooperage_domain::error_kind::ErrorKind;
use cooperage_domain::task::{TaskOrder, TaskReport};
use tokio_util::sync::CancellationToken;

use crate::output::Output;

/// One execution of a task: everything a plugin may use.
#[derive(Clone)]
pub struct Context {
    /// Internal id of the tenant whose task it is; its plugin resources are looked up under it.
    pub tenant: String,
    /// The task with all that is known.
    pub order: TaskOrder,
    /// Where output goes while the task runs.
    pub output: Arc<dyn Output>,
    /// Fires when nobody wants the result any more; the plugin stops what it can and returns.
    pub cancel: CancellationToken,
}

/// Why a task failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TaskFault {
    /// Not 0. 200 to 299: failed before anything was made, so there is nothing to clean up.
    pub status: i64,
    /// What kind of failure it is, if the plugin knows.
    pub kind: Option<ErrorKind>,
    /// One sentence for people: what failed, on which machine, and what to do.
    pub message: String,
    /// Last of what the task printed.
    pub stdout: String,
    /// Last of what the task printed as errors.
    pub stderr: String,
}

/// Status of a failure that says nothing special.
pub const GENERAL_FAILURE: i64 = 1;
/// Status of a failure before anything was made.
pub const NOTHING_MADE: i64 = 200;

impl TaskFault {
    /// A failure without output.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            status: GENERAL_FAILURE,
            kind: None,
            message: message.into(),
            stdout: String::new(),
            stderr: String::new(),
        }
    }

    /// A failure before anything was made.
    pub fn nothing_made(message: impl Into<String>) -> Self {
        Self { status: NOTHING_MADE, ..Self::new(message) }
    }

    /// Of this kind.
    #[must_use]
    pub const fn of_kind(mut self, kind: ErrorKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// With what the task printed before it failed.
    #[must_use]
    pub fn with_output(mut self, stdout: impl Into<String>, stderr: impl Into<String>) -> Self {
        self.stdout = stdout.into();
        self.stderr = stderr.into();
        self
    }
}

impl From<TaskFault> for TaskReport {
    /// The message comes after the task's own errors, since reports are cut from the front.
    fn from(fault: TaskFault) -> Self {
        let stderr = match fault.stderr.trim_end() {
            "" => fault.message,
            printed => format!("{printed}\n{}", fault.message),
        };
        let (status, error_kind) = (fault.status, fault.kind);
        Self { status, error_kind, stdout: fault.stdout, stderr, ..Self::default() }
    }
}
