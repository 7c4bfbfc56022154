//! What can happen next in a simulated world, and when.

use std::collections::BTreeMap;

use cooperage_domain::id::ClusterId;
use cooperage_domain::task::TaskReport;

use crate::cloud::Wanted;

/// Something that will happen.
#[derive(Debug)]
pub enum Happening {
    /// Somebody asks for the step with this index.
    Step(usize),
    /// The server starts.
    Restart,
    /// A timer of the server, which dies with it.
    Timer(u32, Timer),
    /// A worker begins what it was given.
    Begin(Box<Wanted>, String, String),
    /// An execution has ended.
    End(Box<Wanted>),
    /// A worker's answer arrives.
    Answer {
        /// Of which cluster.
        cluster: ClusterId,
        /// About which task.
        task: u32,
        /// About which attempt.
        attempt: u32,
        /// What it says.
        report: Box<TaskReport>,
    },
}

/// What a server wants to be reminded of.
#[derive(Debug, Clone)]
pub enum Timer {
    /// A task may start; how often that was tried.
    Offer(ClusterId, u32, u32),
    /// The time of an attempt is up.
    TimeOut {
        /// Of which cluster.
        cluster: ClusterId,
        /// Which task.
        task: u32,
        /// Which attempt.
        attempt: u32,
        /// When, by the clock.
        deadline: i64,
    },
    /// A task has waited for a worker for too long at this time of the clock.
    Overdue(ClusterId, u32, i64),
    /// A lease is to be warned of at this time of the clock.
    Warning(ClusterId, i64),
    /// A lease ends at this time of the clock.
    Lease(ClusterId, i64),
    /// Those upon a cluster are told what it publishes.
    HandDown(ClusterId),
    /// Those that a cluster is built upon are told what it needs of them.
    Rely(ClusterId),
    /// Those that a cluster was built upon are told that it is gone.
    Leave(ClusterId),
}

/// What will happen, in the order of time.
#[derive(Debug, Default)]
pub struct Agenda {
    entries: BTreeMap<(i64, u64), Happening>,
    count: u64,
}

impl Agenda {
    /// Adds something at a time, behind what happens at the same time.
    pub fn add(&mut self, at: i64, happening: Happening) {
        self.count += 1;
        self.entries.insert((at, self.count), happening);
    }

    /// Takes out what comes next, if it comes until then.
    pub fn next(&mut self, until: i64) -> Option<(i64, Happening)> {
        let first = self.entries.first_entry().filter(|entry| entry.key().0 <= until)?;
        let ((at, _), happening) = first.remove_entry();
        Some((at, happening))
    }
}
