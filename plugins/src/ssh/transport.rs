//! What every SSH back end offers.

use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::error::SshError;
use super::exit_status::ExitStatus;
use super::target::Target;
use super::terminal::{Terminal, TerminalSize};
use crate::output::Stream;

/// Makes connections.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Connects, checks the host key and logs in, all within `limit`.
    ///
    /// # Errors
    /// When the machine cannot be reached in time, is not the one that is expected, or refuses the login.
    async fn connect(&self, target: &Target, limit: Duration) -> Result<Box<dyn Connection>, SshError>;

    /// Connects as [`Transport::connect`] does, and opens the login user's shell in a terminal, on a connection that carries
    /// nothing else.
    ///
    /// # Errors
    /// Those of [`Transport::connect`], and when the machine gives no terminal.
    async fn terminal(
        &self,
        target: &Target,
        size: TerminalSize,
        limit: Duration,
    ) -> Result<Terminal, SshError>;
}

/// A logged-in connection. It carries one command at a time; further ones wait. Dropping it closes it.
#[async_trait]
pub trait Connection: Send + Sync {
    /// Runs `script` in a shell of the login user, with `input` as its standard input (nothing when `None`), and hands
    /// its output to `sink` as it comes.
    ///
    /// A process that the script leaves behind does not delay the end; it must not write to the script's output any more.
    /// The script runs as if in parentheses: `exit` ends only it, and nothing it sets stays.
    ///
    /// # Errors
    /// [`SshError::ConnectionLost`] when it broke on the way: the command may then have run or not. After a cancel,
    /// [`SshError::Cancelled`]: the command's processes were killed and the connection is closed.
    async fn run(
        &self,
        script: &str,
        input: Option<&[u8]>,
        sink: &mut dyn Sink,
        cancel: &CancellationToken,
    ) -> Result<ExitStatus, SshError>;

    /// Has the machine's executor carry out an execution; its output goes to `sink`. It is asked as `executor.pl` says. Gives
    /// how the execution ended, or nothing if there is no executor or it leaves this one to the shell. Dropping the future
    /// makes the connection unusable.
    async fn ask_executor(&self, request: &[u8], sink: &mut dyn Sink) -> Option<ExitStatus>;

    /// Runs a short script beside the command that is under way, in a shell of its own. In it `$group` is the process group of
    /// that command's shell; where there is no such shell nothing is run. What it prints is lost.
    ///
    /// # Errors
    /// When the connection broke, or the machine allows no second channel on it.
    async fn beside(&self, script: &str) -> Result<(), SshError>;

    /// Writes a file: it appears at `path` complete and with `mode`, or not at all.
    ///
    /// # Errors
    /// When it cannot be written, with the machine's reason.
    async fn upload(&self, path: &str, content: &[u8], mode: u32) -> Result<(), SshError>;

    /// Reads a whole file into memory.
    ///
    /// # Errors
    /// When it cannot be read, with the machine's reason.
    async fn download(&self, path: &str) -> Result<Vec<u8>, SshError>;

    /// Whether it can take another command, as far as is known without asking the machine.
    fn is_alive(&self) -> bool;

    /// Says good-bye. What still runs on it fails with [`SshError::ConnectionLost`].
    async fn close(&self);
}

/// Takes the output of a command as it comes, in pieces of any size.
pub trait Sink: Send {
    /// The next bytes of one stream.
    fn bytes(&mut self, stream: Stream, bytes: &[u8]);
}

/// Throws everything away.
impl Sink for () {
    fn bytes(&mut self, _: Stream, _: &[u8]) {}
}
