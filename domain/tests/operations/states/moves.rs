//! All that can happen to a cluster in a state.

use cooperage_domain::cluster::{
    Attempt, Cluster, Command, Effect, Event, Redecided, Refusal, TaskState, apply, decide, due, due_after,
    redecide,
};
use cooperage_domain::id::NodeId;
use cooperage_domain::task::TaskName;

use super::state::State;
use crate::check::check;
use crate::machines::Outcome;
use crate::table;

/// One step from a state to another one.
#[derive(Debug, Clone)]
pub enum Move {
    /// Somebody asks for something, or finds something out.
    Tell(Box<Command>),
    /// A task begins.
    Start { task: u32, not_before: i64 },
    /// An attempt ends and tells of it.
    Finish { task: u32, attempt: u32, outcome: Outcome },
    /// Nobody hears of an attempt in time: its work is done or is not, its worker or the way from it is lost.
    TimeOut { task: u32, attempt: u32, outcome: Outcome },
    /// Nobody takes a task in time.
    NobodyTakes { task: u32, at: i64 },
    /// The time of the lease has come for this.
    Lease { command: Box<Command>, at: i64 },
    /// A machine ends by itself.
    Die(NodeId),
}

/// What people ask of clusters, and what is found out about them, beside what the tasks do.
pub type Asks = fn(&Cluster) -> Vec<Command>;

/// What can be asked of every cluster, whatever it is for.
pub fn machinery() -> Vec<Command> {
    let by = table::by;
    vec![
        table::delete(true),
        table::delete(false),
        table::cancel(false),
        table::cancel(true),
        Command::Abort { by: by() },
        Command::Retry { by: by() },
        Command::Pause { by: by() },
        Command::Resume { by: by() },
    ]
}

/// All that can happen next. `machines_die`: also by themselves.
pub fn moves(state: &State, asks: Asks, machines_die: bool) -> Vec<Move> {
    let cluster = &state.cluster;
    let mut moves: Vec<Move> = Vec::new();
    for effect in due(cluster) {
        moves.extend(of_effect(state, &effect));
    }
    let asked = machinery().into_iter().chain(asks(cluster));
    moves.extend(asked.map(|command| Move::Tell(Box::new(command))));
    if machines_die {
        let there = cluster.nodes.keys().filter(|id| state.machines.has(id));
        moves.extend(there.cloned().map(Move::Die));
    }
    moves
}

fn of_effect(state: &State, effect: &Effect) -> Vec<Move> {
    match effect {
        Effect::Start { task, not_before, .. } => {
            vec![Move::Start { task: *task, not_before: *not_before }]
        }
        Effect::Follow { task, attempt, .. } => of_attempt(state, *task, *attempt),
        // Whoever stops an attempt hears how it ended, as of any other.
        Effect::Halt { .. } => Vec::new(),
        Effect::Overdue { task, at } => vec![Move::NobodyTakes { task: *task, at: *at }],
        Effect::Warn { at } => vec![Move::Lease { command: Box::new(Command::WarnOfExpiry), at: *at }],
        Effect::CutShort { at } => vec![Move::Lease { command: Box::new(table::delete(true)), at: *at }],
        Effect::Expire { at } => vec![Move::Lease { command: Box::new(table::delete(false)), at: *at }],
    }
}

/// How an attempt may end: on a machine that is not there nothing can be done.
fn of_attempt(state: &State, task: u32, attempt: u32) -> Vec<Move> {
    let found = &state.cluster.latest_job().unwrap().tasks[&task];
    let (outcomes, silent): (&[Outcome], &[Outcome]) = match found.name {
        TaskName::Create | TaskName::Delete => (
            &[Outcome::Done, Outcome::DoneButFailed, Outcome::Failed, Outcome::Refused],
            &[Outcome::Done, Outcome::Failed],
        ),
        _ if state.machines.has(&found.node) => (&[Outcome::Done, Outcome::Failed], &[Outcome::Failed]),
        _ => (&[Outcome::Failed], &[Outcome::Failed]),
    };
    let finish = outcomes.iter().map(|&outcome| Move::Finish { task, attempt, outcome });
    finish.chain(silent.iter().map(|&outcome| Move::TimeOut { task, attempt, outcome })).collect()
}

/// What came of a move.
pub struct Made {
    pub state: State,
    pub events: Vec<Event>,
}

/// The state after a move, or why it is refused.
pub fn made(state: &State, it: &Move) -> Result<Made, Refusal> {
    let mut next = state.clone();
    let command = match it {
        Move::Tell(command) => (**command).clone(),
        Move::Lease { command, at } => {
            next.now = next.now.max(*at);
            (**command).clone()
        }
        Move::Start { task, not_before } => {
            next.now = next.now.max(*not_before);
            Command::StartAttempt { task: *task, worker: "w1".into() }
        }
        Move::Finish { task, attempt, outcome } => {
            next.carry_out(*task, *outcome);
            Command::FinishAttempt { task: *task, attempt: *attempt, report: outcome.report() }
        }
        Move::TimeOut { task, attempt, outcome } => {
            next.carry_out(*task, *outcome);
            Command::TimeOutAttempt { task: *task, attempt: *attempt }
        }
        Move::NobodyTakes { task, at } => {
            next.now = next.now.max(*at);
            Command::TimeOutQueue { task: *task, why: "there are none".into() }
        }
        Move::Die(node) => {
            next.machines.die(node);
            return Ok(Made { state: next, events: Vec::new() });
        }
    };
    let events = decide(&state.cluster, command, next.now)?;
    Ok(Made { state: next.after(&events), events })
}

impl State {
    fn carry_out(&mut self, task: u32, outcome: Outcome) {
        self.machines.see(&self.cluster.latest_job().unwrap().tasks[&task], outcome);
    }

    fn after(self, events: &[Event]) -> Self {
        let Self { cluster, mut machines, now } = self;
        let mut cluster = Some(cluster);
        for event in events {
            apply(&mut cluster, event);
        }
        let mut cluster = cluster.unwrap();
        machines.check(&cluster);
        // Jobs before the latest one with tasks are history.
        let with_tasks = cluster.jobs.values().rev().find(|job| !job.tasks.is_empty());
        if let Some(first) = with_tasks.map(|job| job.id.number) {
            cluster.jobs.retain(|number, _| *number >= first);
        }
        Self { cluster, machines, now }
    }

    /// Panics unless all holds that must hold of a state that came of a move: also when it is read back from what was stored
    /// of the state before and of the events, as after a crash, and when it is decided once more.
    pub fn check_new(&self, before: &Self, events: &[Event]) {
        check(&self.cluster);
        self.check_attempts();
        if events.is_empty() {
            return;
        }
        let stored = serde_json::to_string(&(&before.cluster, events)).unwrap();
        let (cluster, events): (Cluster, Vec<Event>) = serde_json::from_str(&stored).unwrap();
        assert_eq!(cluster, before.cluster, "a stored cluster is read back");
        assert_eq!(redecide(Some(&cluster), &events), Redecided::Same(events.len()), "{events:#?}");
        let again = Self { cluster, machines: self.machines.clone(), now: self.now }.after(&events);
        assert_eq!(again.cluster, self.cluster, "a replay gives the state that was");
    }

    /// Panics unless whoever acts is told of all that has become due.
    pub fn check_told(&self, earlier: &[Effect], events: &[Event]) {
        let added = due_after(&self.cluster, events);
        for effect in due(&self.cluster).into_iter().filter(|effect| !earlier.contains(effect)) {
            assert!(added.contains(&effect), "nobody is told of {effect:?} after {events:#?}");
        }
    }

    /// A task is not tried more often than it may be, unless somebody resumes a job that has paused for it.
    fn check_attempts(&self) {
        let most = self.cluster.limits.max_attempts as usize;
        let of_job = self.cluster.latest_job().filter(|job| job.rollout.is_none());
        let mut tasks = of_job.into_iter().flat_map(|job| job.tasks.values());
        assert!(tasks.all(|task| task.attempts.len() <= most), "a task is tried again and again");
    }

    /// Panics unless what is told of attempts that are over, or that never were, is refused.
    pub fn check_late_reports(&self) {
        let job = self.cluster.latest_job().unwrap();
        for task in job.tasks.values() {
            let open = task.open_attempt().map(|attempt| attempt.number);
            let attempts = task.attempts.iter().map(|attempt: &Attempt| attempt.number);
            for attempt in attempts.chain([task.next_attempt()]).filter(|number| Some(*number) != open) {
                let report = Outcome::Done.report();
                let late = Command::FinishAttempt { task: task.id.number, attempt, report };
                let refused = decide(&self.cluster, late, self.now);
                assert!(matches!(refused, Err(Refusal::StaleAttempt { .. })), "{}: {refused:?}", task.id);
            }
            if task.state != TaskState::Waiting {
                let twice = Command::StartAttempt { task: task.id.number, worker: "w2".into() };
                assert!(decide(&self.cluster, twice, self.now).is_err(), "{} starts again", task.id);
            }
        }
    }
}
