//! A cluster under test: it is told things, time passes, and after every command all that must hold is checked.

use cooperage_domain::cluster::{
    Cluster, ClusterStatus, Command, Effect, Event, Job, JobStatus, Redecided, Refusal, ServiceChange, Task,
    create, decide, due, redecide, replay,
};
use cooperage_domain::plan::{Observed, Wanted};
use cooperage_domain::task::{TaskName, TaskReport};

use crate::check::check;
use crate::sketch::Sketch;

/// When every test begins, in ms.
pub const MORNING: i64 = 1_000_000;

/// A cluster, its journal and the time.
#[derive(Debug, Clone)]
pub struct World {
    pub cluster: Cluster,
    /// What became durable together is one entry.
    pub journal: Vec<Vec<Event>>,
    pub now: i64,
}

impl World {
    /// A cluster that has just been asked for.
    pub fn new(sketch: &Sketch) -> Self {
        Self::of(create(sketch.order(), Ok(sketch.nodes.clone()), MORNING).unwrap())
    }

    /// A cluster with these first events.
    pub fn of(events: Vec<Event>) -> Self {
        let cluster = replay(&events).unwrap();
        check(&cluster);
        Self { cluster, journal: vec![events], now: MORNING }
    }

    /// One that has been created without any trouble.
    pub fn created(sketch: &Sketch) -> Self {
        let mut world = Self::new(sketch);
        world.run_all();
        assert_eq!(world.cluster.status, ClusterStatus::Active);
        world
    }

    pub fn tell(&mut self, command: Command) -> Result<&[Event], Refusal> {
        let events = decide(&self.cluster, command, self.now)?;
        decided_again(&self.cluster, &events);
        let mut next = Some(self.cluster.clone());
        for event in &events {
            cooperage_domain::cluster::apply(&mut next, event);
        }
        self.cluster = next.unwrap();
        check(&self.cluster);
        self.journal.push(events);
        Ok(self.journal.last().unwrap())
    }

    pub fn delete(&mut self) -> Result<&[Event], Refusal> {
        self.tell(Command::Delete { now: false, by: "ann".into() })
    }

    pub fn retry(&mut self) -> Result<&[Event], Refusal> {
        self.tell(Command::Retry { by: "ann".into() })
    }

    pub fn abort(&mut self) -> Result<&[Event], Refusal> {
        self.tell(Command::Abort { by: "ann".into() })
    }

    pub fn pause(&mut self) -> Result<&[Event], Refusal> {
        self.tell(Command::Pause { by: "ann".into() })
    }

    pub fn resume(&mut self) -> Result<&[Event], Refusal> {
        self.tell(Command::Resume { by: "ann".into() })
    }

    /// `service`: one, or all when it is empty.
    pub fn change(&mut self, change: ServiceChange, service: &str) -> Result<&[Event], Refusal> {
        let service = (!service.is_empty()).then(|| service.to_owned());
        self.tell(Command::ChangeServices { change, service, by: "ann".into() })
    }

    /// Changes services, and runs what is due.
    pub fn changed(mut self, change: ServiceChange, service: &str) -> Self {
        self.change(change, service).unwrap();
        self.run_all();
        self
    }

    pub fn configure(&mut self, restart: bool) -> Result<&[Event], Refusal> {
        let config = serde_json::from_str(r#"{"key": "new"}"#).unwrap();
        self.tell(Command::Configure { config, restart, by: "ann".into() })
    }

    /// `known`: the services that there are, as in a sketch.
    pub fn add(&mut self, services: &[&str], known: &str) -> Result<&[Event], Refusal> {
        let services = services.iter().map(|&name| name.to_owned()).collect();
        let known = Sketch::new(known).services.into_values().collect();
        self.tell(Command::AddServices { services, known, by: "ann".into() })
    }

    pub fn prolong(&mut self, expires: i64) -> Result<&[Event], Refusal> {
        self.tell(Command::Prolong { expires, by: "ann".into() })
    }

    pub fn job(&self) -> &Job {
        self.cluster.latest_job().unwrap()
    }

    /// How a task is written: `NODE:TASK` or `NODE:TASK:SERVICE`.
    pub fn label(task: &Task) -> String {
        match &task.service {
            None => format!("{}:{}", task.node, task.name),
            Some(service) => format!("{}:{}:{service}", task.node, task.name),
        }
    }

    /// The newest task of the latest job that is written so.
    pub fn task(&self, label: &str) -> &Task {
        let found = self.job().tasks.values().rfind(|task| Self::label(task) == label);
        found.unwrap_or_else(|| panic!("{label} is not in the job"))
    }

    /// How the tasks are written that may start now or later, by number.
    pub fn ready(&self) -> Vec<String> {
        let job = self.job();
        if job.status != JobStatus::Running {
            return Vec::new();
        }
        job.ready.iter().map(|number| Self::label(&job.tasks[number])).collect()
    }

    /// How all tasks of the latest job are written, by number.
    pub fn planned(&self) -> Vec<String> {
        self.job().tasks.values().map(Self::label).collect()
    }

    /// What is known of a unit, and what is wanted of it; written `NODE` or `NODE/SERVICE`.
    pub fn unit(&self, unit: &str) -> (Observed, Wanted) {
        let unit = &self.cluster.units[&unit.parse().unwrap()];
        (unit.observed, unit.wanted)
    }

    /// Starts a task once its pause is over; gives its number and that of the attempt.
    pub fn start(&mut self, label: &str) -> (u32, u32) {
        let task = self.task(label);
        let (number, not_before) = (task.id.number, task.not_before);
        self.start_number(number, not_before)
    }

    fn start_number(&mut self, task: u32, not_before: i64) -> (u32, u32) {
        self.now = self.now.max(not_before);
        self.tell(Command::StartAttempt { task, worker: "w1".into() }).unwrap();
        (task, self.job().tasks[&task].open_attempt().unwrap().number)
    }

    /// Ends a running task with a code; 0 is success.
    pub fn finish(&mut self, label: &str, code: i64) -> &[Event] {
        let task = self.task(label);
        let (task, attempt) = (task.id.number, task.open_attempt().unwrap().number);
        self.now += 10;
        self.tell(Command::FinishAttempt { task, attempt, report: report(code) }).unwrap()
    }

    /// Starts and ends a task.
    pub fn run(&mut self, label: &str, code: i64) -> &[Event] {
        self.start(label);
        self.finish(label, code)
    }

    /// Runs what is due, one after the other, until nothing is; `code` says how each ends.
    pub fn run_with(&mut self, mut code: impl FnMut(&Task) -> i64) {
        loop {
            let mut effects = due(&self.cluster);
            effects.retain(|effect| {
                !matches!(effect, Effect::Halt { .. } | Effect::Expire { .. } | Effect::Overdue { .. })
            });
            let (task, attempt) = match effects.into_iter().next() {
                None => return,
                Some(Effect::Follow { task, attempt, .. }) => (task, attempt),
                Some(Effect::Start { task, not_before, .. }) => self.start_number(task, not_before),
                Some(Effect::Halt { .. } | Effect::Expire { .. } | Effect::Overdue { .. }) => {
                    unreachable!("left out above")
                }
            };
            let report = report(code(&self.job().tasks[&task]));
            self.now += 10;
            self.tell(Command::FinishAttempt { task, attempt, report }).unwrap();
        }
    }

    /// Runs what is due in rounds, as if there were a worker for each node and every task took a second: all that can
    /// start starts, then all that runs ends.
    pub fn run_in_rounds(&mut self, mut code: impl FnMut(&Task) -> i64) {
        while self.job().ended.is_none() {
            self.now += 1_000;
            for effect in due(&self.cluster) {
                let Effect::Follow { task, attempt, .. } = effect else { continue };
                let report = report(code(&self.job().tasks[&task]));
                self.tell(Command::FinishAttempt { task, attempt, report }).unwrap();
            }
            for effect in due(&self.cluster) {
                let Effect::Start { task, .. } = effect else { continue };
                // Another task of the node was faster, or the pause is not over: there will be another round.
                let _ = self.tell(Command::StartAttempt { task, worker: "w1".into() });
            }
        }
    }

    /// Runs what is due; everything succeeds.
    pub fn run_all(&mut self) {
        self.run_with(|_| 0);
    }

    /// Runs what is due; every task with this name fails with this code, the rest succeeds.
    pub fn run_failing(&mut self, name: TaskName, code: i64) {
        self.run_with(|task| if task.name == name { code } else { 0 });
    }

    /// Status of the cluster, status of the job, tasks known, tasks done.
    pub fn standing(&self) -> (ClusterStatus, JobStatus, usize, usize) {
        let progress = self.cluster.progress().unwrap();
        (self.cluster.status, progress.status, progress.total, progress.done)
    }

    pub fn message(&self) -> &str {
        self.job().message.as_deref().unwrap_or_default()
    }

    /// What was done to a node: the action and how it ended.
    pub fn history(&self, node: &str) -> Vec<String> {
        let actions = self.cluster.node_actions(&crate::sketch::node_id(node));
        actions.iter().map(|it| format!("{} {:?}", it.action, it.status).to_lowercase()).collect()
    }
}

/// What a worker reports: success for 0, else a failure with that code.
pub fn report(code: i64) -> TaskReport {
    if code == 0 { TaskReport::success() } else { TaskReport::failure(code, format!("it broke: {code}")) }
}

/// That what was just decided is decided again from what came of it. Every test that tells a cluster something comes by here.
fn decided_again(cluster: &Cluster, events: &[Event]) {
    if !events.is_empty() {
        assert_eq!(redecide(Some(cluster), events), Redecided::Same(events.len()), "{events:#?}");
    }
}
