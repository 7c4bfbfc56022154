//! Durable executions: a command that runs on a machine exactly once, whatever breaks on the way.
//!
//! The command runs detached, its output and its result go to files in a directory of its own on the machine, and one
//! lock keeps two of them from running at once. Who asks for an execution that was already started follows it, or is given
//! its result. `state.sh` says what the directory holds.
//!
//! A short execution costs one round trip. What most of its time goes to is processes on the machine: a program costs some
//! five times as much to start as a copy of a shell that is there, so the scripts here start as few as they can. Where the
//! machine has Perl, `executor.pl` does what it can without any but the one that was asked for; the shell does the rest.
//!
//! What a machine loses with its power in the seconds after a start may include the knowledge that it started.

mod execution;
mod once;
mod request;
mod script;

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub use execution::{Command, Execution, RUNS_ROOT, RunFile, Shortcut};
pub use once::run_once;
pub use script::RUNS_KEPT;
pub(super) use script::{EXECUTOR, LIBRARY};

use super::capture::{Captured, Lines};
use super::error::SshError;
use super::exit_status::ExitStatus;
use super::marker::MarkerScanner;
use super::pool::SshPool;
use super::target::Target;
use super::transport::Sink;
use crate::output::{Output, Stream};

/// Pauses before connecting again; the last one is repeated.
const BACK_OFF: [Duration; 5] = [
    Duration::from_millis(100),
    Duration::from_millis(300),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
];
/// So many failures in a row, without a byte of output between them, end the wait for a machine.
const FAILURES_LIMIT: usize = 12;
/// Pauses before an execution that has not ended is said to last, so that its output is followed. One word may come too early or
/// be lost, so there are several.
const NUDGES: [Duration; 5] = [
    Duration::from_millis(300),
    Duration::from_millis(700),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(15),
];
/// How long ending an execution on a machine may take, once nobody wants it any more. Who cancels a task gives its plugin up
/// after 30 s.
const CANCEL_LIMIT: Duration = Duration::from_secs(25);
/// How long one try of it may take, its grace included: a connection that hangs must leave time for another one.
const CANCEL_TRY_LIMIT: Duration = Duration::from_secs(12);

/// An execution that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How its command ended.
    pub status: ExitStatus,
    /// The last [`TAIL_LIMIT`](super::TAIL_LIMIT) bytes it printed.
    pub stdout_tail: String,
    /// The last [`TAIL_LIMIT`](super::TAIL_LIMIT) bytes it printed as errors.
    pub stderr_tail: String,
}

/// Runs an execution, or takes up the one with the same key, and follows it to its end. Its output goes to `output` line
/// by line, from its first line on. Lost connections are made again and no output is lost or repeated.
///
/// Dropping the future leaves the execution running, to be taken up later.
///
/// # Errors
/// [`SshError::Cancelled`] after a cancel and [`SshError::TimedOut`] after the execution's limit: its processes on the
/// machine were ended if the machine could still be reached. [`SshError::Interrupted`] when it began and something on the
/// machine killed it. Otherwise why it could not be started or followed.
pub async fn execute(
    pool: &SshPool,
    target: &Target,
    execution: &Execution,
    output: &dyn Output,
    cancel: &CancellationToken,
) -> Result<Finished, SshError> {
    execution.check()?;
    let following = follow(pool, target, execution, output);
    let (address, limit) = (target.address(), execution.limit);
    let unwanted = tokio::select! {
        outcome = following => return outcome,
        () = cancel.cancelled() => SshError::Cancelled { address },
        () = tokio::time::sleep(limit) => {
            SshError::TimedOut { address, what: format!("execution {}", execution.key), limit }
        }
    };
    // The caller is told why it gave up; that the machine is out of reach as well would help nobody.
    let _ = tokio::time::timeout(CANCEL_LIMIT, end(pool, target, execution)).await;
    Err(unwanted)
}

/// Asks until the execution has ended and all its output is here.
async fn follow(
    pool: &SshPool,
    target: &Target,
    execution: &Execution,
    output: &dyn Output,
) -> Result<Finished, SshError> {
    let mut seen = Seen::new(output);
    let mut failures = 0;
    loop {
        let before = seen.counts();
        match ask(pool, target, execution, &mut seen).await {
            Ok(Answer::Complete(status)) => return Ok(seen.finished(status)),
            Ok(Answer::Partial) => {}
            Err(fault) if fault.is_transient() => {
                failures = if seen.counts() == before { failures + 1 } else { 1 };
                if failures > FAILURES_LIMIT {
                    return Err(fault);
                }
                tokio::time::sleep(BACK_OFF[failures.min(BACK_OFF.len()) - 1]).await;
            }
            Err(fault) => return Err(fault),
        }
    }
}

/// What a machine says of an execution that has ended.
enum Answer {
    Complete(ExitStatus),
    Partial,
}

/// One conversation with the machine, which lasts until the execution ends.
async fn ask(
    pool: &SshPool,
    target: &Target,
    execution: &Execution,
    seen: &mut Seen<'_>,
) -> Result<Answer, SshError> {
    let connection = pool.lease(target).await?;
    // It only begins executions; one that has printed something is the shell's to take up.
    if seen.counts() == (0, 0)
        && let Some(status) = connection.ask_executor(&request::request(execution), &mut Bare(seen)).await
    {
        return Ok(Answer::Complete(status));
    }
    let nonce = Uuid::new_v4().simple().to_string();
    seen.scanner = MarkerScanner::new(&nonce);
    let script = script::ask(execution, &nonce, seen.counts());
    let (never, nudge) = (CancellationToken::new(), script::nudge(execution, &nonce));
    let nudging = async {
        for pause in NUDGES {
            tokio::time::sleep(pause).await;
            // Without it the output comes later: at the end.
            let _ = connection.beside(&nudge).await;
        }
        std::future::pending::<std::convert::Infallible>().await
    };
    tokio::select! {
        status = connection.run(&script, None, seen, &never) => status?,
        never = nudging => match never {},
    };
    let answer = seen.scanner.value().unwrap_or_default();
    if let Some(code) = answer.strip_prefix("complete ").and_then(|code| code.parse().ok()) {
        return Ok(Answer::Complete(ExitStatus(code)));
    }
    match answer {
        "partial" => Ok(Answer::Partial),
        "interrupted" => Err(SshError::Interrupted { address: target.address(), key: execution.key.clone() }),
        _ => Err(SshError::CannotRun {
            address: target.address(),
            root: execution.root.clone(),
            reason: seen.lines.captured.stderr.text().trim().to_owned(),
        }),
    }
}

/// Ends an execution on its machine. A word that is lost on the way would let one that waits there run later, although
/// nobody wants it; so it is said again until it was heard.
async fn end(pool: &SshPool, target: &Target, execution: &Execution) -> Result<(), SshError> {
    let mut failures = 0;
    loop {
        match tokio::time::timeout(CANCEL_TRY_LIMIT, try_to_end(pool, target, execution)).await {
            Ok(Err(fault)) if fault.is_transient() => {}
            Ok(outcome) => return outcome,
            Err(_) => {}
        }
        tokio::time::sleep(BACK_OFF[failures.min(BACK_OFF.len() - 1)]).await;
        failures += 1;
    }
}

async fn try_to_end(pool: &SshPool, target: &Target, execution: &Execution) -> Result<(), SshError> {
    let connection = pool.lease(target).await?;
    let script = script::cancel(execution, &Uuid::new_v4().simple().to_string());
    connection.run(&script, None, &mut (), &CancellationToken::new()).await?;
    Ok(())
}

/// The output that has come so far, over all connections.
struct Seen<'a> {
    lines: Lines<'a>,
    scanner: MarkerScanner,
    stdout: u64,
    stderr: u64,
}

impl<'a> Seen<'a> {
    fn new(output: &'a dyn Output) -> Self {
        Self { lines: Lines::new(output), scanner: MarkerScanner::new(""), stdout: 0, stderr: 0 }
    }

    /// Bytes of standard output and standard error.
    const fn counts(&self) -> (u64, u64) {
        (self.stdout, self.stderr)
    }

    fn finished(self, status: ExitStatus) -> Finished {
        let Captured { stdout, stderr } = self.lines.finish();
        Finished { status, stdout_tail: stdout.text(), stderr_tail: stderr.text() }
    }
}

/// From the shell, whose answer stands in its output.
impl Sink for Seen<'_> {
    fn bytes(&mut self, stream: Stream, bytes: &[u8]) {
        if stream == Stream::Stderr {
            return Bare(self).bytes(stream, bytes);
        }
        let mut scanner = std::mem::replace(&mut self.scanner, MarkerScanner::new(""));
        scanner.push(bytes, |data| Bare(self).bytes(stream, data));
        self.scanner = scanner;
    }
}

/// From the executor: nothing but output.
struct Bare<'a, 'b>(&'a mut Seen<'b>);

impl Sink for Bare<'_, '_> {
    fn bytes(&mut self, stream: Stream, bytes: &[u8]) {
        let Seen { lines, stdout, stderr, .. } = &mut *self.0;
        let count = if stream == Stream::Stderr { stderr } else { stdout };
        *count += bytes.len() as u64;
        lines.bytes(stream, bytes);
    }
}
