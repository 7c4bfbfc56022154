//! All states that can be reached, breadth first, until there is no further one.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cooperage_domain::cluster::{CareChange, ClusterStatus, Command, Event, WaitCode, due};
use cooperage_domain::task::TaskName;

use super::moves::{Asks, Made, Move, made, moves};
use super::state::{Key, Keys, State};
use crate::machines::Outcome;
use crate::refusals::check_remedy;
use crate::waits::check_reasons;

/// Whose states are looked at.
pub struct Explored {
    pub start: State,
    pub asks: Asks,
    pub machines_die: bool,
}

/// What was found.
#[derive(Default)]
pub struct Found {
    pub states: usize,
    /// Whether the queue ran empty: every move from every state leads to a state that was looked at.
    pub is_closed: bool,
    /// States in which no job is under way.
    pub at_rest: usize,
    /// Moves that led anywhere, and those that were refused.
    pub moves: u64,
    pub refused: u64,
    /// How many moves lead to the farthest state.
    pub depth: u32,
    /// How many moves after a delete nothing is left, at the most.
    pub longest_delete: u32,
    /// Kinds of commands that were carried out.
    pub told: BTreeSet<&'static str>,
    /// Reasons of tasks that waited, by kind.
    pub waits: BTreeMap<WaitCode, u64>,
}

/// How a state was reached first: the one before, and which of its moves.
#[derive(Clone, Copy)]
struct Way {
    before: u32,
    it: u16,
    depth: u32,
}

/// Where a delete leads from a state.
#[derive(Clone, Copy, PartialEq)]
enum Towards {
    /// Not looked at yet.
    Unknown,
    /// The cluster is gone, and nothing is left.
    Nothing,
    /// The next state on the way there.
    State(u32),
}

struct Explorer<'a> {
    of: &'a Explored,
    keys: Keys,
    places: HashMap<Key, u32>,
    ways: Vec<Way>,
    deletes: Vec<Towards>,
    queue: VecDeque<(u32, State)>,
    found: Found,
}

/// All states that can be reached, or about as many as `most`.
pub fn explore(of: &Explored, most: usize) -> Found {
    let mut explorer = Explorer {
        of,
        keys: Keys::default(),
        places: HashMap::new(),
        ways: Vec::new(),
        deletes: Vec::new(),
        queue: VecDeque::new(),
        found: Found::default(),
    };
    let key = explorer.keys.of(&of.start);
    explorer.add(key, of.start.clone(), Way { before: 0, it: 0, depth: 0 });
    while explorer.ways.len() < most
        && let Some((here, state)) = explorer.queue.pop_front()
    {
        explorer.expand(here, &state);
        if here % 100_000 == 99_999 {
            println!("{} states, {} of them wait to be looked at", explorer.ways.len(), explorer.queue.len());
        }
    }
    let mut found = std::mem::take(&mut explorer.found);
    found.states = explorer.ways.len();
    found.is_closed = explorer.queue.is_empty();
    found.depth = explorer.ways.last().map_or(0, |way| way.depth);
    if found.is_closed {
        found.longest_delete = explorer.longest_delete();
    }
    found
}

impl Explorer<'_> {
    fn expand(&mut self, here: u32, state: &State) {
        self.checked(here, None, |it| {
            state.check_late_reports();
            check_reasons(&state.cluster, state.now, &mut it.found.waits);
        });
        let moves = moves(state, self.of.asks, self.of.machines_die);
        let depth = self.ways[here as usize].depth + 1;
        let earlier = due(&state.cluster);
        let mut led: Vec<Option<u32>> = vec![None; moves.len()];
        for (number, it) in (0..).zip(&moves) {
            let made = self.checked(here, Some(it), |this| this.made_of(state, it));
            let Some(Made { state: next, events }) = made else { continue };
            self.found.moves += 1;
            let changes = !events.is_empty() || matches!(it, Move::Die(_));
            self.checked(here, Some(it), |_| next.check_told(&earlier, &events));
            let there = if changes {
                self.arrive(next, Way { before: here, it: number, depth }, (state, it, &events))
            } else {
                here
            };
            led[usize::from(number)] = Some(there);
        }
        self.checked(here, None, |this| this.rests(state, here, &moves, &led));
        let towards = towards_nothing(state, here, &moves, &led);
        self.deletes[here as usize] =
            towards.unwrap_or_else(|| panic!("{}a delete does not go on", self.way(here)));
    }

    /// The place of the state that a move has led to. One that nobody has been in before is checked.
    fn arrive(&mut self, next: State, way: Way, (state, it, events): (&State, &Move, &[Event])) -> u32 {
        let key = self.keys.of(&next);
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        self.checked(way.before, Some(it), |_| next.check_new(state, events));
        self.add(key, next, way)
    }

    fn add(&mut self, key: Key, state: State, way: Way) -> u32 {
        let place = u32::try_from(self.ways.len()).unwrap();
        self.places.insert(key, place);
        self.ways.push(way);
        self.deletes.push(Towards::Unknown);
        self.queue.push_back((place, state));
        place
    }

    fn made_of(&mut self, state: &State, it: &Move) -> Option<Made> {
        match made(state, it) {
            Ok(made) => {
                self.found.told.extend(told_by(it));
                Some(made)
            }
            Err(refusal) => {
                self.found.refused += 1;
                // While its node is busy, or as much runs as may, a task neither begins nor is given up.
                let is_blocked = matches!(it, Move::Start { .. } | Move::NobodyTakes { .. });
                assert!(is_blocked || matches!(it, Move::Tell(_)), "refused: {refusal}");
                if let Move::Tell(_) = it {
                    check_remedy(&refusal);
                }
                None
            }
        }
    }

    /// A cluster at rest that has stopped half-way can go on or be deleted.
    fn rests(&mut self, state: &State, here: u32, moves: &[Move], led: &[Option<u32>]) {
        let status = state.cluster.status;
        if status == ClusterStatus::Pending {
            return;
        }
        self.found.at_rest += 1;
        let goes_on = moves.iter().zip(led).any(|(it, there)| {
            let leads_on = there.is_some_and(|there| there != here);
            leads_on && matches!(told_by(it), Some("Retry" | "Delete" | "Release"))
        });
        let stopped = matches!(status, ClusterStatus::Incomplete | ClusterStatus::Inconsistent);
        assert!(!stopped || goes_on, "it can neither go on nor be deleted");
    }

    /// Runs what may panic, and says how the state was reached if it does.
    fn checked<T>(&mut self, here: u32, it: Option<&Move>, run: impl FnOnce(&mut Self) -> T) -> T {
        let result = catch_unwind(AssertUnwindSafe(|| run(self)));
        result.unwrap_or_else(|_| panic!("{}then {it:?}", self.way(here)))
    }

    /// How many moves at the most lead from a state to nothing, once its delete is asked for. Every state has a way there.
    fn longest_delete(&self) -> u32 {
        let mut lengths: Vec<Option<u32>> = vec![None; self.deletes.len()];
        for place in 0..self.deletes.len() {
            let mut passed = Vec::new();
            let mut at = place;
            while lengths[at].is_none() {
                passed.push(at);
                match self.deletes[at] {
                    Towards::Nothing => lengths[at] = Some(0),
                    Towards::State(next) => at = next as usize,
                    Towards::Unknown => unreachable!("every state was looked at"),
                }
                assert!(passed.len() <= self.deletes.len(), "{}a delete does not end", self.way(at as u32));
            }
            for before in passed.into_iter().rev() {
                if lengths[before].is_none() {
                    let Towards::State(next) = self.deletes[before] else { unreachable!() };
                    lengths[before] = lengths[next as usize].map(|length| length + 1);
                }
            }
        }
        lengths.into_iter().flatten().max().unwrap_or(0)
    }

    /// How a state was reached, one move per line.
    fn way(&self, place: u32) -> String {
        let mut steps = Vec::new();
        let mut at = place;
        while at != 0 {
            steps.push(self.ways[at as usize].it);
            at = self.ways[at as usize].before;
        }
        let mut text = String::new();
        let mut state = self.of.start.clone();
        for step in steps.into_iter().rev() {
            let it = moves(&state, self.of.asks, self.of.machines_die).swap_remove(step.into());
            let line = format!("{it:?}");
            let _ = writeln!(text, "{}", line.chars().take(200).collect::<String>());
            state = made(&state, &it).map_or(state, |made| made.state);
        }
        let job = state.cluster.latest_job();
        let _ = writeln!(
            text,
            "{} with {:?} {:?}",
            state.cluster.status,
            state.machines,
            job.map(|job| job.status)
        );
        text
    }
}

/// Where a delete leads, when nobody does anything else and nothing goes wrong. First clusters on top of it are gone; then it is
/// asked for; then each attempt ends
/// well, the next task begins, and when there is nothing else to do because of maintenance, that ends.
fn towards_nothing(state: &State, here: u32, moves: &[Move], led: &[Option<u32>]) -> Option<Towards> {
    if state.cluster.status == ClusterStatus::Terminated {
        return state.machines.is_empty().then_some(Towards::Nothing);
    }
    let to = |wanted: &dyn Fn(&Move) -> bool| {
        let place = moves.iter().position(wanted)?;
        led[place].filter(|there| *there != here).map(Towards::State)
    };
    let asks = |it: &Move| matches!(it, Move::Tell(it) if matches!(**it, Command::Delete { now: true, .. }));
    let job = state.cluster.latest_job()?;
    let ends_well = |it: &Move| {
        let Move::Finish { task, outcome, .. } = it else { return false };
        let task = &job.tasks[task];
        let of_machine = matches!(task.name, TaskName::Create | TaskName::Delete);
        let nowhere = !of_machine && !state.machines.has(&task.node);
        *outcome == if nowhere { Outcome::Failed } else { Outcome::Done }
    };
    let ends_maintenance = |it: &Move| {
        let Move::Tell(it) = it else { return false };
        let Command::Care { changes, .. } = &**it else { return false };
        matches!(changes[..], [CareChange::Maintenance { reason: None, .. }])
    };
    let releases = |it: &Move| told_by(it) == Some("Release");
    to(&releases)
        .or_else(|| to(&asks))
        .or_else(|| to(&ends_well))
        .or_else(|| to(&|it| matches!(it, Move::Start { .. })))
        .or_else(|| led_by(moves, led, ends_maintenance).find(|there| *there != here).map(Towards::State))
}

/// Where the moves of a kind lead.
fn led_by<'a>(
    moves: &'a [Move],
    led: &'a [Option<u32>],
    wanted: impl Fn(&Move) -> bool + 'a,
) -> impl Iterator<Item = u32> + 'a {
    moves.iter().zip(led).filter(move |(it, _)| wanted(it)).filter_map(|(_, there)| *there)
}

/// The name of the command that a move tells, if it tells one.
fn told_by(it: &Move) -> Option<&'static str> {
    match it {
        Move::Tell(command) | Move::Lease { command, .. } => Some(kind(command)),
        Move::Start { .. } => Some("StartAttempt"),
        Move::Finish { .. } => Some("FinishAttempt"),
        Move::TimeOut { .. } => Some("TimeOutAttempt"),
        Move::NobodyTakes { .. } => Some("TimeOutQueue"),
        Move::Die(_) => None,
    }
}

/// The name of a command. A new one does not compile until it is named here, and `every_command_is_a_move` fails until it is a
/// move.
const fn kind(command: &Command) -> &'static str {
    match command {
        Command::Delete { .. } => "Delete",
        Command::Cancel { .. } => "Cancel",
        Command::Resize { .. } => "Resize",
        Command::RemoveServices { .. } => "RemoveServices",
        Command::Replace { .. } => "Replace",
        Command::Reconfigure { .. } => "Reconfigure",
        Command::Upgrade { .. } => "Upgrade",
        Command::RollBack { .. } => "RollBack",
        Command::Converge { .. } => "Converge",
        Command::RunErrand { .. } => "RunErrand",
        Command::Retry { .. } => "Retry",
        Command::Abort { .. } => "Abort",
        Command::ChangeServices { .. } => "ChangeServices",
        Command::Configure { .. } => "Configure",
        Command::AddServices { .. } => "AddServices",
        Command::Pause { .. } => "Pause",
        Command::Resume { .. } => "Resume",
        Command::Prolong { .. } => "Prolong",
        Command::WarnOfExpiry => "WarnOfExpiry",
        Command::SyncTemplate { .. } => "SyncTemplate",
        Command::GiveFields { .. } => "GiveFields",
        Command::Care { .. } => "Care",
        Command::Adopt { .. } => "Adopt",
        Command::Release { .. } => "Release",
        Command::Inherit { .. } => "Inherit",
        Command::StartAttempt { .. } => "StartAttempt",
        Command::FinishAttempt { .. } => "FinishAttempt",
        Command::TimeOutQueue { .. } => "TimeOutQueue",
        Command::TimeOutAttempt { .. } => "TimeOutAttempt",
    }
}
