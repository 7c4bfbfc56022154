//! Where a task's output goes while it runs.

use cooperage_domain::redact::Redactor;

/// Which of a task's streams a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// What the task printed.
    Stdout,
    /// What the task printed as errors.
    Stderr,
    /// What the plugin itself says about its progress.
    Progress,
}

/// Takes a task's output line by line, as it appears. Must not block.
pub trait Output: Send + Sync {
    /// One line, without its end.
    fn line(&self, stream: Stream, text: &str);

    /// What finds the secrets that must not be passed on; whoever cuts a stream into lines or keeps a part of it takes them
    /// out before. By default there are none.
    fn redactor(&self) -> Redactor {
        Redactor::default()
    }
}

/// Throws everything away.
impl Output for () {
    fn line(&self, _: Stream, _: &str) {}
}
