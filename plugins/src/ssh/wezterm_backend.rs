//! Connections by `wezterm-ssh` over libssh2.
//!
//! Three traps of that library shape this file. It neither limits nor keeps alive a connection: it is made to connect to a
//! [`Relay`] of ours, which does, and which ends it at once when it is cut. It checks no host key when the file of known
//! hosts is missing: one is written for each session. And it closes a channel into which more was written than it can
//! pass on: [`PacedInput`] waits until the relay has seen what was written before.

use std::collections::HashMap;
use std::io::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncReadExt as _, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use wezterm_ssh::{Config, ConfigMap, FileDescriptor, Session, SessionEvent, SshChildProcess};

use super::dial::{dial, within};
use super::error::SshError;
use super::relay::{Passed, Relay};
use super::shell::ShellConnection;
use super::target::Target;
use super::terminal::{TERM, Terminal, TerminalSize};
use super::transport::{Connection, Transport};
use super::wezterm_terminal::{PtyInput, PtyOutput, pty_size};
use super::wire::{Channel, ChannelOutput, Wire};
use crate::output::Stream;

/// How much is written before the relay must have seen it. The library takes 8 KiB.
pub(super) const PIECE: usize = 4096;
/// What is read at once from one stream.
pub(super) const READ_SIZE: usize = 16 * 1024;

/// Makes connections with `wezterm-ssh`: one thread each.
#[derive(Debug, Clone, Copy, Default)]
pub struct WeztermTransport;

#[async_trait]
impl Transport for WeztermTransport {
    async fn connect(&self, target: &Target, limit: Duration) -> Result<Box<dyn Connection>, SshError> {
        let work = async {
            let wire = log_in(target).await?;
            let connection = ShellConnection::new(Box::new(wire), target.address(), limit);
            Ok::<Box<dyn Connection>, SshError>(Box::new(connection))
        };
        within(limit, &target.address(), "connecting", work).await
    }

    async fn terminal(
        &self,
        target: &Target,
        size: TerminalSize,
        limit: Duration,
    ) -> Result<Terminal, SshError> {
        let work = async { log_in(target).await?.into_terminal(size).await };
        within(limit, &target.address(), "opening a terminal", work).await
    }
}

/// Connects, checks the host key and authenticates. Dropping the future cuts the relay, which ends the library's thread.
async fn log_in(target: &Target) -> Result<WeztermWire, SshError> {
    check_identity(target)?;
    let node = dial(&target.host, target.port).await?;
    let failed = |reason: String| SshError::Handshake { address: target.address(), reason };
    let link = Link::to(node, target).await.map_err(|error| failed(error.to_string()))?;
    let config = config(target, &link);
    let (session, events) = Session::connect(config).map_err(|error| failed(error.to_string()))?;
    while let Ok(event) = events.recv().await {
        match event {
            SessionEvent::Banner(_) => {}
            SessionEvent::Authenticated => {
                return Ok(WeztermWire { session, link, address: target.address() });
            }
            SessionEvent::HostVerify(_) => {
                return Err(SshError::HostKeyUnknown {
                    address: target.address(),
                    reason: "it offers no ed25519 host key".into(),
                });
            }
            SessionEvent::Authenticate(_) => {
                return Err(refused(target, &link));
            }
            SessionEvent::Error(text) => return Err(session_fault(target, &link, text)),
        }
    }
    Err(failed("the session ended without a word".into()))
}

/// The library would only say that it could not log in.
fn check_identity(target: &Target) -> Result<(), SshError> {
    let unusable = |reason: String| SshError::IdentityFile { path: target.identity_file.clone(), reason };
    if target.identity_file.to_string_lossy().contains(char::is_whitespace) {
        return Err(unusable("this back end cannot use a path with a blank in it".into()));
    }
    match russh::keys::load_secret_key(&target.identity_file, None) {
        Ok(_) => Ok(()),
        Err(error) => Err(unusable(error.to_string())),
    }
}

/// The way to a machine, and who must be there. The relay comes first, because fields are dropped in order: without the
/// file the library would trust anybody, so it must be cut off before the file goes.
struct Link {
    relay: Relay,
    known_hosts: tempfile::NamedTempFile,
}

impl Link {
    async fn to(node: TcpStream, target: &Target) -> std::io::Result<Self> {
        let relay = Relay::to(node).await?;
        let mut known_hosts = tempfile::NamedTempFile::with_prefix("cooperage-known-hosts-")?;
        writeln!(known_hosts, "[127.0.0.1]:{} {}", relay.port(), target.host_key)?;
        Ok(Self { relay, known_hosts })
    }
}

/// What the library is told. Nothing of the operator's own SSH configuration is read.
fn config(target: &Target, link: &Link) -> ConfigMap {
    let mut config = Config::new().for_host("127.0.0.1");
    config.extend(HashMap::from([
        ("hostname".to_owned(), "127.0.0.1".to_owned()),
        ("port".to_owned(), link.relay.port().to_string()),
        ("user".to_owned(), target.user.clone()),
        ("identityfile".to_owned(), target.identity_file.display().to_string()),
        ("identitiesonly".to_owned(), "yes".to_owned()),
        ("userknownhostsfile".to_owned(), link.known_hosts.path().display().to_string()),
        ("wezterm_ssh_backend".to_owned(), "ssh2".to_owned()),
    ]));
    config
}

/// What the library's last words mean.
fn session_fault(target: &Target, link: &Link, text: String) -> SshError {
    let address = target.address();
    if text.contains("host key mismatch") {
        let found = text.split_whitespace().find(|word| word.starts_with("SHA256:")).unwrap_or("another key");
        return SshError::HostKeyChanged {
            address,
            expected: target.host_key.fingerprint(),
            found: found.to_owned(),
        };
    }
    if text.starts_with("authentication") {
        return refused(target, link);
    }
    SshError::Handshake { address, reason: text }
}

/// The key was refused. So the library also calls a connection that broke before there was an answer.
fn refused(target: &Target, link: &Link) -> SshError {
    let address = target.address();
    if !link.relay.is_alive() {
        return SshError::Handshake { address, reason: "the connection broke during the login".into() };
    }
    SshError::AuthenticationRefused {
        address,
        user: target.user.clone(),
        identity: target.identity_file.clone(),
    }
}

/// An authenticated connection.
struct WeztermWire {
    session: Session,
    link: Link,
    address: String,
}

impl WeztermWire {
    /// The one terminal of this connection.
    async fn into_terminal(self, size: TerminalSize) -> Result<Terminal, SshError> {
        let asked = self.session.request_pty(TERM, pty_size(size), None, None).await;
        let (pty, process) = match asked {
            Ok(given) => given,
            Err(_) if self.is_alive() => {
                return Err(SshError::NoTerminal { address: self.address.clone() });
            }
            Err(error) => return Err(SshError::lost(&self.address, error)),
        };
        let output = PtyOutput::of(&pty, process).map_err(|error| SshError::lost(&self.address, error))?;
        let input = PtyInput::new(pty, self.link.relay.passed(), self.address.clone());
        Ok(Terminal::new(Box::new(input), Box::new(output), Box::new(self)))
    }
}

#[async_trait]
impl Wire for WeztermWire {
    async fn exec(&self, command: &str) -> Result<Channel, SshError> {
        let started =
            self.session.exec(command, None).await.map_err(|error| SshError::lost(&self.address, error))?;
        let stream = |descriptor: &FileDescriptor| {
            open(descriptor).map_err(|error| SshError::lost(&self.address, error))
        };
        let input = PacedInput::new(stream(&started.stdin)?, self.link.relay.passed());
        let output = WeztermOutput {
            stdout: Some(stream(&started.stdout)?),
            stderr: Some(stream(&started.stderr)?),
            _process: started.child,
        };
        Ok(Channel { input: Box::new(input), output: Box::new(output) })
    }

    fn is_alive(&self) -> bool {
        self.link.relay.is_alive()
    }

    async fn close(&self) {
        self.link.relay.cut();
    }
}

/// A descriptor of the library as a stream of ours.
fn open(descriptor: &FileDescriptor) -> std::io::Result<UnixStream> {
    let owned = descriptor.as_file().map_err(std::io::Error::other)?;
    let stream = std::os::unix::net::UnixStream::from(std::os::fd::OwnedFd::from(owned));
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

/// Reads both streams of a command.
struct WeztermOutput {
    stdout: Option<UnixStream>,
    stderr: Option<UnixStream>,
    /// The channel closes without it.
    _process: SshChildProcess,
}

#[async_trait]
impl ChannelOutput for WeztermOutput {
    async fn next(&mut self) -> Option<(Stream, Vec<u8>)> {
        loop {
            let (stream, bytes) = tokio::select! {
                bytes = read(&mut self.stdout), if self.stdout.is_some() => (Stream::Stdout, bytes),
                bytes = read(&mut self.stderr), if self.stderr.is_some() => (Stream::Stderr, bytes),
                else => return None,
            };
            match bytes {
                Some(bytes) => return Some((stream, bytes)),
                None if stream == Stream::Stdout => self.stdout = None,
                None => self.stderr = None,
            }
        }
    }
}

/// The next bytes; `None` at the end, which is also what a fault comes to.
async fn read(stream: &mut Option<UnixStream>) -> Option<Vec<u8>> {
    let mut bytes = vec![0; READ_SIZE];
    let length = stream.as_mut()?.read(&mut bytes).await.ok().filter(|length| *length > 0)?;
    bytes.truncate(length);
    Some(bytes)
}

/// Writes to a command no faster than the relay passes it on.
struct PacedInput {
    stream: UnixStream,
    passed: Arc<Passed>,
    /// How far the relay must have come before more is written.
    awaited: u64,
}

impl PacedInput {
    fn new(stream: UnixStream, passed: Arc<Passed>) -> Self {
        Self { stream, passed, awaited: 0 }
    }
}

impl AsyncWrite for PacedInput {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let this = &mut *self;
        std::task::ready!(this.passed.poll_reached(this.awaited, cx))?;
        let before = this.passed.count();
        let piece = &bytes[..bytes.len().min(PIECE)];
        let written = std::task::ready!(Pin::new(&mut this.stream).poll_write(cx, piece))?;
        // Encrypted it takes more bytes than this, so once so many have passed, all of it has.
        this.awaited = before + written as u64;
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
