//! What a back end must be able to do; the rest is built once on top of it, in [`super::shell`].

use async_trait::async_trait;
use tokio::io::AsyncWrite;

use super::error::SshError;
use crate::output::Stream;

/// An authenticated SSH connection of some library.
#[async_trait]
pub(super) trait Wire: Send + Sync {
    /// Starts a command in a channel of its own.
    async fn exec(&self, command: &str) -> Result<Channel, SshError>;

    /// Whether the connection still stands, as far as is known.
    fn is_alive(&self) -> bool;

    /// Ends the connection at once, with everything on it.
    async fn close(&self);
}

/// A running command.
pub(super) struct Channel {
    /// Its standard input.
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    /// Its output.
    pub output: Box<dyn ChannelOutput>,
}

/// The output of a running command.
#[async_trait]
pub(super) trait ChannelOutput: Send {
    /// The next bytes, and of which stream; `None` when no more will come. Nothing is lost when the call is dropped.
    async fn next(&mut self) -> Option<(Stream, Vec<u8>)>;
}
