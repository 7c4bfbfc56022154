//! The simulated world outside: machines, and executions on them. It outlives every server.
//!
//! An execution is decided when it begins: how long it takes, when it has its effect, what its worker answers and when. The
//! rest is a matter of time, so that it goes on whoever dies.

use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::id::{ClusterId, NodeId, TaskId};
use cooperage_domain::task::{TaskName, TaskReport};
use serde_json::json;

use crate::fault::{Fault, FaultKind, Occasion};
use crate::random::Random;
use crate::seen::Seen;

/// Names an execution: the task and the number of the attempt.
pub type Execution = (TaskId, u32);

/// Status of a task on a machine that is not there.
const NO_MACHINE: i64 = 90;

/// What is to be executed.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Which execution.
    pub execution: Execution,
    /// On which node.
    pub node: NodeId,
    /// Which task.
    pub name: TaskName,
}

/// What becomes of an execution.
#[derive(Debug, Clone)]
pub struct Fate {
    /// When it has ended, in ms of the simulation.
    pub end: i64,
    /// What its worker reports.
    pub report: TaskReport,
    /// How long after the end each answer comes; none when it is lost.
    pub answers: Vec<i64>,
    /// Whether it hears that it is cancelled.
    pub deaf: bool,
    /// Its worker dies with it, and is back after so many ms.
    pub worker_dies: Option<i64>,
}

#[derive(Debug)]
struct Run {
    node: NodeId,
    name: TaskName,
    effect: Option<i64>,
    fate: Fate,
}

/// Something that happened to a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// There is one now.
    Made(NodeId, ClusterId),
    /// It is gone.
    Gone(NodeId),
}

impl Change {
    /// As checkers are told.
    #[must_use]
    pub const fn seen(&self) -> Seen<'_> {
        match self {
            Self::Made(node, cluster) => Seen::Made { node, cluster: *cluster },
            Self::Gone(node) => Seen::Gone { node },
        }
    }
}

/// Machines and executions.
#[derive(Debug)]
pub struct Cloud {
    seed: u64,
    faults: BTreeMap<u32, Vec<Fault>>,
    quiet: bool,
    machines: BTreeMap<NodeId, ClusterId>,
    runs: BTreeMap<Execution, Run>,
    /// Executions that have not had their effect.
    pending: BTreeSet<Execution>,
    /// The execution that a machine was last busy with: it does one at a time.
    last: BTreeMap<NodeId, Execution>,
    /// Tasks that fail whenever they are tried.
    doomed: BTreeSet<TaskId>,
    begun: u32,
    hit: BTreeMap<FaultKind, u64>,
}

impl Cloud {
    /// Without machines.
    #[must_use]
    pub fn new(seed: u64, faults: &[Fault]) -> Self {
        let mut by_number: BTreeMap<u32, Vec<Fault>> = BTreeMap::new();
        for fault in faults.iter().filter(|fault| fault.kind.occasion() == Occasion::Execution) {
            by_number.entry(fault.at).or_default().push(*fault);
        }
        Self {
            seed,
            faults: by_number,
            quiet: false,
            machines: BTreeMap::new(),
            runs: BTreeMap::new(),
            pending: BTreeSet::new(),
            last: BTreeMap::new(),
            doomed: BTreeSet::new(),
            begun: 0,
            hit: BTreeMap::new(),
        }
    }

    /// From now on nothing goes wrong.
    pub fn calm_down(&mut self) {
        self.quiet = true;
        self.doomed.clear();
    }

    /// Machines there are, with their clusters.
    #[must_use]
    pub const fn machines(&self) -> &BTreeMap<NodeId, ClusterId> {
        &self.machines
    }

    /// Executions begun.
    #[must_use]
    pub const fn begun(&self) -> u32 {
        self.begun
    }

    /// How often each kind of fault happened.
    #[must_use]
    pub const fn hit(&self) -> &BTreeMap<FaultKind, u64> {
        &self.hit
    }

    /// What becomes of an execution that was begun.
    #[must_use]
    pub fn fate(&self, execution: Execution) -> Option<&Fate> {
        self.runs.get(&execution).map(|run| &run.fate)
    }

    /// Begins an execution, or finds it.
    ///
    /// # Errors
    /// When the machine is busy with another one: until when.
    pub fn begin(&mut self, wanted: &Wanted, now: i64) -> Result<&Fate, i64> {
        let Wanted { execution, node, name } = wanted;
        if !self.runs.contains_key(execution) {
            let busy = self.last.get(node).and_then(|last| self.runs.get(last)).map(|run| run.fate.end);
            if let Some(until) = busy.filter(|end| *end > now) {
                return Err(until);
            }
            let run = self.decide(*execution, node, *name, now);
            self.last.insert(node.clone(), *execution);
            self.runs.insert(*execution, run);
            self.pending.insert(*execution);
        }
        Ok(&self.runs[execution].fate)
    }

    /// What a machine did last, if that has ended.
    #[must_use]
    pub fn ended_on(&self, node: &NodeId, now: i64) -> Option<Execution> {
        let last = self.last.get(node)?;
        self.runs.get(last).filter(|run| run.fate.end <= now).map(|_| *last)
    }

    fn decide(&mut self, execution: Execution, node: &NodeId, name: TaskName, now: i64) -> Run {
        self.begun += 1;
        let (task, attempt) = execution;
        let matter = [3, task.job.cluster.0, u64::from(task.number), u64::from(attempt)];
        let mut random = Random::about(self.seed, &matter);
        let duration = *random.pick(&[10, 200, 1_000, 4_000, 9_000]) + random.between(0, 500);
        let there = self.machines.contains_key(node);
        let mut fate = Fate {
            end: now + duration,
            report: report(name, node, &mut random),
            answers: vec![0],
            deaf: false,
            worker_dies: None,
        };
        let mut has_effect = matches!(name, TaskName::Create | TaskName::Delete);
        if !has_effect && !there {
            fate.report = TaskReport::failure(NO_MACHINE, "there is no machine");
        }
        let faults =
            if self.quiet { Vec::new() } else { self.faults.remove(&self.begun).unwrap_or_default() };
        for Fault { kind, ms, .. } in faults {
            if matches!(kind, FaultKind::MadeThenFailed | FaultKind::NothingMade) && name != TaskName::Create
            {
                continue;
            }
            *self.hit.entry(kind).or_default() += 1;
            match kind {
                FaultKind::Fails => fate.report = TaskReport::failure(1, "told to fail"),
                FaultKind::KeepsFailing => drop(self.doomed.insert(task)),
                FaultKind::MadeThenFailed => fate.report = TaskReport::failure(1, "made, and then failed"),
                FaultKind::NothingMade => {
                    fate.report = TaskReport::failure(200, "nothing was made");
                    has_effect = false;
                }
                FaultKind::AnswerLost => fate.answers.clear(),
                FaultKind::AnswerLate | FaultKind::AnswerOvertaken => {
                    fate.answers.iter_mut().for_each(|delay| *delay += ms);
                }
                FaultKind::AnswerTwice => fate.answers.push(ms),
                FaultKind::Hangs => {
                    fate.deaf = true;
                    fate.end += ms;
                }
                FaultKind::ProvisionerCrash => {
                    fate.worker_dies = Some(ms);
                    fate.answers.clear();
                }
                _ => {}
            }
        }
        if self.doomed.contains(&task) {
            fate.report = TaskReport::failure(1, "told to fail for ever");
        }
        // A failed delete may have left the machine.
        let left = name == TaskName::Delete && !fate.report.succeeded() && random.one_in(2);
        let effect = (has_effect && !left).then(|| random.between(now, fate.end));
        Run { node: node.clone(), name, effect, fate }
    }

    /// Nobody wants an execution any more: it stops, unless it is deaf.
    pub fn cancel(&mut self, execution: Execution, now: i64) {
        if let Some(run) = self.runs.get_mut(&execution)
            && !run.fate.deaf
            && run.fate.end > now
        {
            run.fate.end = now;
            run.effect = run.effect.filter(|at| *at <= now);
            run.fate.report = TaskReport::failure(1, "cancelled");
        }
    }

    /// Executions that ran inside a process which is gone have ended with it, deaf ones too.
    pub fn end_deaf(&mut self, now: i64) {
        for run in self.runs.values_mut().filter(|run| run.fate.deaf && run.fate.end > now) {
            run.fate.end = now;
            run.effect = run.effect.filter(|at| *at <= now);
            // Whoever finds it again must not hear of what did not come about.
            run.fate.report = TaskReport::failure(1, "its process is gone");
        }
    }

    /// Everything that has had its effect by now, in order.
    pub fn settle(&mut self, now: i64) -> Vec<Change> {
        let mut due: Vec<(i64, Execution)> = Vec::new();
        self.pending.retain(|execution| {
            let Some(run) = self.runs.get(execution) else { return false };
            match run.effect {
                Some(at) if at > now => true,
                Some(at) => {
                    due.push((at, *execution));
                    false
                }
                None => false,
            }
        });
        due.sort_unstable();
        let mut changes = Vec::new();
        for (_, execution) in due {
            let Some(Run { node, name, .. }) = self.runs.get(&execution) else { continue };
            let cluster = execution.0.job.cluster;
            if *name == TaskName::Delete {
                if self.machines.remove(node).is_some() {
                    changes.push(Change::Gone(node.clone()));
                }
            } else if self.machines.insert(node.clone(), cluster).is_none() {
                changes.push(Change::Made(node.clone(), cluster));
            }
        }
        changes
    }
}

fn report(name: TaskName, node: &NodeId, random: &mut Random) -> TaskReport {
    let mut report = TaskReport::success();
    match name {
        TaskName::Create => {
            report.result.insert("providerid".to_owned(), json!(format!("machine-of-{node}")));
        }
        TaskName::Confirm => {
            let address = format!("192.0.2.{}", random.below(254) + 1);
            let kinds = ["access_v4", "bind_v4"].map(|kind| (kind.to_owned(), address.clone()));
            report.ipaddresses = Some(kinds.into());
        }
        _ => {}
    }
    report
}
