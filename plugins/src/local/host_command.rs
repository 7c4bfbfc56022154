//! Programs of the host: the one place that runs them.
//!
//! Arguments are passed as they are, never through a shell, so no value can become a command.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// Where programs are looked for: a service's own search path often lacks the `sbin` directories.
pub(crate) const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// How long a program may take if nothing else is said.
const DEFAULT_LIMIT: Duration = Duration::from_secs(60);
/// How much of what a failed program printed is kept, in characters from its end.
const KEPT_OUTPUT: usize = 2000;

/// A program of the host failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{command}` {ending}: {printed}")]
pub struct CommandError {
    /// Program and arguments.
    pub command: String,
    /// How it ended: an exit code, a signal, or not started at all.
    pub ending: String,
    /// The last of what it printed as errors.
    pub printed: String,
}

/// A program to run, with its arguments.
pub(super) struct HostCommand {
    program: &'static str,
    args: Vec<OsString>,
    input: Option<String>,
    limit: Duration,
    passed_on: &'static [&'static str],
    temporary: Option<PathBuf>,
}

impl HostCommand {
    /// A program by its name.
    pub(super) fn new(program: &'static str) -> Self {
        Self { program, args: Vec::new(), input: None, limit: DEFAULT_LIMIT, passed_on: &[], temporary: None }
    }

    /// With these arguments after those it has.
    pub(super) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// With this on its standard input.
    pub(super) fn input(mut self, text: impl Into<String>) -> Self {
        self.input = Some(text.into());
        self
    }

    /// Killed when it takes longer than this.
    pub(super) const fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Variables of our own environment that it may see; all others are kept from it, since they may hold secrets.
    pub(super) const fn pass_on(mut self, variables: &'static [&'static str]) -> Self {
        self.passed_on = variables;
        self
    }

    /// Where it puts what it needs for a while; the host's own folder for that unless one is named.
    pub(super) fn temporary(mut self, folder: &Path) -> Self {
        self.temporary = Some(folder.to_owned());
        self
    }

    /// Runs it to its end and returns what it printed.
    ///
    /// It is killed when the future is dropped.
    pub(super) async fn run(self) -> Result<String, CommandError> {
        let output = match tokio::time::timeout(self.limit, self.output()).await {
            Err(_) => return Err(self.error(format!("did not end within {:?}", self.limit), "")),
            Ok(Err(e)) => return Err(self.error("could not be run".to_owned(), &e.to_string())),
            Ok(Ok(output)) => output,
        };
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(self.error(format!("failed ({})", output.status), &String::from_utf8_lossy(&output.stderr)))
    }

    async fn output(&self) -> std::io::Result<Output> {
        let mut command = Command::new(self.program);
        command.args(&self.args).env_clear().env("PATH", SEARCH_PATH).env("LC_ALL", "C");
        for variable in self.passed_on {
            if let Some(value) = std::env::var_os(variable) {
                command.env(variable, value);
            }
        }
        if let Some(folder) = &self.temporary {
            command.env("TMPDIR", folder);
        }
        command.stdin(if self.input.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        if let (Some(text), Some(mut stdin)) = (&self.input, child.stdin.take()) {
            // A program that does not read its input says why in its own words and exit code.
            let _ = stdin.write_all(text.as_bytes()).await;
        }
        child.wait_with_output().await
    }

    fn error(&self, ending: String, printed: &str) -> CommandError {
        let args = self.args.iter().map(|arg| arg.to_string_lossy());
        let command = std::iter::once(self.program.into()).chain(args).collect::<Vec<_>>().join(" ");
        let printed = printed.trim_end();
        let skipped = printed.chars().count().saturating_sub(KEPT_OUTPUT);
        CommandError { command, ending, printed: printed.chars().skip(skipped).collect() }
    }
}

/// Runs a program of the host to its end and returns what it printed.
pub(super) async fn run<A: AsRef<OsStr>>(
    program: &'static str,
    args: impl IntoIterator<Item = A>,
) -> Result<String, CommandError> {
    HostCommand::new(program).args(args).run().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_failure_names_the_command_its_ending_and_its_last_words() {
        let error = run("ls", ["/does/not/exist"]).await.unwrap_err();
        assert_eq!(error.command, "ls /does/not/exist");
        assert!(error.ending.contains("exit status: 2"), "{error}");
        assert!(error.printed.contains("No such file"), "{error}");
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_named() {
        let error = run("no-such-program", ["x"]).await.unwrap_err();
        assert!(error.to_string().starts_with("`no-such-program x` could not be run"), "{error}");
    }

    #[tokio::test]
    async fn a_program_that_hangs_is_ended() {
        let error =
            HostCommand::new("sleep").args(["60"]).limit(Duration::from_millis(20)).run().await.unwrap_err();
        assert!(error.ending.contains("did not end within 20ms"), "{error}");
    }

    #[tokio::test]
    async fn input_is_passed_on_and_the_environment_is_not() {
        assert_eq!(HostCommand::new("cat").input("a\nb").run().await.unwrap(), "a\nb");
        assert_eq!(run("env", [""; 0]).await.unwrap().lines().count(), 2, "only PATH and LC_ALL");
        let seen = HostCommand::new("env").temporary(Path::new("/staging")).run().await.unwrap();
        assert!(seen.lines().any(|line| line == "TMPDIR=/staging"), "{seen}");
    }
}
