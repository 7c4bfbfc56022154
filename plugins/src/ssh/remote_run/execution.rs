//! What is to be executed on a machine.

use std::time::Duration;

use cooperage_domain::task::TaskOrder;

use crate::ssh::error::SshError;

/// Directory on machines below which executions live.
pub const RUNS_ROOT: &str = "/var/lib/cooperage/runs";
/// Name of the file that holds the command; other files cannot have it, nor the names of the marks beside it.
const RESERVED: [&str; 7] = ["command", "prepared", "out", "err", "started", "cancelled", "rc"];

/// One execution: found again by its key, and never run twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// Names it on the machine: letters, digits, `.`, `_` and `-`. The same key is the same execution.
    pub key: String,
    /// A shell script. It runs in the directory that holds its files.
    pub command: String,
    /// Files put beside the command before it starts.
    pub files: Vec<RunFile>,
    /// How long all of it may take, waiting for other executions on the machine and for lost connections included.
    pub limit: Duration,
    /// Directory of all executions on the machine; [`RUNS_ROOT`] unless the login user must use another one.
    pub root: String,
}

/// A file of an execution.
#[derive(Clone, PartialEq, Eq)]
pub struct RunFile {
    /// Its name in the directory of the execution; the same letters as in a key.
    pub name: String,
    /// Its content, which may be secret: the directory is for the login user alone.
    pub content: Vec<u8>,
    /// Whether it is a program.
    pub executable: bool,
}

impl std::fmt::Debug for RunFile {
    /// Without the content.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RunFile({:?}, {} bytes)", self.name, self.content.len())
    }
}

impl Execution {
    /// The execution of a task's attempt, without files.
    #[must_use]
    pub fn of_task(order: &TaskOrder, command: impl Into<String>, limit: Duration) -> Self {
        Self {
            key: format!("{}-{}", order.task_id, order.attempt),
            command: command.into(),
            files: Vec::new(),
            limit,
            root: RUNS_ROOT.to_owned(),
        }
    }

    /// With one more file.
    #[must_use]
    pub fn with_file(mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.files.push(RunFile { name: name.into(), content: content.into(), executable: false });
        self
    }

    /// With one more file that is a program.
    #[must_use]
    pub fn with_program(mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.files.push(RunFile { name: name.into(), content: content.into(), executable: true });
        self
    }

    /// Whether all names can be used as they are.
    pub(super) fn check(&self) -> Result<(), SshError> {
        check_names(
            std::iter::once(self.key.as_str()).chain(self.files.iter().map(|file| file.name.as_str())),
        )
    }
}

/// Whether names of files can be used in a shell as they are.
pub(super) fn check_names<'a>(mut names: impl Iterator<Item = &'a str>) -> Result<(), SshError> {
    let bad = |name: &&str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        name.is_empty() || name.starts_with(['.', '-']) || !name.bytes().all(plain) || RESERVED.contains(name)
    };
    match names.find(bad) {
        Some(name) => Err(SshError::BadName { name: name.to_owned() }),
        None => Ok(()),
    }
}
