//! What is counted of one actor.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::histogram::Histogram;
use super::switch::{Fault, Switch};
use super::{Console, lock};

/// Pairs of messages that are told from each other at most; there are fewer kinds of messages to any actor.
const MOST_PAIRS: usize = 256;

/// Whether an actor takes messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorState {
    /// It does.
    Running,
    /// It was paused.
    Paused,
    /// It was told to stop, and does as soon as what it decided is durable.
    Stopping,
}

/// How an actor stands at a moment.
#[derive(Debug, Clone)]
pub struct ActorSample {
    /// Where it lives: `/registry`, `/clusters/ID`, `/clusters/ID/nodes/NODE`, `/pools/TENANT`, …
    pub path: Arc<str>,
    /// Tells it from earlier ones at the same path.
    pub number: u64,
    /// What it is: `Cluster`, `Node`, …
    pub kind: &'static str,
    /// Whether it takes messages.
    pub state: ActorState,
    /// Messages that wait for it.
    pub waiting: usize,
    /// Messages it has handled.
    pub handled: u64,
    /// How long it was busy while somebody looked, in ns.
    pub busy_ns: u64,
    /// How often the actor at this path was started again after it ended otherwise than in order.
    pub restarts: u32,
    /// Why it ended so the last time.
    pub last_error: Option<String>,
    /// What is to go wrong with its next message.
    pub fault: Option<Fault>,
    /// Whether somebody would start it again from the journal.
    pub is_started_again: bool,
    /// When it was looked at, in ns on the clock of `busy_ns`.
    pub at_ns: u64,
}

/// How long messages of one kind that came while others were handled waited and took.
#[derive(Debug, Clone)]
pub struct Latency {
    /// The kind of the message that was being handled when it was sent; `None`: none, as far as is known.
    pub from: Option<&'static str>,
    /// Its own kind.
    pub to: &'static str,
    /// From when it was sent until it was its turn.
    pub waited: Histogram,
    /// How long the handler took.
    pub taken: Histogram,
}

/// How an actor ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ending {
    /// It had nothing to do any more, or the server stops.
    InOrder,
    /// It was told to.
    Restarted,
    /// It broke.
    Failed(String),
}

type Pair = (Option<&'static str>, &'static str);

/// Kept for each actor, written by its own thread alone but for the switch.
#[derive(Debug)]
pub(super) struct Meter {
    pub(super) console: Console,
    pub(super) number: u64,
    pub(super) path: Arc<str>,
    pub(super) kind: &'static str,
    pub(super) switch: Switch,
    waiting: AtomicU32,
    restarts: u32,
    handled: AtomicU64,
    busy_ns: AtomicU64,
    /// What few actors ever have.
    rare: OnceLock<Box<Rare>>,
}

#[derive(Debug, Default)]
struct Rare {
    last_error: Mutex<Option<String>>,
    failure: Mutex<Option<String>>,
    /// How many look closely.
    examiners: AtomicUsize,
    latencies: Mutex<BTreeMap<Pair, (Histogram, Histogram)>>,
}

impl Meter {
    pub(super) fn new(
        console: Console,
        number: u64,
        path: Arc<str>,
        kind: &'static str,
        restarts: u32,
        last_error: Option<String>,
    ) -> Self {
        let meter = Self {
            console,
            number,
            path,
            kind,
            switch: Switch::default(),
            waiting: AtomicU32::new(0),
            restarts,
            handled: AtomicU64::new(0),
            busy_ns: AtomicU64::new(0),
            rare: OnceLock::new(),
        };
        if last_error.is_some() {
            *lock(&meter.rare().last_error) = last_error;
        }
        meter
    }

    fn rare(&self) -> &Rare {
        self.rare.get_or_init(Box::default)
    }

    /// The actor is about to end, because of this.
    pub(super) fn note_failure(&self, reason: String) {
        *lock(&self.rare().failure) = Some(reason);
    }

    pub(super) fn take_failure(&self) -> Option<String> {
        self.rare.get().and_then(|rare| lock(&rare.failure).take())
    }

    /// Whether somebody starts it again from the journal when it ends.
    pub(super) fn is_started_again(&self) -> bool {
        matches!(self.kind, "Cluster" | "Node")
    }

    /// So many messages wait now.
    pub(super) fn set_waiting(&self, waiting: usize) {
        self.waiting.store(u32::try_from(waiting).unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    /// A message is handled. Only the actor's own thread writes, so that no locked addition is needed.
    pub(super) fn count(&self) {
        self.handled.store(self.handled.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    pub(super) fn was_busy(&self, ns: u64) {
        self.busy_ns.store(self.busy_ns.load(Ordering::Relaxed).saturating_add(ns), Ordering::Relaxed);
    }

    pub(super) fn last_error(&self) -> Option<String> {
        self.rare.get().and_then(|rare| lock(&rare.last_error).clone())
    }

    pub(super) fn examine(&self) {
        self.rare().examiners.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn leave_alone(&self) {
        let rare = self.rare();
        if rare.examiners.fetch_sub(1, Ordering::Relaxed) == 1 {
            lock(&rare.latencies).clear();
        }
    }

    /// Notes how long a message waited and took, when somebody looks closely.
    pub(super) fn note(&self, pair: Pair, waited_ns: Option<u64>, taken_ns: u64) {
        let examined = self.rare.get().filter(|rare| rare.examiners.load(Ordering::Relaxed) != 0);
        let Some(rare) = examined else { return };
        let mut latencies = lock(&rare.latencies);
        if latencies.len() < MOST_PAIRS || latencies.contains_key(&pair) {
            let (waited, taken) = latencies.entry(pair).or_default();
            waited_ns.into_iter().for_each(|ns| waited.add(ns));
            taken.add(taken_ns);
        }
    }

    pub(super) fn latencies(&self) -> Vec<Latency> {
        let latencies = lock(&self.rare().latencies);
        let each = latencies.iter().map(|((from, to), (waited, taken))| Latency {
            from: *from,
            to,
            waited: waited.clone(),
            taken: taken.clone(),
        });
        each.collect()
    }

    pub(super) fn sample(&self) -> ActorSample {
        let state = match (self.switch.is_to_stop(), self.switch.is_paused()) {
            (true, _) => ActorState::Stopping,
            (false, true) => ActorState::Paused,
            (false, false) => ActorState::Running,
        };
        ActorSample {
            path: Arc::clone(&self.path),
            number: self.number,
            kind: self.kind,
            state,
            waiting: self.waiting.load(Ordering::Relaxed) as usize,
            handled: self.handled.load(Ordering::Relaxed),
            busy_ns: self.busy_ns.load(Ordering::Relaxed),
            restarts: self.restarts,
            last_error: self.last_error(),
            fault: self.switch.fault(),
            is_started_again: self.is_started_again(),
            at_ns: crate::clock::ticks(),
        }
    }
}
