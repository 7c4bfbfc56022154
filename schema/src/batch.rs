//! Everything that shares one transaction.

use std::sync::Arc;

use cooperage_domain::audit::Record;

use crate::answer::Answer;
use crate::append::{Append, AppendError, Appended};
use crate::engine::Engine;
use crate::error::StoreError;
use crate::fence::Remembered;
use crate::output::append::{self as output, PackedLines};
use crate::work::Work;
use crate::{append_batch, audit};

/// One thing to be made durable.
pub(crate) enum Job {
    /// Events of a cluster.
    Append(Arc<Append>, Answer<Appended, AppendError>),
    /// Lines a task printed.
    Output(Box<PackedLines>, Answer<u64, StoreError>),
    /// Something that somebody did.
    Audit(Box<Record>, Answer<u64, StoreError>),
    /// Anything else.
    Work(Box<dyn Work>),
}

impl Job {
    /// Tells whoever wants it that nothing of it is stored.
    pub(crate) fn refuse(self, fault: &StoreError) {
        match self {
            Self::Append(_, answer) => answer.give(Err(fault.clone().into())),
            Self::Output(_, answer) | Self::Audit(_, answer) => answer.give(Err(fault.clone())),
            Self::Work(work) => work.finish(Err(fault.clone())),
        }
    }

    /// About how much text it brings, in bytes.
    fn size(&self) -> usize {
        match self {
            Self::Append(append, _) => {
                let events: usize = append.events.iter().map(|event| event.json.len()).sum();
                events + append.snapshot.as_ref().map_or(0, String::len)
            }
            Self::Output(lines, _) => lines.size(),
            Self::Audit(..) | Self::Work(_) => 0,
        }
    }
}

/// Jobs of one transaction, by sort. Nothing in it is acknowledged yet, so nobody can rely on an order between its jobs but
/// that of the appends among themselves, of the output, and of the other work.
#[derive(Default)]
pub(crate) struct Batch {
    appends: Vec<(Arc<Append>, Answer<Appended, AppendError>)>,
    outputs: Vec<(Box<PackedLines>, Answer<u64, StoreError>)>,
    audits: Vec<(Box<Record>, Answer<u64, StoreError>)>,
    work: Vec<Box<dyn Work>>,
    size: usize,
}

/// What the parts of a batch do when one of them is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parts {
    /// The whole transaction is to be rolled back.
    FailTogether,
    /// Nothing stays of that one, and the others are stored.
    FailAlone,
}

/// What came of each job, if the commit goes through.
pub(crate) struct Outcomes {
    appends: append_batch::Results,
    outputs: output::Results,
    audits: audit::Results,
    work: Vec<Result<(), StoreError>>,
}

impl Batch {
    pub(crate) fn add(&mut self, job: Job) {
        self.size += job.size();
        match job {
            Job::Append(append, answer) => self.appends.push((append, answer)),
            Job::Output(lines, answer) => self.outputs.push((lines, answer)),
            Job::Audit(record, answer) => self.audits.push((record, answer)),
            Job::Work(work) => self.work.push(work),
        }
    }

    /// How many jobs it has.
    pub(crate) fn len(&self) -> usize {
        self.appends.len() + self.outputs.len() + self.audits.len() + self.work.len()
    }

    /// About how much text it carries, in bytes.
    pub(crate) const fn size(&self) -> usize {
        self.size
    }

    /// Writes everything in the transaction that was begun on `engine`, and commits it.
    ///
    /// # Errors
    /// When nothing of it could be stored.
    pub(crate) fn store(
        &mut self,
        engine: &mut Engine,
        server: &str,
        known: &mut Remembered,
    ) -> Result<Outcomes, StoreError> {
        let stored = self.run(engine, server, known).and_then(|outcomes| {
            engine.commit()?;
            Ok(outcomes)
        });
        // Other work may have changed who owns what; and what was not committed is not so.
        if stored.is_err() || !self.work.is_empty() {
            known.forget();
        }
        stored
    }

    /// Takes the batch for faultless first: to be able to roll a part of it back the engine would copy each page that it
    /// changes. If it is not, the transaction is begun again, and what is wrong fails alone.
    fn run(
        &mut self,
        engine: &mut Engine,
        server: &str,
        known: &mut Remembered,
    ) -> Result<Outcomes, StoreError> {
        match self.write(engine, server, known, Parts::FailTogether) {
            Err(fault) if self.work.is_empty() && !fault.spoils_transaction() => {
                engine.begin_again()?;
                known.forget();
                self.write(engine, server, known, Parts::FailAlone)
            }
            written => written,
        }
    }

    fn write(
        &mut self,
        engine: &mut Engine,
        server: &str,
        known: &mut Remembered,
        parts: Parts,
    ) -> Result<Outcomes, StoreError> {
        // Other work is done once, whatever becomes of it.
        let parts = if self.work.is_empty() { parts } else { Parts::FailAlone };
        let appends: Vec<&Append> = self.appends.iter().map(|(append, _)| &**append).collect();
        if !appends.is_empty() {
            known.refresh(engine)?;
        }
        let appends = append_batch::append_all(engine, server, known, &appends, parts)?;
        let packed: Vec<&PackedLines> = self.outputs.iter().map(|(lines, _)| &**lines).collect();
        let outputs = output::store_all(engine, &packed, parts)?;
        let mut work = Vec::with_capacity(self.work.len());
        for one in &mut self.work {
            let outcome = one.run(engine);
            if let Err(fault) = &outcome
                && fault.spoils_transaction()
            {
                return Err(fault.clone());
            }
            work.push(outcome);
        }
        // Last, since servers that share the database wait here for each other until the commit.
        let records: Vec<&Record> = self.audits.iter().map(|(record, _)| &**record).collect();
        let audits = audit::append_all(engine, &records)?;
        Ok(Outcomes { appends, outputs, audits, work })
    }

    /// Tells each what came of it; only right after the commit.
    pub(crate) fn answer(self, outcomes: Outcomes) {
        for ((_, answer), outcome) in self.appends.into_iter().zip(outcomes.appends) {
            answer.give(outcome);
        }
        for ((_, answer), outcome) in self.outputs.into_iter().zip(outcomes.outputs) {
            answer.give(outcome);
        }
        for ((_, answer), outcome) in self.audits.into_iter().zip(outcomes.audits) {
            answer.give(outcome);
        }
        for (work, outcome) in self.work.into_iter().zip(outcomes.work) {
            work.finish(outcome);
        }
    }

    /// Tells everybody that nothing is stored. A fault that ended the whole transaction is nobody's in particular, so
    /// everybody may try again.
    pub(crate) fn refuse(self, fault: StoreError) {
        let fault = match fault.is_retryable() {
            true => fault,
            false => StoreError::ConnectionLost { cause: fault.to_string() },
        };
        for (_, answer) in self.appends {
            answer.give(Err(fault.clone().into()));
        }
        for (_, answer) in self.outputs {
            answer.give(Err(fault.clone()));
        }
        for (_, answer) in self.audits {
            answer.give(Err(fault.clone()));
        }
        for work in self.work {
            work.finish(Err(fault.clone()));
        }
    }
}
