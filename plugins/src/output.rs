//! Where a task's output goes while it runs.

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
}

/// Throws everything away.
impl Output for () {
    fn line(&self, _: Stream, _: &str) {}
}
