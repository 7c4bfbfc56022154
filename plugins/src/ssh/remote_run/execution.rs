//! What is to be executed on a machine.

use std::time::Duration;

use cooperage_domain::task::TaskOrder;

use crate::ssh::error::SshError;

/// Directory on machines below which executions live.
pub const RUNS_ROOT: &str = "/var/lib/cooperage/runs";
/// Names of the files that hold the command; other files cannot have them, nor the names of the marks beside them.
const RESERVED: [&str; 10] =
    ["command", "main", "prepared", "out", "err", "started", "group", "cancelled", "followed", "rc"];

/// One execution: found again by its key, and never run twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// Names it on the machine: letters, digits, `.`, `_` and `-`. The same key is the same execution.
    pub key: String,
    /// A shell script. It runs in the directory that holds its files.
    pub command: Command,
    /// Files put beside the command before it starts.
    pub files: Vec<RunFile>,
    /// How long all of it may take, waiting for other executions on the machine and for lost connections included.
    pub limit: Duration,
    /// Directory of all executions on the machine; [`RUNS_ROOT`] unless the login user must use another one.
    pub root: String,
}

/// What an execution does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A shell script, with a shell of its own.
    Script(String),
    /// One program after some preparation by a shell that is there already, which saves a process.
    Program {
        /// A piece of shell script that starts no process that stays.
        prepare: String,
        /// The program and its arguments, as words of a shell, with nothing that makes it more than one command.
        words: String,
        /// When the program may be started without the preparation.
        shortcut: Option<Shortcut>,
    },
}

/// What makes the preparation of a program superfluous.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Shortcut {
    /// A file of the machine, or empty if it is superfluous in any case.
    pub file: String,
    /// While it holds this text, the preparation changes nothing but the environment, and the umask to 022.
    pub holds: String,
    /// The environment that the preparation makes: names and values.
    pub environment: Vec<(String, String)>,
    /// The program and its arguments.
    pub words: Vec<String>,
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
    pub fn of_task(order: &TaskOrder, command: Command, limit: Duration) -> Self {
        Self {
            key: format!("{}-{}", order.task_id, order.attempt),
            command,
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

    /// The files that hold the command. `command` is read by the shell that carries the execution out, and ends by becoming
    /// the leader of a process group of its own.
    pub(super) fn command_files(&self) -> Vec<RunFile> {
        let file = |name: &str, content: String| RunFile {
            name: name.to_owned(),
            content: content.into_bytes(),
            executable: false,
        };
        match &self.command {
            Command::Script(script) => {
                vec![file("main", script.clone()), file("command", "exec setsid sh ./main\n".to_owned())]
            }
            Command::Program { prepare, words, .. } => {
                vec![file("command", format!("{prepare}exec setsid {words}\n"))]
            }
        }
    }

    /// Whether all names can be used as they are.
    pub(super) fn check(&self) -> Result<(), SshError> {
        check_names(
            std::iter::once(self.key.as_str()).chain(self.files.iter().map(|file| file.name.as_str())),
        )
    }
}

impl From<&str> for Command {
    fn from(script: &str) -> Self {
        Self::Script(script.to_owned())
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
