//! A writer without a thread, for simulated time: work is done in the thread of whoever gives it, so that no time passes
//! meanwhile and the same run is the same every time. A gate decides what gets through, as disks and crashes do.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::answer::Answer;
use crate::append::{Append, AppendError, Appended};
use crate::batch::{Batch, Job};
use crate::error::StoreError;
use crate::writer::Writer;

/// What becomes of something that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passage {
    /// It is written.
    Open,
    /// It is written to a disk without room.
    Full,
    /// It is not written, for this reason.
    Refused(StoreError),
    /// The process is gone: nothing is written, and nobody is told.
    Dead,
}

/// Stands before the database.
pub trait Gate: Send + Sync {
    /// Something is to be written: events, or anything else.
    fn before(&self, append: Option<&Append>) -> Passage;

    /// Events were stored, or were not. Whether anybody is told.
    fn after(&self, append: &Append, result: &Result<Appended, AppendError>) -> bool;
}

/// Writes in its callers' threads, one after the other.
pub(crate) struct InlineWriter {
    writer: Mutex<Writer>,
    gate: Arc<dyn Gate>,
    /// Answers that nobody is given: they are kept, since an answer that is dropped says something, too.
    unanswered: Arc<Mutex<Vec<Answer<Appended, AppendError>>>>,
}

impl fmt::Debug for InlineWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InlineWriter")
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl InlineWriter {
    pub(crate) fn new(writer: Writer, gate: Arc<dyn Gate>) -> Self {
        Self { writer: Mutex::new(writer), gate, unanswered: Arc::default() }
    }

    /// Stores one job and answers it.
    pub(crate) fn store(&self, job: Job) {
        let passage = match &job {
            Job::Append(append, _) => self.gate.before(Some(append)),
            // What tasks print comes from a thread of its own, whose turn is nobody's choice.
            Job::Output(..) => Passage::Open,
            Job::Audit(..) | Job::Work(_) => self.gate.before(None),
        };
        let full = match passage {
            Passage::Open => false,
            Passage::Full => true,
            Passage::Refused(fault) => return job.refuse(&fault),
            Passage::Dead => return self.say_nothing(job),
        };
        let mut batch = Batch::default();
        batch.add(self.watched(job));
        let mut writer = lock(&self.writer);
        if full {
            writer.let_grow(false);
        }
        writer.store(batch);
        if full {
            writer.let_grow(true);
        }
    }

    fn say_nothing(&self, job: Job) {
        match job {
            Job::Append(_, answer) => lock(&self.unanswered).push(answer),
            // Whoever waits for other work blocks its thread until there is an answer.
            other => other.refuse(&StoreError::Closed),
        }
    }

    /// The same job, whose outcome the gate learns first.
    fn watched(&self, job: Job) -> Job {
        let Job::Append(append, answer) = job else { return job };
        let (gate, unanswered, seen) = (Arc::clone(&self.gate), Arc::clone(&self.unanswered), append.clone());
        let watched = Answer::new(move |result| {
            if gate.after(&seen, &result) {
                answer.give(result);
            } else {
                lock(&unanswered).push(answer);
            }
        });
        Job::Append(append, watched)
    }
}
