//! The plainest server that the kernel allows: it decides, records, and sees to what is due.

use std::collections::BTreeSet;

use cooperage_domain::cluster::{
    Cluster, Command, Effect, Event, Refusal, Task, apply, decide, due, due_after, order,
};
use cooperage_domain::id::{ClusterId, NodeId, TaskId};
use cooperage_domain::task::TaskReport;

use super::happening::{Happening, Timer};
use super::world::{MORNING, World};
use crate::catalog::TENANTS;
use crate::cloud::Wanted;
use crate::fault::{Fault, FaultKind};
use crate::seen::Seen;

/// Pause before a task is offered again that could not start; doubles.
const AGAIN: i64 = 200;
/// Longest such pause.
const LONGEST: i64 = 20_000;

/// A cluster as the server has it.
#[derive(Debug, Default)]
pub struct Kept {
    /// In memory: gone with the server.
    pub state: Option<Cluster>,
    /// Durable: the events as they are stored.
    pub journal: Vec<String>,
    /// Attempts whose end the server waits for.
    pub followed: BTreeSet<(u32, u32)>,
    /// Tasks that the server means to start.
    pub offered: BTreeSet<u32>,
}

/// What came of telling a cluster something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// It is durable.
    Done,
    /// It was refused.
    Refused,
    /// The server died of it, or cannot write: nobody knows.
    Later,
}

impl World<'_> {
    /// What the server's clock shows. While the server runs it does not go back.
    pub(super) fn clock(&mut self) -> i64 {
        self.believed = self.believed.max(self.skew);
        MORNING + self.now + self.believed
    }

    /// Tells a cluster something.
    pub(super) fn tell(&mut self, id: ClusterId, command: Command) -> Told {
        let now = self.clock();
        if !self.up || self.away_until > self.now {
            return Told::Later;
        }
        let Some(state) = self.state(id) else { return Told::Refused };
        match decide(state, command.clone(), now) {
            Ok(events) => self.record(id, &events),
            Err(Refusal::HasChildren { .. }) if self.let_go(id) => self.tell(id, command),
            Err(_) => Told::Refused,
        }
    }

    /// Makes events durable, and does what is due.
    pub(super) fn record(&mut self, id: ClusterId, events: &[Event]) -> Told {
        if !events.is_empty() && !self.is_durable(id, events) {
            return Told::Later;
        }
        let Some(state) = self.state(id) else { return Told::Refused };
        let (sequence, effects) = (state.sequence, due_after(state, events));
        self.checkers.see(&Seen::Acknowledged { cluster: id, sequence });
        self.carry_out(id, effects);
        self.relate(id, events);
        self.check_offers(id);
        Told::Done
    }

    /// Whatever may start is meant to be started: what events add to what is due is all that they add.
    fn check_offers(&mut self, id: ClusterId) {
        let Some(kept) = self.kept.get(&id) else { return };
        let Some(state) = &kept.state else { return };
        let forgotten = due(state).into_iter().find_map(|effect| match effect {
            Effect::Start { task, .. } if !kept.offered.contains(&task) => Some(task),
            _ => None,
        });
        if let Some(task) = forgotten {
            self.checkers.broken(format!("task {task} of {id} may start, and nobody was told"));
        }
    }

    /// Writes events to the journal, if nothing comes between.
    fn is_durable(&mut self, id: ClusterId, events: &[Event]) -> bool {
        self.appends += 1;
        let faults = self.faults.remove(&self.appends).unwrap_or_default();
        let mut dies = None;
        for Fault { kind, ms, .. } in faults {
            if kind == FaultKind::TakeOver {
                // There is no second server at this level.
                continue;
            }
            self.coverage.fault(kind, 1);
            match kind {
                FaultKind::CrashBeforeCommit => {
                    self.die(ms);
                    return false;
                }
                FaultKind::CrashAfterCommit => dies = Some(ms),
                FaultKind::ClockForward => self.skew += ms,
                FaultKind::ClockBack => self.skew -= ms,
                FaultKind::DiskFull | FaultKind::DatabaseGone => self.away_until = self.now + ms,
                _ => {}
            }
        }
        if self.away_until > self.now {
            return false;
        }
        self.write(id, events);
        if let Some(ms) = dies {
            self.die(ms);
            return false;
        }
        true
    }

    fn write(&mut self, id: ClusterId, events: &[Event]) {
        let kept = self.kept.entry(id).or_default();
        if kept.state.is_none() {
            self.coverage.clusters += 1;
        }
        let first = kept.journal.len();
        for event in events {
            let text = serde_json::to_string(event).unwrap_or_default();
            self.coverage.event(&text);
            self.trace.add(&text);
            kept.journal.push(text);
            apply(&mut kept.state, event);
        }
        let texts = &kept.journal[first..];
        if let Some(after) = &kept.state {
            self.checkers.see(&Seen::Recorded { after, events, texts });
        }
    }

    /// The server dies: all that is not durable is gone.
    fn die(&mut self, ms: i64) {
        self.up = false;
        self.incarnation += 1;
        for kept in self.kept.values_mut() {
            kept.followed.clear();
            kept.offered.clear();
        }
        self.agenda.add(self.now + ms, Happening::Restart);
    }

    /// The server starts: everything is read from the journal, and pursued.
    pub(super) fn start(&mut self) {
        self.up = true;
        self.away_until = 0;
        self.believed = self.skew;
        for id in self.kept.keys().copied().collect::<Vec<_>>() {
            let Some(kept) = self.kept.get_mut(&id) else { continue };
            let mut state = None;
            for text in &kept.journal {
                match serde_json::from_str(text) {
                    Ok(event) => apply(&mut state, &event),
                    Err(fault) => self.checkers.broken(format!("{text} cannot be read: {fault}")),
                }
            }
            kept.state = state;
            let Some(state) = &kept.state else { continue };
            self.checkers.see(&Seen::Recovered { state });
            let effects = due(state);
            self.carry_out(id, effects);
        }
        self.relate_all();
    }

    fn carry_out(&mut self, id: ClusterId, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Start { task, not_before, .. } => {
                    self.kept.entry(id).or_default().offered.insert(task);
                    self.remind(not_before, Timer::Offer(id, task, 0));
                }
                Effect::Follow { task, attempt, deadline, .. } => self.follow(id, task, attempt, deadline),
                Effect::Halt { task, attempt, .. } => self.halt(id, task, attempt),
                Effect::Overdue { task, at } => self.remind(at, Timer::Overdue(id, task, at)),
                Effect::Expire { at } | Effect::CutShort { at } => self.remind(at, Timer::Lease(id, at)),
                Effect::Warn { at } => self.remind(at, Timer::Warning(id, at)),
            }
        }
    }

    /// Sets a timer for a time of the clock.
    fn remind(&mut self, at: i64, timer: Timer) {
        let wait = (at - self.clock()).max(0);
        self.agenda.add(self.now + wait, Happening::Timer(self.incarnation, timer));
    }

    pub(super) fn ring(&mut self, timer: &Timer) {
        match *timer {
            Timer::Offer(id, task, tries) => {
                let started = self.try_to_start(id, task);
                let waits = |effect: &Effect| matches!(effect, Effect::Start { task: it, .. } if *it == task);
                let is_due = self.state(id).is_some_and(|state| due(state).iter().any(waits));
                if !started && is_due && self.up {
                    let pause = (AGAIN << tries.min(10)).min(LONGEST);
                    let timer = Timer::Offer(id, task, tries + 1);
                    self.agenda.add(self.now + pause, Happening::Timer(self.incarnation, timer));
                } else if let Some(kept) = self.kept.get_mut(&id).filter(|_| !is_due) {
                    kept.offered.remove(&task);
                }
            }
            Timer::TimeOut { cluster, task, attempt, deadline } => {
                if self.clock() < deadline {
                    self.remind(deadline, Timer::TimeOut { cluster, task, attempt, deadline });
                } else {
                    self.time_out(cluster, task, attempt, deadline);
                }
            }
            Timer::Overdue(id, task, at) => {
                let timer = Timer::Overdue(id, task, at);
                let why = "all workers were busy".to_owned();
                if self.clock() < at {
                    self.remind(at, timer);
                } else if self.tell(id, Command::TimeOutQueue { task, why }) == Told::Later && self.up {
                    self.agenda.add(self.now + LONGEST, Happening::Timer(self.incarnation, timer));
                }
            }
            Timer::Warning(id, at) if self.clock() < at => self.remind(at, Timer::Warning(id, at)),
            Timer::Warning(id, at) => {
                if self.tell(id, Command::WarnOfExpiry) == Told::Later && self.up {
                    let timer = Timer::Warning(id, at);
                    self.agenda.add(self.now + LONGEST, Happening::Timer(self.incarnation, timer));
                }
            }
            Timer::HandDown(_) | Timer::Rely(_) | Timer::Leave(_) => self.tell_kin(timer),
            Timer::Lease(id, at) => {
                let current = |effect: &Effect| match effect {
                    Effect::Expire { at: it } | Effect::CutShort { at: it } => *it == at,
                    _ => false,
                };
                if self.clock() < at {
                    self.remind(at, Timer::Lease(id, at));
                } else if self.state(id).is_some_and(|state| due(state).iter().any(current)) {
                    let by = "janitor".to_owned();
                    if self.tell(id, Command::Delete { now: true, by }) == Told::Later && self.up {
                        let timer = Timer::Lease(id, at);
                        self.agenda.add(self.now + 30_000, Happening::Timer(self.incarnation, timer));
                    }
                }
            }
        }
    }

    fn time_out(&mut self, cluster: ClusterId, task: u32, attempt: u32, deadline: i64) {
        let told = self.tell(cluster, Command::TimeOutAttempt { task, attempt });
        match told {
            Told::Later if self.up => {
                let timer = Timer::TimeOut { cluster, task, attempt, deadline };
                self.agenda.add(self.now + LONGEST, Happening::Timer(self.incarnation, timer));
            }
            Told::Done => {
                let Some(id) = self.state(cluster).and_then(|it| it.latest_job()).map(|job| job.id) else {
                    return;
                };
                let execution = (TaskId { job: id, number: task }, attempt);
                self.settle();
                self.given_up.insert(execution);
                self.cloud.cancel(execution, self.now);
                if let Some(node) = self.node_of(cluster, task) {
                    self.checkers.see(&Seen::Stopped { execution, node: &node });
                }
            }
            Told::Later | Told::Refused => {}
        }
    }

    fn node_of(&self, cluster: ClusterId, task: u32) -> Option<NodeId> {
        self.state(cluster)?.latest_job()?.tasks.get(&task).map(|task| task.node.clone())
    }

    /// A worker of the tenant that has nothing to do.
    fn worker(&self, id: ClusterId) -> Option<String> {
        let tenant = &self.state(id)?.account.tenant_id;
        let states = self.kept.values().filter_map(|kept| kept.state.as_ref());
        let of_tenant = states.filter(|state| state.account.tenant_id == *tenant);
        let open = |state: &Cluster| state.latest_job().map_or(0, |job| job.running.len());
        let busy: usize = of_tenant.map(open).sum();
        let slots =
            TENANTS.iter().find(|(name, ..)| name == tenant).map_or(0, |(_, workers, _)| *workers as usize);
        (busy < slots).then(|| format!("{tenant}.{busy}"))
    }

    /// Offers a task to a worker, whatever its node is doing: the kernel says whether it may start.
    pub(super) fn try_to_start(&mut self, id: ClusterId, task: u32) -> bool {
        let Some(worker) = self.worker(id) else { return false };
        self.tell(id, Command::StartAttempt { task, worker }) == Told::Done
    }

    /// Sees to an attempt that is open: somebody must have it, and its time ends.
    fn follow(&mut self, id: ClusterId, task: u32, attempt: u32, deadline: i64) {
        let Some(kept) = self.kept.get_mut(&id) else { return };
        if !kept.followed.insert((task, attempt)) {
            return;
        }
        self.remind(deadline, Timer::TimeOut { cluster: id, task, attempt, deadline });
        let Some(state) = self.state(id) else { return };
        let Some(found) = state.latest_job().and_then(|job| job.tasks.get(&task)) else { return };
        let wanted = Wanted { execution: (found.id, attempt), node: found.node.clone(), name: found.name };
        let tenant = worker_of(found).split('.').next().unwrap_or_default().to_owned();
        let given = order(state, task, attempt);
        if !self.given.insert(wanted.execution) {
            return;
        }
        let happening = match given {
            Ok(order) => {
                let given = serde_json::to_string(&order).unwrap_or_default();
                Happening::Begin(Box::new(wanted), tenant, given)
            }
            Err(fault) => {
                let report = Box::new(TaskReport::failure(-1, fault.to_string()));
                Happening::Answer { cluster: id, task, attempt, report }
            }
        };
        self.agenda.add(self.now + 1, happening);
    }

    /// Nobody wants an attempt any more: its worker stops, and says so.
    fn halt(&mut self, id: ClusterId, task: u32, attempt: u32) {
        let Some(job) = self.state(id).and_then(Cluster::latest_job).map(|job| job.id) else { return };
        let execution = (TaskId { job, number: task }, attempt);
        if self.cloud.fate(execution).is_some_and(|fate| fate.deaf) {
            return;
        }
        self.settle();
        self.given_up.insert(execution);
        self.cloud.cancel(execution, self.now);
        if let Some(node) = self.node_of(id, task) {
            self.checkers.see(&Seen::Stopped { execution, node: &node });
        }
        let report = Box::new(TaskReport::failure(1, "stopped"));
        self.agenda.add(self.now + 5, Happening::Answer { cluster: id, task, attempt, report });
    }

    /// A worker's answer.
    pub(super) fn answer(&mut self, id: ClusterId, task: u32, attempt: u32, report: &TaskReport) -> Told {
        let told = self.tell(id, Command::FinishAttempt { task, attempt, report: report.clone() });
        if told != Told::Later {
            let accepted = told == Told::Done;
            self.checkers.see(&Seen::Reported { cluster: id, task, attempt, accepted });
        }
        told
    }
}

fn worker_of(task: &Task) -> &str {
    task.open_attempt().map_or("", |attempt| attempt.worker.as_str())
}
