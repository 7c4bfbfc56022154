//! The handle through which everything is written.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};

use cooperage_domain::audit::Record;

use crate::answer::Answer;
use crate::append::{Append, AppendError, Appended};
use crate::batch::Job;
use crate::checkpoint::LogIsLong;
use crate::engine::Engine;
use crate::error::StoreError;
#[cfg(feature = "simulation")]
use crate::inline::InlineWriter;
use crate::output::append::PackedLines;
use crate::work::{Closure, Work};
use crate::writer::Message;

/// Most jobs that wait for the writer; beyond it callers are refused with [`StoreError::Overloaded`].
const QUEUE_LIMIT: usize = 32_768;

/// Gives work to the thread that writes. Cheap to clone; all clones feed the same queue.
///
/// Each kind of work comes in two forms: one that returns at once and calls back from the writer's thread when the work is
/// durable (the callback must be short: it holds up everybody), and one that blocks.
#[derive(Debug, Clone)]
pub struct Journal {
    way: Way,
    counts: Arc<Counts>,
}

/// How work gets to the writer.
#[derive(Debug, Clone)]
enum Way {
    /// It has a thread.
    Queue(SyncSender<Message>),
    /// It works in the thread of whoever gives it work, so that simulated time stands still meanwhile.
    #[cfg(feature = "simulation")]
    Inline(Arc<InlineWriter>),
}

/// What the writer has done since it was started.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) batches: AtomicU64,
    pub(crate) jobs: AtomicU64,
    pub(crate) largest_batch: AtomicU64,
    pub(crate) failed_batches: AtomicU64,
    /// Said by the one who brings SQLite's log into the database.
    pub(crate) log_is_long: LogIsLong,
}

impl Counts {
    /// Counts one transaction with so many jobs.
    pub(crate) fn stored(&self, jobs: u64) {
        self.batches.fetch_add(1, Relaxed);
        self.jobs.fetch_add(jobs, Relaxed);
        self.largest_batch.fetch_max(jobs, Relaxed);
    }
}

/// What the writer has done since it was started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JournalStatistics {
    /// Transactions committed.
    pub batches: u64,
    /// Jobs in them.
    pub jobs: u64,
    /// Jobs in the largest of them.
    pub largest_batch: u64,
    /// Transactions of which nothing was stored.
    pub failed_batches: u64,
}

impl Journal {
    /// A handle and the queue it feeds.
    pub(crate) fn new(counts: Arc<Counts>) -> (Self, Receiver<Message>) {
        let (queue, receiver) = sync_channel(QUEUE_LIMIT);
        (Self { way: Way::Queue(queue), counts }, receiver)
    }

    /// A handle to a writer without a thread.
    #[cfg(feature = "simulation")]
    pub(crate) fn inline(writer: Arc<InlineWriter>, counts: Arc<Counts>) -> Self {
        Self { way: Way::Inline(writer), counts }
    }

    /// Makes events durable, with their projection, and calls back when they are. Never blocks.
    pub fn append(
        &self,
        append: impl Into<Arc<Append>>,
        reply: impl FnOnce(Result<Appended, AppendError>) + Send + 'static,
    ) {
        self.offer(Job::Append(append.into(), Answer::new(reply)));
    }

    /// Like [`Journal::append`], and waits for it.
    ///
    /// # Errors
    /// When nothing of it is stored.
    pub fn append_blocking(&self, append: Append) -> Result<Appended, AppendError> {
        self.wait_for(|answer| Job::Append(Arc::new(append), answer))
    }

    /// Stores lines a task printed, and calls back with the number of the first. Never blocks.
    pub fn output(&self, lines: PackedLines, reply: impl FnOnce(Result<u64, StoreError>) + Send + 'static) {
        self.offer(Job::Output(Box::new(lines), Answer::new(reply)));
    }

    /// Like [`Journal::output`], and waits for it.
    ///
    /// # Errors
    /// When it is not stored.
    pub fn output_blocking(&self, lines: PackedLines) -> Result<u64, StoreError> {
        self.wait_for(|answer| Job::Output(Box::new(lines), answer))
    }

    /// Does any other work on the writing connection, inside the batch's transaction, and calls back when it is durable.
    /// Never blocks. When the work fails or panics, nothing of it is stored.
    pub fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Engine) -> Result<T, StoreError> + Send + 'static,
        reply: impl FnOnce(Result<T, StoreError>) + Send + 'static,
    ) {
        self.offer(work_job(work, Answer::new(reply)));
    }

    /// Like [`Journal::write`], and waits for it.
    ///
    /// # Errors
    /// What the work said, or that it could not be made durable.
    pub fn write_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Engine) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.wait_for(|answer| work_job(work, answer))
    }

    /// Puts a record whose texts the database can hold at the end of the audit log.
    pub(crate) fn offer_audit(
        &self,
        record: Record,
        reply: impl FnOnce(Result<u64, StoreError>) + Send + 'static,
    ) {
        self.offer(Job::Audit(Box::new(record), Answer::new(reply)));
    }

    /// What the writer has done since it was started.
    #[must_use]
    pub fn statistics(&self) -> JournalStatistics {
        JournalStatistics {
            batches: self.counts.batches.load(Relaxed),
            jobs: self.counts.jobs.load(Relaxed),
            largest_batch: self.counts.largest_batch.load(Relaxed),
            failed_batches: self.counts.failed_batches.load(Relaxed),
        }
    }

    /// Tells the writer to store what came before and to end. Does nothing when it has ended.
    pub(crate) fn close(&self) {
        match &self.way {
            Way::Queue(queue) => drop(queue.send(Message::Close)),
            #[cfg(feature = "simulation")]
            Way::Inline(_) => {}
        }
    }

    fn offer(&self, job: Job) {
        #[allow(clippy::infallible_destructuring_match, reason = "a build without simulation has one way")]
        let queue = match &self.way {
            Way::Queue(queue) => queue,
            #[cfg(feature = "simulation")]
            Way::Inline(writer) => return writer.store(job),
        };
        match queue.try_send(Message::Job(job)) {
            Err(TrySendError::Full(Message::Job(job))) => {
                job.refuse(&StoreError::Overloaded { waiting: QUEUE_LIMIT });
            }
            // A job that comes back from a closed queue says so itself when it is dropped.
            Ok(()) | Err(TrySendError::Full(Message::Close) | TrySendError::Disconnected(_)) => {}
        }
    }

    fn wait_for<T, E>(&self, job: impl FnOnce(Answer<T, E>) -> Job) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (sender, receiver) = channel();
        let answer = Answer::new(move |result| {
            // Nobody waits any more: there is nobody to tell.
            let _ = sender.send(result);
        });
        // When the writer has ended, the job that comes back is dropped, which answers it.
        match &self.way {
            Way::Queue(queue) => drop(queue.send(Message::Job(job(answer)))),
            #[cfg(feature = "simulation")]
            Way::Inline(writer) => writer.store(job(answer)),
        }
        receiver.recv().unwrap_or_else(|_| Err(StoreError::Closed.into()))
    }
}

fn work_job<T: Send + 'static>(
    work: impl FnOnce(&mut Engine) -> Result<T, StoreError> + Send + 'static,
    answer: Answer<T, StoreError>,
) -> Job {
    let work: Box<dyn Work> = Box::new(Closure::new(work, answer));
    Job::Work(work)
}
