//! The output of tasks on its way to the store, line by line while they run.

use cooperage_domain::id::TaskId;
use cooperage_plugins::{Output, Stream};
use cooperage_schema::{Journal, OutputChunk, Stream as StoredStream};
use slog::{Logger, warn};
use tokio::sync::mpsc;

use crate::clock::SharedClock;

/// Lines that may wait for the store; beyond that output is dropped, with a note, and never delays a task.
const MAX_WAITING: usize = 65_536;
/// Longest line that is kept, in bytes.
const MAX_LINE: usize = 16_384;

/// Takes the output of all tasks.
#[derive(Clone)]
pub struct TaskLog {
    lines: mpsc::Sender<OutputChunk>,
    clock: SharedClock,
}

impl TaskLog {
    /// Writes through the store's writer, on a thread of its own that ends with the last clone of this.
    #[must_use]
    pub fn new(writer: Journal, clock: SharedClock, logger: Logger) -> Self {
        let (lines, mut waiting) = mpsc::channel(MAX_WAITING);
        std::thread::spawn(move || {
            while let Some(chunk) = waiting.blocking_recv() {
                let logger = logger.clone();
                writer.output(chunk, move |written| {
                    if let Err(fault) = written {
                        warn!(logger, "a line of a task's output was lost"; "fault" => fault.to_string());
                    }
                });
            }
        });
        Self { lines, clock }
    }

    /// Where one execution's output goes.
    #[must_use]
    pub fn of(&self, task: TaskId, attempt: u32) -> TaskOutput {
        TaskOutput { log: self.clone(), task, attempt }
    }
}

/// Where one execution's output goes.
pub struct TaskOutput {
    log: TaskLog,
    task: TaskId,
    attempt: u32,
}

impl Output for TaskOutput {
    fn line(&self, stream: Stream, text: &str) {
        let end = text.floor_char_boundary(MAX_LINE);
        let chunk = OutputChunk {
            task: self.task,
            attempt: self.attempt,
            at_ms: self.log.clock.now(),
            stream: match stream {
                Stream::Stdout => StoredStream::Stdout,
                Stream::Stderr => StoredStream::Stderr,
                Stream::Progress => StoredStream::System,
            },
            text: text[..end].to_owned(),
        };
        // A full channel means the store is far behind; the task matters more than its words.
        let _ = self.log.lines.try_send(chunk);
    }
}
