//! The output of tasks on its way to the store, line by line while they run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cooperage_domain::id::TaskId;
use cooperage_domain::redact::Redactor;
use cooperage_plugins::{Output, Stream};
use cooperage_schema::{Journal, OutputLine, PackedLines, Stream as StoredStream};
use slog::{Logger, warn};
use tokio::sync::mpsc;

use crate::clock::SharedClock;

/// Lines that may wait for the store; beyond that output is dropped, with a note in the log, and never delays a task.
const MAX_WAITING: usize = 65_536;
/// Lines that are given to the store together.
const MAX_TOGETHER: usize = 1_024;
/// Longest line that is kept, in bytes.
const MAX_LINE: usize = 16_384;
/// Pause before lines are given again to a store that is away.
const PAUSE: Duration = Duration::from_millis(500);

/// Takes the output of all tasks.
#[derive(Clone)]
pub struct TaskLog {
    lines: mpsc::Sender<OutputLine>,
    dropped: Arc<AtomicU64>,
    clock: SharedClock,
}

impl TaskLog {
    /// Writes through the store's writer, on a thread of its own that ends with the last clone of this.
    #[must_use]
    pub fn new(writer: Journal, clock: SharedClock, logger: Logger) -> Self {
        let (lines, mut waiting) = mpsc::channel(MAX_WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let log = Self { lines, dropped: Arc::clone(&dropped), clock };
        let keep = move |first: OutputLine, waiting: &mut mpsc::Receiver<OutputLine>| {
            let mut together = vec![first];
            while together.len() < MAX_TOGETHER
                && let Ok(next) = waiting.try_recv()
            {
                together.push(next);
            }
            store(&writer, PackedLines::of(&together), &logger);
            let lost = dropped.swap(0, Ordering::Relaxed);
            if lost > 0 {
                warn!(logger, "tasks print faster than the store writes"; "lines_lost" => lost);
            }
        };
        #[cfg(feature = "simulation")]
        if crate::blocking::is_inline() {
            actix_rt::spawn(async move {
                while let Some(first) = waiting.recv().await {
                    keep(first, &mut waiting);
                }
            });
            return log;
        }
        std::thread::spawn(move || {
            while let Some(first) = waiting.blocking_recv() {
                keep(first, &mut waiting);
            }
        });
        log
    }

    /// Where one execution's output goes, without what `redactor` finds in it.
    #[must_use]
    pub fn of(&self, task: TaskId, attempt: u32, redactor: Redactor) -> TaskOutput {
        TaskOutput { log: self.clone(), task, attempt, redactor }
    }
}

/// Waits until the lines are stored, for as long as the database is away. After a connection that broke during a commit
/// lines may be stored twice, which is better than not at all.
fn store(writer: &Journal, mut lines: Vec<PackedLines>, logger: &Logger) {
    while !lines.is_empty() {
        let (answer, answers) = std::sync::mpsc::channel();
        for packed in lines {
            let (answer, kept) = (answer.clone(), packed.clone());
            writer.output(packed, move |written| {
                // The thread waits for every answer.
                let _ = answer.send((kept, written));
            });
        }
        drop(answer);
        lines = Vec::new();
        for (packed, written) in answers {
            match written {
                Ok(_) => {}
                Err(fault) if fault.is_retryable() => lines.push(packed),
                Err(fault) => {
                    warn!(logger, "lines of a task's output were lost"; "lines" => packed.count(),
                        "fault" => fault.to_string());
                }
            }
        }
        if !lines.is_empty() {
            std::thread::sleep(PAUSE);
        }
    }
}

/// Where one execution's output goes.
pub struct TaskOutput {
    log: TaskLog,
    task: TaskId,
    attempt: u32,
    redactor: Redactor,
}

impl Output for TaskOutput {
    fn redactor(&self) -> Redactor {
        self.redactor.clone()
    }

    fn line(&self, stream: Stream, text: &str) {
        let text = self.redactor.text(text);
        let end = text.floor_char_boundary(MAX_LINE);
        let line = OutputLine {
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
        if self.log.lines.try_send(line).is_err() {
            self.log.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}
