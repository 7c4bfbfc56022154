//! A terminal by `wezterm-ssh`.
//!
//! The library gives its ends as blocking readers and writers only. A thread of the terminal's own reads; what is written is
//! paced as in [`super::wezterm_backend`], so that writing never blocks. The library ends a terminal into which 2 MiB were
//! typed that no program there reads; and now and then one into which much is pasted while nothing is echoed, since it
//! stumbles over the empty packets that OpenSSH then sends.

use std::future::poll_fn;
use std::io::{Read, Write as _};
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use wezterm_ssh::{MasterPty as _, PtySize, SshChildProcess, SshPty};

use super::error::SshError;
use super::relay::Passed;
use super::terminal::{TerminalInput, TerminalSize};
use super::wezterm_backend::{PIECE, READ_SIZE};
use super::wire::ChannelOutput;
use crate::output::Stream;

/// Pieces that are read ahead of who shows them.
const READ_AHEAD: usize = 4;

/// A size in the library's terms.
pub(super) const fn pty_size(size: TerminalSize) -> PtySize {
    PtySize { rows: size.rows, cols: size.columns, pixel_width: 0, pixel_height: 0 }
}

/// What is typed.
pub(super) struct PtyInput {
    pty: SshPty,
    passed: Arc<Passed>,
    /// How far the relay must have come before more is written.
    awaited: u64,
    address: String,
}

impl PtyInput {
    pub(super) fn new(pty: SshPty, passed: Arc<Passed>, address: String) -> Self {
        Self { pty, passed, awaited: 0, address }
    }
}

#[async_trait]
impl TerminalInput for PtyInput {
    async fn write(&mut self, bytes: &[u8]) -> Result<(), SshError> {
        for piece in bytes.chunks(PIECE) {
            let awaited = self.awaited;
            let reached = poll_fn(|cx| self.passed.poll_reached(awaited, cx)).await;
            reached.map_err(|error| SshError::lost(&self.address, error))?;
            let before = self.passed.count();
            self.pty.write_all(piece).map_err(|error| SshError::lost(&self.address, error))?;
            self.awaited = before + piece.len() as u64;
        }
        Ok(())
    }

    async fn resize(&mut self, size: TerminalSize) -> Result<(), SshError> {
        self.pty.resize(pty_size(size)).map_err(|error| SshError::lost(&self.address, error))
    }
}

/// What is shown.
pub(super) struct PtyOutput {
    pieces: Receiver<Vec<u8>>,
    /// The channel closes without it.
    _process: SshChildProcess,
}

impl PtyOutput {
    /// Of a terminal. Its thread ends with the terminal, or when nobody asks for more.
    pub(super) fn of(pty: &SshPty, process: SshChildProcess) -> std::io::Result<Self> {
        let reader = pty.try_clone_reader().map_err(std::io::Error::other)?;
        let (sender, pieces) = channel(READ_AHEAD);
        std::thread::Builder::new().name("terminal".to_owned()).spawn(move || read(reader, &sender))?;
        Ok(Self { pieces, _process: process })
    }
}

fn read(mut reader: Box<dyn Read + Send>, pieces: &Sender<Vec<u8>>) {
    let mut bytes = vec![0; READ_SIZE];
    loop {
        let length = match reader.read(&mut bytes) {
            Ok(length @ 1..) => length,
            Err(fault) if fault.kind() == std::io::ErrorKind::Interrupted => continue,
            // A fault comes to the same as the end.
            Ok(0) | Err(_) => return,
        };
        if pieces.blocking_send(bytes[..length].to_vec()).is_err() {
            return;
        }
    }
}

#[async_trait]
impl ChannelOutput for PtyOutput {
    async fn next(&mut self) -> Option<(Stream, Vec<u8>)> {
        self.pieces.recv().await.map(|bytes| (Stream::Stdout, bytes))
    }
}
