//! A connection that feeds one long-lived shell: no process and no channel to set up for each command. The shell is started for
//! the first command that needs it: where the executor does all that is asked for, there is none, and its channel takes no
//! memory.
//!
//! Each command goes to the shell as one text that ends by printing a marker with the exit status on both output streams
//! ([`super::marker`]). The text only takes effect as a whole: a connection that breaks while it is sent runs nothing.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::capture::Captured;
use super::dial::within;
use super::error::SshError;
use super::executor::{Executor, Outcome};
use super::exit_status::ExitStatus;
use super::marker::MarkerScanner;
use super::quote::quoted;
use super::remote_run::LIBRARY;
use super::transport::{Connection, Sink};
use super::wire::{Channel, Wire};
use crate::output::Stream;

/// Bytes of a file that are sent with one command. In base64 it stays below the 2 MiB that an SSH server takes in
/// without anybody reading.
const UPLOAD_CHUNK: usize = 512 * 1024;
/// How long killing a cancelled command may take before the connection is just dropped.
const KILL_LIMIT: Duration = Duration::from_secs(5);
/// Prints the process group of the shell and, as long as they do not leave it, of all commands it runs.
const GREETING: &str = r#"read -r _ _ _ _ group _ </proc/$$/stat && echo "$group""#;
/// The group of a shell that was not started.
const NO_GROUP: u32 = 0;

/// Where the executor is.
enum Place {
    /// There is none, or it did not live long.
    Nowhere,
    /// It is started when it is first asked.
    NotStarted,
    Running(Executor),
}

/// A [`Connection`] over any [`Wire`].
pub(super) struct ShellConnection {
    wire: Box<dyn Wire>,
    /// `None` until a command needs it.
    shell: Mutex<Option<Channel>>,
    /// The shell's process group on the machine.
    group: AtomicU32,
    address: String,
    /// How long a shell, or an executor, may take to start.
    start_limit: Duration,
    executor: Mutex<Place>,
    /// Set while a command runs, and for good when it did not come to its end.
    broken: AtomicBool,
}

impl ShellConnection {
    /// Over a wire that is logged in. Nothing is started yet; what is may take `start_limit`.
    pub(super) fn new(wire: Box<dyn Wire>, address: String, start_limit: Duration) -> Self {
        Self {
            wire,
            shell: Mutex::new(None),
            group: AtomicU32::new(NO_GROUP),
            address,
            start_limit,
            executor: Mutex::new(Place::NotStarted),
            broken: AtomicBool::new(false),
        }
    }

    /// Starts a shell, and tells it what it has to know.
    async fn start(&self) -> Result<Channel, SshError> {
        let start = async {
            let mut shell = self.wire.exec("exec /bin/sh").await?;
            let lost = |error| SshError::lost(&self.address, error);
            shell.input.write_all(LIBRARY.as_bytes()).await.map_err(lost)?;
            let mut said = Captured::default();
            let status = self.exchange(&mut shell, GREETING, None, &mut said).await?;
            let (stdout, stderr) = (said.stdout.text(), said.stderr.text());
            let group = stdout.trim().parse().map_err(|_| SshError::Handshake {
                address: self.address.clone(),
                reason: format!("its shell answered {stdout:?} {stderr:?} with {status}"),
            })?;
            self.group.store(group, Ordering::Release);
            Ok(shell)
        };
        within(self.start_limit, &self.address, "starting a shell", start).await
    }

    /// Starts an executor, if the machine has one.
    async fn start_executor(&self) -> Option<Executor> {
        tokio::time::timeout(self.start_limit, Executor::start(&*self.wire)).await.ok()?
    }

    /// Sends one command and reads until both of its markers.
    async fn exchange(
        &self,
        shell: &mut Channel,
        script: &str,
        input: Option<&[u8]>,
        sink: &mut dyn Sink,
    ) -> Result<ExitStatus, SshError> {
        let nonce = Uuid::new_v4().simple().to_string();
        let text = compose(script, input, &nonce);
        let Channel { input: writer, output: reader } = shell;
        let write = async {
            writer.write_all(text.as_bytes()).await.map_err(|error| SshError::lost(&self.address, error))?;
            writer.flush().await.map_err(|error| SshError::lost(&self.address, error))
        };
        let read = async {
            let (mut stdout, mut stderr) = (MarkerScanner::new(&nonce), MarkerScanner::new(&nonce));
            loop {
                if let (Some(code), Some(_)) = (stdout.value(), stderr.value()) {
                    let not_a_code = |_| SshError::lost(&self.address, "its shell gave no exit status");
                    return code.parse().map(ExitStatus).map_err(not_a_code);
                }
                let Some((stream, bytes)) = reader.next().await else {
                    return Err(SshError::lost(&self.address, "the other side closed it"));
                };
                let scanner = if stream == Stream::Stderr { &mut stderr } else { &mut stdout };
                scanner.push(&bytes, |data| sink.bytes(stream, data));
            }
        };
        tokio::try_join!(write, read).map(|((), status)| status)
    }

    /// Kills whatever the shell runs, and the shell.
    async fn kill(&self) {
        // Whether it worked cannot be told to anybody: the caller has given up on the command, and on the machine perhaps.
        let _ = tokio::time::timeout(KILL_LIMIT, self.beside("kill -KILL \"-$group\"")).await;
        self.wire.close().await;
    }
}

/// The text that makes the shell run `script` and print its exit status behind the marker of `nonce`. Input travels as a
/// here-document in base64, whose end `@@` is no text of base64.
fn compose(script: &str, input: Option<&[u8]>, nonce: &str) -> String {
    let script = quoted(script);
    let report = format!(r"code=$?; printf '\036{nonce} %d\n' $code; printf '\036{nonce} %d\n' $code >&2");
    match input {
        None => format!("( eval {script} ) </dev/null; {report}\n"),
        Some(bytes) => {
            let document = STANDARD.encode(bytes);
            format!("base64 -d <<'@@' | ( eval {script} ); {report}\n{document}\n@@\n")
        }
    }
}

/// Marks the connection as broken unless the command comes to its end, be it because the caller stopped waiting.
struct Unfinished<'a>(Option<&'a AtomicBool>);

impl<'a> Unfinished<'a> {
    fn new(broken: &'a AtomicBool) -> Self {
        Self(Some(broken))
    }

    fn finished(mut self) {
        self.0 = None;
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(broken) = self.0 {
            broken.store(true, Ordering::Release);
        }
    }
}

#[async_trait]
impl Connection for ShellConnection {
    async fn run(
        &self,
        script: &str,
        input: Option<&[u8]>,
        sink: &mut dyn Sink,
        cancel: &CancellationToken,
    ) -> Result<ExitStatus, SshError> {
        let cancelled = || SshError::Cancelled { address: self.address.clone() };
        let mut shell = tokio::select! {
            shell = self.shell.lock() => shell,
            () = cancel.cancelled() => return Err(cancelled()),
        };
        if !self.is_alive() {
            return Err(SshError::lost(&self.address, "an earlier command left it unusable"));
        }
        let unfinished = Unfinished::new(&self.broken);
        let work = async {
            let shell = match &mut *shell {
                Some(shell) => shell,
                none => none.insert(self.start().await?),
            };
            self.exchange(shell, script, input, sink).await
        };
        tokio::select! {
            status = work => {
                let status = status?;
                unfinished.finished();
                Ok(status)
            }
            () = cancel.cancelled() => {
                self.kill().await;
                Err(cancelled())
            }
        }
    }

    async fn ask_executor(&self, request: &[u8], sink: &mut dyn Sink) -> Option<ExitStatus> {
        let mut place = self.executor.lock().await;
        let mut executor = match std::mem::replace(&mut *place, Place::Nowhere) {
            Place::Nowhere => return None,
            Place::Running(executor) => executor,
            Place::NotStarted => self.start_executor().await?,
        };
        let unfinished = Unfinished::new(&self.broken);
        let outcome = executor.ask(request, sink).await;
        unfinished.finished();
        let (then, status) = match outcome {
            Outcome::Ended(status) => (Place::Running(executor), Some(status)),
            Outcome::ForTheShell => (Place::Running(executor), None),
            Outcome::Gone { orderly: true } => (Place::NotStarted, None),
            Outcome::Gone { orderly: false } => (Place::Nowhere, None),
        };
        *place = then;
        status
    }

    async fn beside(&self, script: &str) -> Result<(), SshError> {
        let group = self.group.load(Ordering::Acquire);
        if group == NO_GROUP {
            return Ok(());
        }
        let script = quoted(&format!("group={group}\n{script}"));
        let mut channel = self.wire.exec(&format!("exec /bin/sh -c {script}")).await?;
        while channel.output.next().await.is_some() {}
        Ok(())
    }

    async fn upload(&self, path: &str, content: &[u8], mode: u32) -> Result<(), SshError> {
        let part = format!("{path}.{}.part", Uuid::new_v4().simple());
        let (target, part) = (quoted(path), quoted(&part));
        let chunks = content.len().div_ceil(UPLOAD_CHUNK).max(1);
        for number in 0..chunks {
            let from = number * UPLOAD_CHUNK;
            let chunk = &content[from..content.len().min(from + UPLOAD_CHUNK)];
            let finish = if number + 1 == chunks {
                format!(" && chmod {mode:o} {part} && mv -f {part} {target}")
            } else {
                String::new()
            };
            let script = format!("umask 077; {{ cat >>{part}{finish}; }} || {{ rm -f {part}; exit 1; }}");
            let mut said = Captured::default();
            let status = self.run(&script, Some(chunk), &mut said, &CancellationToken::new()).await?;
            if !status.success() {
                return Err(self.file_fault(path, "written", &said.stderr.text()));
            }
        }
        Ok(())
    }

    async fn download(&self, path: &str) -> Result<Vec<u8>, SshError> {
        let mut collected = Collected::default();
        let script = format!("cat -- {}", quoted(path));
        let status = self.run(&script, None, &mut collected, &CancellationToken::new()).await?;
        if !status.success() {
            return Err(self.file_fault(path, "read", &String::from_utf8_lossy(&collected.stderr)));
        }
        Ok(collected.stdout)
    }

    fn is_alive(&self) -> bool {
        !self.broken.load(Ordering::Acquire) && self.wire.is_alive()
    }

    async fn close(&self) {
        self.broken.store(true, Ordering::Release);
        self.wire.close().await;
    }
}

impl ShellConnection {
    fn file_fault(&self, path: &str, verb: &'static str, reason: &str) -> SshError {
        SshError::RemoteFile {
            address: self.address.clone(),
            path: path.to_owned(),
            verb,
            reason: reason.trim().to_owned(),
        }
    }
}

/// Keeps both streams whole.
#[derive(Default)]
struct Collected {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Sink for Collected {
    fn bytes(&mut self, stream: Stream, bytes: &[u8]) {
        let kept = if stream == Stream::Stderr { &mut self.stderr } else { &mut self.stdout };
        kept.extend_from_slice(bytes);
    }
}
