//! A simulated world around the kernel: time, workers, and who asks for what.

use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::cluster::{Cluster, ClusterStatus, Command, JobStatus, replay};
use cooperage_domain::id::ClusterId;

use super::happening::{Agenda, Happening};
use super::server::{Kept, Told};
use crate::checkers::Checkers;
use crate::cloud::{Cloud, Execution, Wanted};
use crate::coverage::Coverage;
use crate::desk::{Desk, may_have, tenant_of, usage};
use crate::fault::{Fault, Occasion};
use crate::operation::{Asked, CREATE, USER, named};
use crate::outcome::{Outcome, Trace};
use crate::plan::{Plan, Step};
use crate::random::Random;
use crate::seen::Seen;

/// When every run begins, in ms since 1970.
pub const MORNING: i64 = 1_700_000_000_000;
/// A run in which more happens than this does not come to rest.
const MOST: u64 = 20_000;
/// How long a caller or worker waits before it tries a server again that does not answer.
const PATIENCE: i64 = 1_000;
/// Long enough for everybody to be told of what has come to rest.
const SETTLED: i64 = 120_000;
/// How often clusters are told to go in the end.
pub const ROUNDS: u32 = 6;
/// Long enough for anything to end by itself: a lease, clocks that were set back.
pub const LONG: i64 = 40 * 3_600_000;

/// How long clusters are left alone after the last step of a plan: some until their leases end.
#[must_use]
pub fn wait_at_the_end(seed: u64) -> i64 {
    *Random::about(seed, &[4]).pick(&[60_000, 600_000, LONG])
}

/// What is said to a cluster that is to go. Some are sent away from whatever they do, others may end it.
#[must_use]
pub fn farewell(cluster: &Cluster, seed: u64) -> Option<Command> {
    let paused = cluster.latest_job().is_some_and(|job| job.status == JobStatus::Paused);
    let now = Random::about(seed, &[6, cluster.id.0]).one_in(2);
    match cluster.status {
        ClusterStatus::Terminated => None,
        ClusterStatus::Pending if paused && !now => Some(Command::Resume { by: USER.to_owned() }),
        ClusterStatus::Pending if !now => None,
        _ => Some(Command::Delete { now, by: USER.to_owned() }),
    }
}

/// The world.
pub struct World<'a> {
    pub(super) plan: &'a Plan,
    pub(super) now: i64,
    /// By how much the machine's clock differs from the true time.
    pub(super) skew: i64,
    /// The same, as the server that runs believes: its clock never goes back.
    pub(super) believed: i64,
    pub(super) agenda: Agenda,
    pub(super) up: bool,
    pub(super) incarnation: u32,
    pub(super) kept: BTreeMap<ClusterId, Kept>,
    pub(super) cloud: Cloud,
    pub(super) checkers: Checkers,
    pub(super) coverage: Coverage,
    pub(super) trace: Trace,
    pub(super) appends: u32,
    pub(super) faults: BTreeMap<u32, Vec<Fault>>,
    pub(super) away_until: i64,
    /// Executions that a worker has, or will be given.
    pub(super) given: BTreeSet<Execution>,
    /// Executions nobody wants any more.
    pub(super) given_up: BTreeSet<Execution>,
    pub(super) random: Random,
    pub(super) desk: Desk,
    happened: u64,
}

impl<'a> World<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        let mut faults: BTreeMap<u32, Vec<Fault>> = BTreeMap::new();
        for fault in plan.faults.iter().filter(|fault| fault.kind.occasion() == Occasion::Append) {
            faults.entry(fault.at).or_default().push(*fault);
        }
        let mut agenda = Agenda::default();
        for (index, step) in plan.steps.iter().enumerate() {
            agenda.add(step.at, Happening::Step(index));
        }
        Self {
            plan,
            now: 0,
            skew: 0,
            believed: 0,
            agenda,
            up: true,
            incarnation: 1,
            kept: BTreeMap::new(),
            cloud: Cloud::new(plan.seed, &plan.faults),
            checkers: Checkers::default(),
            coverage: Coverage { runs: 1, ..Coverage::default() },
            trace: Trace::default(),
            appends: 0,
            faults,
            away_until: 0,
            given: BTreeSet::new(),
            given_up: BTreeSet::new(),
            random: Random::about(plan.seed, &[9]),
            desk: Desk::new(plan.seed),
            happened: 0,
        }
    }

    /// Everything that is planned, and the end of all clusters.
    pub fn run(&mut self) {
        let last = self.plan.steps.last().map_or(0, |step| step.at);
        self.let_happen(last + wait_at_the_end(self.plan.seed));
        self.calm_down();
        if self.kept.values().filter_map(|kept| kept.state.as_ref()).any(|state| state.parent().is_some()) {
            self.let_happen(self.now + SETTLED);
            let clusters =
                self.kept.iter().filter_map(|(id, kept)| Some((*id, kept.state.as_ref()?))).collect();
            self.checkers.see(&Seen::Calm { clusters: &clusters });
        }
        for _ in 0..ROUNDS {
            for id in self.kept.keys().copied().collect::<Vec<_>>() {
                self.send_off(id);
            }
            self.let_happen(self.now + LONG);
        }
        let clusters = self.kept.iter().filter_map(|(id, kept)| Some((*id, kept.state.as_ref()?))).collect();
        let journal = self.kept.iter().map(|(id, kept)| (*id, kept.journal.clone())).collect();
        let over = Seen::Over { clusters: &clusters, machines: self.cloud.machines(), journal: &journal };
        self.checkers.see(&over);
    }

    /// What came of it.
    pub fn outcome(mut self) -> Outcome {
        self.coverage.simulated_ms = self.now.unsigned_abs();
        self.coverage.executions = u64::from(self.cloud.begun());
        for (kind, times) in self.cloud.hit() {
            self.coverage.fault(*kind, *times);
        }
        Outcome {
            violation: self.checkers.violation().cloned(),
            coverage: self.coverage,
            trace: self.trace.sum(),
        }
    }

    /// From now on nothing goes wrong.
    fn calm_down(&mut self) {
        self.faults.clear();
        self.cloud.calm_down();
        self.away_until = 0;
        if !self.up {
            self.let_happen(self.now + LONG);
        }
    }

    /// A cluster that is to go, whatever it is doing.
    fn send_off(&mut self, id: ClusterId) {
        let Some(state) = self.kept.get(&id).and_then(|kept| kept.state.as_ref()) else { return };
        if let Some(command) = farewell(state, self.plan.seed) {
            self.tell(id, command);
        }
    }

    /// Until there is nothing to do, or a time.
    fn let_happen(&mut self, until: i64) {
        while self.checkers.violation().is_none() {
            let Some((at, happening)) = self.agenda.next(until) else { break };
            self.happened += 1;
            if self.happened > MOST {
                self.checkers.broken(format!("more than {MOST} things happened, and there is no end to it"));
            }
            self.now = self.now.max(at);
            self.settle();
            self.happen(happening);
        }
    }

    pub(super) fn settle(&mut self) {
        for change in self.cloud.settle(self.now) {
            self.checkers.see(&change.seen());
        }
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Restart => self.start(),
            Happening::Timer(incarnation, timer) => {
                if self.up && incarnation == self.incarnation {
                    self.ring(&timer);
                }
            }
            Happening::Begin(wanted, tenant, given) => self.begin(wanted, tenant, given),
            Happening::End(wanted) => {
                self.checkers.see(&Seen::Stopped { execution: wanted.execution, node: &wanted.node });
            }
            _ if !self.up => self.agenda.add(self.now + PATIENCE, happening),
            Happening::Step(index) => {
                let step = &self.plan.steps[index];
                if let Told::Later = self.ask(step) {
                    self.agenda.add(self.now + PATIENCE, Happening::Step(index));
                }
            }
            Happening::Answer { cluster, task, attempt, report } => {
                let told = self.answer(cluster, task, attempt, &report);
                self.meddle(cluster, task, attempt, &report);
                if told == Told::Later {
                    self.agenda
                        .add(self.now + PATIENCE, Happening::Answer { cluster, task, attempt, report });
                }
            }
        }
    }

    /// Things that nobody should say: a start out of turn, a report of an earlier attempt.
    fn meddle(
        &mut self,
        cluster: ClusterId,
        task: u32,
        attempt: u32,
        report: &cooperage_domain::task::TaskReport,
    ) {
        if !self.up {
            return;
        }
        if self.random.one_in(3) {
            let last =
                self.kept.get(&cluster).and_then(|kept| kept.state.as_ref()).map_or(0, |it| it.last_task);
            let any = u32::try_from(self.random.below(u64::from(last) + 1)).unwrap_or_default();
            self.try_to_start(cluster, any);
        }
        if self.up && attempt > 1 && self.random.one_in(3) {
            self.answer(cluster, task, attempt - 1, report);
        }
    }

    /// Somebody asks for something.
    fn ask(&mut self, step: &Step) -> Told {
        let told = match step.operation.as_str() {
            CREATE => self.found(step.cluster),
            name => {
                let id = ClusterId(u64::from(step.cluster));
                let Some(state) = self.kept.get(&id).and_then(|kept| kept.state.as_ref()) else {
                    return Told::Refused;
                };
                let matter = [5, step.at.unsigned_abs(), u64::from(step.cluster)];
                let random = Random::about(self.plan.seed, &matter);
                let now = MORNING + self.now + self.believed;
                let asked = &mut Asked { cluster: state, now, random };
                let command = named(name).and_then(|operation| (operation.command)(asked));
                let tenant = &state.account.tenant_id;
                let live = usage(tenant, self.kept.values().filter_map(|kept| kept.state.as_ref()));
                match command.filter(|command| may_have(state, command, live)) {
                    Some(command) => self.tell(id, command),
                    None => Told::Refused,
                }
            }
        };
        if told != Told::Later {
            self.coverage.operation(&step.operation, told == Told::Done);
        }
        told
    }

    fn found(&mut self, number: u32) -> Told {
        let id = ClusterId(u64::from(number));
        if self.kept.contains_key(&id) {
            return Told::Refused;
        }
        let now = self.clock();
        let states = self.kept.values().filter_map(|kept| kept.state.as_ref());
        let live = usage(tenant_of(number), states);
        let Some(origins) = self.origins_of(number) else { return Told::Refused };
        let accepted = self.desk.accept(number, origins, now);
        let Ok(events) = accepted.and_then(|accepted| self.desk.found(accepted, live, now)) else {
            return Told::Refused;
        };
        // One without a layout is terminated at once, and known to nobody.
        if let Some(new) = replay(&events).filter(|new| new.status != ClusterStatus::Terminated) {
            let told = self.adopt(&new);
            if told != Told::Done {
                return told;
            }
        }
        self.record(id, &events)
    }

    /// A worker begins, unless nobody wants it any more or its machine is busy.
    fn begin(&mut self, wanted: Box<Wanted>, tenant: String, given: String) {
        if self.given_up.contains(&wanted.execution) {
            return;
        }
        let fate = match self.cloud.begin(&wanted, self.now) {
            Ok(fate) => fate.clone(),
            Err(until) => {
                self.agenda.add(until, Happening::Begin(wanted, tenant, given));
                return;
            }
        };
        let execution = wanted.execution;
        self.checkers.see(&Seen::Began { execution, node: &wanted.node, tenant: &tenant, given: &given });
        let (task, attempt) = execution;
        // A worker that dies comes back with nothing in hand: what it had is not heard of again.
        for delay in fate.answers {
            let (cluster, report) = (task.job.cluster, Box::new(fate.report.clone()));
            self.agenda
                .add(fate.end + delay, Happening::Answer { cluster, task: task.number, attempt, report });
        }
        self.agenda.add(fate.end, Happening::End(wanted));
    }

    /// The cluster as the server sees it.
    pub(super) fn state(&self, id: ClusterId) -> Option<&Cluster> {
        self.kept.get(&id)?.state.as_ref()
    }
}
