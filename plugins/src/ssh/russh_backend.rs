//! Connections by the pure Rust library `russh`.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use russh::client::{self, AuthResult, Handle};
use russh::keys::{Algorithm, PrivateKeyWithHashAlg, PublicKeyOrCertificate, load_secret_key};
use russh::{ChannelMsg, ChannelReadHalf, ChannelWriteHalf, Disconnect, Preferred, compression};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use super::dial::{dial, within};
use super::error::SshError;
use super::host_key::HostKey;
use super::shell::ShellConnection;
use super::target::Target;
use super::terminal::{TERM, Terminal, TerminalInput, TerminalSize};
use super::transport::{Connection, Transport};
use super::wire::{Channel, ChannelOutput, Wire};
use crate::output::Stream;

/// Silence after which the SSH server is asked whether it is still there.
const KEEPALIVE_EVERY: Duration = Duration::from_secs(15);
/// A server that leaves so many questions unanswered is given up.
const KEEPALIVE_MISSED: usize = 2;
/// Number of the one kind of extended data there is: standard error.
const EXTENDED_STDERR: u32 = 1;

/// Makes connections with `russh`: no thread and no socket but the connection's own.
#[derive(Debug, Clone, Copy, Default)]
pub struct RusshTransport;

#[async_trait]
impl Transport for RusshTransport {
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

/// What is offered and asked of every server: only the kind of host key that is pinned, and no compression.
pub(super) static CLIENT_CONFIG: LazyLock<Arc<client::Config>> = LazyLock::new(|| {
    Arc::new(client::Config {
        keepalive_interval: Some(KEEPALIVE_EVERY),
        keepalive_max: KEEPALIVE_MISSED,
        preferred: Preferred {
            key: Cow::Borrowed(&[Algorithm::Ed25519]),
            compression: Cow::Borrowed(&[compression::NONE]),
            ..Preferred::DEFAULT
        },
        ..client::Config::default()
    })
});

/// Connects, checks the host key and authenticates.
async fn log_in(target: &Target) -> Result<RusshWire, SshError> {
    let address = target.address();
    let unusable = |error: russh::keys::Error| SshError::IdentityFile {
        path: target.identity_file.clone(),
        reason: error.to_string(),
    };
    let identity = Arc::new(load_secret_key(&target.identity_file, None).map_err(unusable)?);
    let stream = dial(&target.host, target.port).await?;
    let found = Arc::default();
    let guard = Guard { expected: target.host_key.clone(), found: Arc::clone(&found) };
    let mut handle = match client::connect_stream(Arc::clone(&CLIENT_CONFIG), stream, guard).await {
        Ok(handle) => handle,
        Err(error) => {
            let found = found.lock().unwrap_or_else(PoisonError::into_inner).take();
            return Err(handshake_fault(target, found, &error));
        }
    };
    let failed =
        |error: russh::Error| SshError::Handshake { address: address.clone(), reason: error.to_string() };
    let hash = if matches!(identity.algorithm(), Algorithm::Rsa { .. }) {
        handle.best_supported_rsa_hash().await.map_err(failed)?.flatten()
    } else {
        None
    };
    let key = PrivateKeyWithHashAlg::new(identity, hash);
    let answer = handle.authenticate_publickey(&target.user, key).await.map_err(failed)?;
    match answer {
        AuthResult::Success => Ok(RusshWire { handle, address }),
        // So the library also calls a connection that broke before there was an answer.
        AuthResult::Failure { remaining_methods, .. }
            if remaining_methods.is_empty() && handle.is_closed() =>
        {
            Err(failed(russh::Error::Disconnect))
        }
        AuthResult::Failure { .. } => Err(SshError::AuthenticationRefused {
            address,
            user: target.user.clone(),
            identity: target.identity_file.clone(),
        }),
    }
}

/// Why the handshake failed, given the key the server showed, if it got so far.
fn handshake_fault(target: &Target, found: Option<HostKey>, error: &russh::Error) -> SshError {
    let address = target.address();
    match (found, error) {
        (Some(found), _) if found != target.host_key => SshError::HostKeyChanged {
            address,
            expected: target.host_key.fingerprint(),
            found: found.fingerprint(),
        },
        (_, russh::Error::NoCommonAlgo { kind: russh::AlgorithmKind::Key, theirs, .. }) => {
            SshError::HostKeyUnknown { address, reason: format!("it offers only {}", theirs.join(", ")) }
        }
        _ => SshError::Handshake { address, reason: error.to_string() },
    }
}

/// Lets only the pinned key pass, and notes what was shown.
struct Guard {
    expected: HostKey,
    found: Arc<Mutex<Option<HostKey>>>,
}

impl client::Handler for Guard {
    type Error = russh::Error;

    async fn check_server_key(&mut self, offer: &PublicKeyOrCertificate) -> Result<bool, russh::Error> {
        let found = HostKey::from_offer(offer);
        let known = found.as_ref() == Some(&self.expected);
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = found;
        Ok(known)
    }
}

/// An authenticated connection.
struct RusshWire {
    handle: Handle<Guard>,
    address: String,
}

impl RusshWire {
    /// The one terminal of this connection.
    async fn into_terminal(self, size: TerminalSize) -> Result<Terminal, SshError> {
        let lost = |error: russh::Error| SshError::lost(&self.address, error);
        let mut channel = self.handle.channel_open_session().await.map_err(lost)?;
        let (columns, rows) = (u32::from(size.columns), u32::from(size.rows));
        channel.request_pty(true, TERM, columns, rows, 0, 0, &[]).await.map_err(lost)?;
        granted(&mut channel, &self.address).await?;
        channel.request_shell(true).await.map_err(lost)?;
        granted(&mut channel, &self.address).await?;
        let (output, channel) = channel.split();
        let bytes = Box::new(channel.make_writer());
        let input = RusshTerminalInput { bytes, channel, address: self.address.clone() };
        Ok(Terminal::new(Box::new(input), Box::new(RusshOutput(output)), Box::new(self)))
    }
}

/// Waits for the machine to grant what was asked for.
async fn granted(channel: &mut russh::Channel<client::Msg>, address: &str) -> Result<(), SshError> {
    loop {
        match channel.wait().await {
            Some(ChannelMsg::Success) => return Ok(()),
            Some(ChannelMsg::WindowAdjusted { .. }) => {}
            _ => return Err(SshError::NoTerminal { address: address.to_owned() }),
        }
    }
}

/// What is typed, and how large the screen is.
struct RusshTerminalInput {
    bytes: Box<dyn AsyncWrite + Send + Unpin>,
    channel: ChannelWriteHalf<client::Msg>,
    address: String,
}

#[async_trait]
impl TerminalInput for RusshTerminalInput {
    async fn write(&mut self, bytes: &[u8]) -> Result<(), SshError> {
        self.bytes.write_all(bytes).await.map_err(|error| SshError::lost(&self.address, error))
    }

    async fn resize(&mut self, size: TerminalSize) -> Result<(), SshError> {
        let (columns, rows) = (u32::from(size.columns), u32::from(size.rows));
        let sent = self.channel.window_change(columns, rows, 0, 0).await;
        sent.map_err(|error| SshError::lost(&self.address, error))
    }
}

#[async_trait]
impl Wire for RusshWire {
    async fn exec(&self, command: &str) -> Result<Channel, SshError> {
        let lost = |error: russh::Error| SshError::lost(&self.address, error);
        let (output, input) = self.handle.channel_open_session().await.map_err(lost)?.split();
        input.exec(false, command).await.map_err(lost)?;
        Ok(Channel { input: Box::new(input.make_writer()), output: Box::new(RusshOutput(output)) })
    }

    fn is_alive(&self) -> bool {
        !self.handle.is_closed()
    }

    async fn close(&self) {
        // It fails only when the connection is already gone.
        let _ = self.handle.disconnect(Disconnect::ByApplication, "", "").await;
    }
}

/// Reads a channel's messages.
struct RusshOutput(ChannelReadHalf);

#[async_trait]
impl ChannelOutput for RusshOutput {
    async fn next(&mut self) -> Option<(Stream, Vec<u8>)> {
        loop {
            match self.0.wait().await? {
                ChannelMsg::Data { data } => return Some((Stream::Stdout, data.to_vec())),
                ChannelMsg::ExtendedData { data, ext: EXTENDED_STDERR } => {
                    return Some((Stream::Stderr, data.to_vec()));
                }
                ChannelMsg::Close => return None,
                _ => {}
            }
        }
    }
}
