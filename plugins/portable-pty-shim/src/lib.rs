//! The part of `portable-pty` 0.7 that `wezterm-ssh` 0.4 names.
//!
//! The original's `ExitStatus` only says whether a program succeeded; this one keeps the number. It also leaves out what
//! the original brings along for local terminals, which nothing here uses.

use std::io::{Read, Result as IoResult, Write};

/// Size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PtySize {
    /// Lines of text.
    pub rows: u16,
    /// Characters in a line.
    pub cols: u16,
    /// Width in pixels; 0 when unknown.
    pub pixel_width: u16,
    /// Height in pixels; 0 when unknown.
    pub pixel_height: u16,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExitStatus(u32);

impl ExitStatus {
    /// The status with this number.
    #[must_use]
    pub const fn with_exit_code(code: u32) -> Self {
        Self(code)
    }

    /// Whether the number is 0.
    #[must_use]
    pub const fn success(&self) -> bool {
        self.0 == 0
    }

    /// The number; 1 for a program that a signal ended.
    #[must_use]
    pub const fn exit_code(&self) -> u32 {
        self.0
    }
}

/// Ends a program.
pub trait ChildKiller: std::fmt::Debug {
    /// Asks it to end.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn kill(&mut self) -> IoResult<()>;

    /// Another handle that can end it.
    fn clone_killer(&self) -> Box<dyn ChildKiller + Send + Sync>;
}

/// A program that was started.
pub trait Child: std::fmt::Debug + ChildKiller {
    /// Its status, if it has ended.
    ///
    /// # Errors
    /// When that cannot be told.
    fn try_wait(&mut self) -> IoResult<Option<ExitStatus>>;

    /// Waits for its end.
    ///
    /// # Errors
    /// When that cannot be told.
    fn wait(&mut self) -> IoResult<ExitStatus>;

    /// Its number on this machine, if it runs here.
    fn process_id(&self) -> Option<u32>;
}

/// The near end of a terminal.
pub trait MasterPty {
    /// Changes the size.
    ///
    /// # Errors
    /// When the size cannot be changed.
    fn resize(&self, size: PtySize) -> anyhow::Result<()>;

    /// The size it was last given.
    ///
    /// # Errors
    /// When the size is not known.
    fn get_size(&self) -> anyhow::Result<PtySize>;

    /// Reads what the terminal shows.
    ///
    /// # Errors
    /// When the descriptor cannot be duplicated.
    fn try_clone_reader(&self) -> anyhow::Result<Box<dyn Read + Send>>;

    /// Writes as if typed.
    ///
    /// # Errors
    /// When the descriptor cannot be duplicated.
    fn try_clone_writer(&self) -> anyhow::Result<Box<dyn Write + Send>>;

    /// The process that owns the terminal, if it runs on this machine.
    fn process_group_leader(&self) -> Option<i32>;
}
