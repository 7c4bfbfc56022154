//! A person's shell on a machine.

use async_trait::async_trait;

use super::error::SshError;
use super::wire::{ChannelOutput, Wire};

/// What the terminal is called on the machine: what browsers and terminals of today understand.
pub(super) const TERM: &str = "xterm-256color";
/// Most columns, and most rows.
pub const MAX_SIDE: u16 = 1000;

/// How large a terminal's screen is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// Characters side by side.
    pub columns: u16,
    /// Lines.
    pub rows: u16,
}

impl TerminalSize {
    /// A size within what makes sense: at least 1 and at most [`MAX_SIDE`] each way.
    #[must_use]
    pub fn new(columns: u16, rows: u16) -> Self {
        Self { columns: columns.clamp(1, MAX_SIDE), rows: rows.clamp(1, MAX_SIDE) }
    }
}

/// The login user's shell in a terminal, on a connection of its own, which ends with it. Its halves are used side by side:
/// who writes without reading waits in the end, as at any terminal.
pub struct Terminal {
    /// What is typed.
    pub input: Box<dyn TerminalInput>,
    /// What is shown.
    pub output: TerminalOutput,
}

impl Terminal {
    pub(super) fn new(
        input: Box<dyn TerminalInput>,
        output: Box<dyn ChannelOutput>,
        wire: Box<dyn Wire>,
    ) -> Self {
        Self { input, output: TerminalOutput { output, wire } }
    }
}

/// What is typed, and how large the screen is.
#[async_trait]
pub trait TerminalInput: Send {
    /// Types these bytes. Waits while the machine takes none.
    ///
    /// # Errors
    /// When the connection broke, or the shell has ended.
    async fn write(&mut self, bytes: &[u8]) -> Result<(), SshError>;

    /// The screen has another size.
    ///
    /// # Errors
    /// When the connection broke.
    async fn resize(&mut self, size: TerminalSize) -> Result<(), SshError>;
}

/// What a terminal shows. Dropping it ends the connection.
pub struct TerminalOutput {
    output: Box<dyn ChannelOutput>,
    wire: Box<dyn Wire>,
}

impl TerminalOutput {
    /// The next bytes for the screen; `None` when the shell has ended or the connection broke. The machine waits while
    /// nobody asks. Nothing is lost when the call is dropped.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        self.output.next().await.map(|(_, bytes)| bytes)
    }

    /// Says good-bye; the shell is hung up on.
    pub async fn close(&self) {
        self.wire.close().await;
    }
}
