//! A cluster and the provider outside it, driven one task after the other.

use std::collections::BTreeSet;

use cooperage_domain::cluster::{
    CareChange, Cluster, ClusterStatus, Command, Effect, Event, JobStatus, Refusal, Revision, Task, due,
    replay,
};
use cooperage_domain::plan::UnitId;
use cooperage_domain::task::TaskName;

use crate::machines::{Machines, Outcome};
use crate::sketch::Sketch;
use crate::world::World;

/// More steps than any job of a small cluster takes.
const STEPS: usize = 2_000;

/// A cluster under test, and what there is outside.
#[derive(Debug, Clone)]
pub struct Rig {
    pub world: World,
    pub machines: Machines,
    /// Services that do not work, until they are started once more.
    pub ill: BTreeSet<UnitId>,
}

/// What a cluster is in the end, whatever the way there, in lines.
pub type End = BTreeSet<String>;

impl Rig {
    /// A cluster that has just been asked for.
    pub fn new(sketch: &Sketch) -> Self {
        Self { world: World::new(sketch), machines: Machines::default(), ill: BTreeSet::new() }
    }

    /// One that has been created without any trouble.
    pub fn created(sketch: &Sketch) -> Self {
        let mut rig = Self::new(sketch);
        rig.run();
        assert_eq!(rig.cluster().status, ClusterStatus::Active);
        rig
    }

    pub fn cluster(&self) -> &Cluster {
        &self.world.cluster
    }

    /// Tells the cluster something, and checks what is outside.
    pub fn tell(&mut self, command: Command) -> Result<(), Refusal> {
        self.world.tell(command)?;
        self.machines.check(&self.world.cluster);
        Ok(())
    }

    /// The same of a command that cannot be refused here.
    pub fn told(mut self, command: Command) -> Self {
        let text = format!("{command:?}");
        if let Err(refusal) = self.tell(command) {
            panic!("{text}: {refusal}");
        }
        self
    }

    /// What comes of an attempt when there is no trouble: it is done, but a probe of what is ill tells so, and nothing can
    /// be done on a machine that is not there.
    pub fn smooth(&self, task: &Task) -> Outcome {
        let ill = task.name == TaskName::Probe && self.ill.contains(&unit(task));
        let of_machine = matches!(task.name, TaskName::Create | TaskName::Delete);
        let nowhere = !of_machine && !self.machines.has(&task.node);
        if ill || nowhere { Outcome::Failed } else { Outcome::Done }
    }

    /// What is due first once a job that has paused is resumed.
    pub fn next_or_resume(&mut self) -> Option<Effect> {
        self.next().or_else(|| (self.end_maintenance() || self.resume()).then(|| self.next()).flatten())
    }

    /// What is due first: an open attempt, else a task to start. The lease does not matter here.
    pub fn next(&self) -> Option<Effect> {
        let mut effects = due(&self.world.cluster).into_iter();
        effects.find(|effect| matches!(effect, Effect::Follow { .. } | Effect::Start { .. }))
    }

    /// Starts a task that is due, if its node is free.
    pub fn start(&mut self, task: u32, not_before: i64) -> Result<(), Refusal> {
        self.world.now = self.world.now.max(not_before);
        self.tell(Command::StartAttempt { task, worker: "w1".into() })
    }

    /// Carries an open attempt out in the world outside, and reports it.
    pub fn finish(&mut self, task: u32, attempt: u32, outcome: Outcome) {
        self.carry_out(task, outcome);
        self.report(task, attempt, outcome).unwrap();
    }

    /// Carries an attempt out without a word of it.
    pub fn carry_out(&mut self, task: u32, outcome: Outcome) {
        let task = &self.world.job().tasks[&task];
        self.machines.see(task, outcome);
        if task.name == TaskName::Start {
            self.ill.remove(&unit(task));
        }
    }

    pub fn report(&mut self, task: u32, attempt: u32, outcome: Outcome) -> Result<(), Refusal> {
        self.world.now += 10;
        self.tell(Command::FinishAttempt { task, attempt, report: outcome.report() })
    }

    /// Does what is due first; `None` when nothing is. Otherwise the number of a task that ended by it, if one did.
    /// Maintenance ends when nothing else is left to do.
    pub fn step(&mut self, outcome: impl FnOnce(&Self, &Task) -> Outcome) -> Option<Option<u32>> {
        match self.next().or_else(|| self.end_maintenance().then(|| self.next()).flatten())? {
            Effect::Start { task, not_before, .. } => {
                self.start(task, not_before).unwrap();
                Some(None)
            }
            Effect::Follow { task, attempt, .. } => {
                let outcome = outcome(self, &self.world.job().tasks[&task]);
                self.finish(task, attempt, outcome);
                Some(Some(task))
            }
            Effect::Halt { .. }
            | Effect::Overdue { .. }
            | Effect::Expire { .. }
            | Effect::Warn { .. }
            | Effect::CutShort { .. } => {
                unreachable!("they are passed over")
            }
        }
    }

    /// Runs what is due until nothing is; the numbers of the tasks that were carried out, in order.
    pub fn run_with(&mut self, mut outcome: impl FnMut(&Self, &Task) -> Outcome) -> Vec<u32> {
        let mut ran = Vec::new();
        for _ in 0..STEPS {
            match self.step(&mut outcome) {
                None => return ran,
                Some(ended) => ran.extend(ended),
            }
        }
        panic!("the job does not end");
    }

    /// Runs what is due without any trouble. A job that has paused is resumed.
    pub fn run(&mut self) -> Vec<u32> {
        let mut ran = self.run_with(Self::smooth);
        while self.resume() {
            ran.extend(self.run_with(Self::smooth));
        }
        ran
    }

    /// Resumes a job that has paused; whether it had.
    pub fn resume(&mut self) -> bool {
        let paused = self.world.job().status == JobStatus::Paused;
        if paused {
            self.tell(Command::Resume { by: "ann".into() }).unwrap();
        }
        paused
    }

    /// Ends all maintenance; whether there was any.
    fn end_maintenance(&mut self) -> bool {
        let care = &self.cluster().care;
        let nodes = care.nodes.keys().cloned().map(Some);
        let maintained: Vec<_> = nodes.chain(care.maintenance.as_ref().map(|_| None)).collect();
        let ending = |node| CareChange::Maintenance { node, reason: None };
        let changes: Vec<CareChange> = maintained.into_iter().map(ending).collect();
        let any = !changes.is_empty();
        if any {
            self.tell(Command::Care { changes, by: "ann".into() }).unwrap();
        }
        any
    }

    /// Starts all that can start.
    pub fn start_all(&mut self) {
        for effect in due(&self.world.cluster) {
            if let Effect::Start { task, not_before, .. } = effect
                && not_before <= self.world.now
            {
                // Another task of its node may have been faster.
                let _ = self.start(task, 0);
            }
        }
    }

    /// The cluster as it is found after a crash, read from what was stored.
    pub fn recovered(&self) -> Cluster {
        let text = serde_json::to_string(&self.world.journal).unwrap();
        let journal: Vec<Vec<Event>> = serde_json::from_str(&text).unwrap();
        replay(journal.iter().flatten()).unwrap()
    }

    pub fn check_replay(&self) {
        let again = replay(self.world.journal.iter().flatten()).unwrap();
        assert_eq!(again, self.world.cluster, "a replay gives the state that was");
    }

    /// Panics unless the cluster is at rest in a state with a name. One whose job has paused is stopped first.
    pub fn rest(&mut self) -> ClusterStatus {
        if self.world.job().status == JobStatus::Paused {
            self.tell(Command::Cancel { undo: false, by: "ann".into() }).unwrap();
            self.run();
        }
        self.check_replay();
        let status = self.cluster().status;
        assert_ne!(status, ClusterStatus::Pending, "nothing is due: {:?}", self.world.job());
        status
    }

    /// Panics unless nothing is left of the cluster when it is deleted now, those on top of it being gone.
    pub fn check_delete(mut self) {
        for child in self.cluster().kin.children.clone().into_keys() {
            self.tell(Command::Release { child }).unwrap();
        }
        self.tell(Command::Delete { now: true, by: "ann".into() }).unwrap();
        self.run();
        assert_eq!(self.cluster().status, ClusterStatus::Terminated);
        assert!(self.machines.is_empty());
    }

    pub fn end(&self) -> End {
        let cluster = self.cluster();
        let units = cluster.units.iter();
        let units = units.map(|(id, unit)| {
            format!("{id}: {:?}, wanted {:?}, again {:?}", unit.observed, unit.wanted, unit.renew)
        });
        let rest = [format!("it is {}", cluster.status), format!("there are {:?}", self.machines)];
        units.chain(rest).chain(wanted(cluster)).collect()
    }
}

/// All that is wanted of a cluster but its units, in lines.
pub fn wanted(cluster: &Cluster) -> End {
    let Revision { template, definitions, config, node_config, nodes, wanted } = Revision::of(cluster);
    let nodes = nodes.iter().map(|(id, node)| format!("node {id}: {node:?}"));
    let definitions = definitions.values().map(|service| format!("service {service:?}"));
    let wanted = wanted.iter().map(|(id, wanted)| format!("{id} is wanted {wanted:?}"));
    let rest = [format!("template {template:?}"), format!("config {config:?} {node_config:?}")];
    nodes.chain(definitions).chain(wanted).chain(rest).collect()
}

/// Panics with the lines in which they differ, if they do.
pub fn same(found: &End, expected: &End, at: &str) {
    let more: Vec<&String> = found.difference(expected).collect();
    let less: Vec<&String> = expected.difference(found).collect();
    assert!(more.is_empty() && less.is_empty(), "{at}: {more:#?} instead of {less:#?}");
}

fn unit(task: &Task) -> UnitId {
    UnitId { node: task.node.clone(), service: task.service.clone() }
}
