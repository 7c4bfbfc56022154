//! What outlives a server: time, machines, workers elsewhere, and whoever watches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cooperage_actors::clock::Clock;
use cooperage_domain::cluster::{Cluster, Event, apply};
use cooperage_domain::id::{ClusterId, NodeId};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::workers::Hand;
use crate::checkers::Checkers;
use crate::cloud::{Cloud, Execution};
use crate::coverage::Coverage;
use crate::fault::{Fault, Occasion};
use crate::kernel::MORNING;
use crate::outcome::{Outcome, Trace};
use crate::plan::Plan;
use crate::seen::Seen;

/// What outlives a server.
pub struct Outside {
    state: Mutex<State>,
    /// Told when the server that lives now is to die, or to lose its clusters.
    pub struck: Notify,
}

/// All of it that changes.
pub struct State {
    /// When this life of the server began, in ms from the begin of the run.
    base: i64,
    /// The same by tokio's time; nothing while no server lives.
    began: Option<Instant>,
    /// By how much the machine's clock differs from the true time.
    pub skew: i64,
    /// The same as the present server believes, whose clock never goes back.
    believed: i64,
    pub cloud: Cloud,
    pub checkers: Checkers,
    pub coverage: Coverage,
    pub trace: Trace,
    pub appends: u32,
    pub faults: BTreeMap<u32, Vec<Fault>>,
    /// Until when the disk is full.
    pub full_until: i64,
    /// Until when the database is gone.
    pub gone_until: i64,
    /// The server dies now, and starts again after so many ms.
    pub dies: Option<i64>,
    /// Another server takes over now.
    pub taken_over: bool,
    /// All clusters, led by what is durable.
    pub clusters: BTreeMap<ClusterId, Option<Cluster>>,
    /// What tenants' workers elsewhere have in hand, by name.
    pub hands: BTreeMap<String, Hand>,
    /// Steps that were asked for.
    pub asked: BTreeSet<usize>,
    /// Plugins at work in the process, by server and node.
    pub calls: BTreeSet<(u32, NodeId)>,
    /// Newest rights to write.
    pub epochs: BTreeMap<ClusterId, u64>,
    /// Servers that have lived.
    pub servers: u32,
    /// Whether everything that was planned has happened, so that the end may come.
    pub calm: bool,
}

impl Outside {
    pub fn new(plan: &Plan) -> Self {
        let mut faults: BTreeMap<u32, Vec<Fault>> = BTreeMap::new();
        for fault in plan.faults.iter().filter(|fault| fault.kind.occasion() == Occasion::Append) {
            faults.entry(fault.at).or_default().push(*fault);
        }
        let state = State {
            base: 0,
            began: None,
            skew: 0,
            believed: 0,
            cloud: Cloud::new(plan.seed, &plan.faults),
            checkers: Checkers::default(),
            coverage: Coverage { runs: 1, ..Coverage::default() },
            trace: Trace::default(),
            appends: 0,
            faults,
            full_until: 0,
            gone_until: 0,
            dies: None,
            taken_over: false,
            clusters: BTreeMap::new(),
            hands: BTreeMap::new(),
            asked: BTreeSet::new(),
            calls: BTreeSet::new(),
            epochs: BTreeMap::new(),
            servers: 0,
            calm: false,
        };
        Self { state: Mutex::new(state), struck: Notify::new() }
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A server begins to live.
    pub fn begin(&self) {
        let mut state = self.lock();
        state.began = Some(Instant::now());
        state.believed = state.skew;
        state.dies = None;
        state.taken_over = false;
    }

    /// It is gone, and with it what ran in its process.
    pub fn stop(&self) {
        let mut state = self.lock();
        let now = state.now();
        state.base = now;
        state.began = None;
        state.cloud.end_deaf(now);
        for (server, node) in std::mem::take(&mut state.calls) {
            state.checkers.see(&Seen::Returned { server, node: &node });
        }
    }

    /// Time passes without a server.
    pub fn pass(&self, ms: i64) {
        self.lock().base += ms;
    }

    pub fn now(&self) -> i64 {
        self.lock().now()
    }

    /// A number for one more server.
    pub fn next_server(&self) -> u32 {
        let mut state = self.lock();
        state.servers += 1;
        state.servers
    }

    /// From now on nothing goes wrong.
    pub fn calm_down(&self) {
        let mut state = self.lock();
        state.calm = true;
        state.cloud.calm_down();
    }

    /// Shows what is left in the end.
    pub fn look_back(
        &self,
        clusters: &BTreeMap<ClusterId, &Cluster>,
        journal: &BTreeMap<ClusterId, Vec<String>>,
    ) {
        let mut state = self.lock();
        state.settle();
        let state = &mut *state;
        state.checkers.see(&Seen::Over { clusters, machines: state.cloud.machines(), journal });
    }

    /// What came of it all.
    pub fn outcome(&self) -> Outcome {
        let mut state = self.lock();
        let state = &mut *state;
        state.coverage.simulated_ms = state.now().unsigned_abs();
        state.coverage.clusters = state.clusters.len() as u64;
        state.coverage.executions = u64::from(state.cloud.begun());
        for (kind, times) in state.cloud.hit() {
            state.coverage.fault(*kind, *times);
        }
        Outcome {
            violation: state.checkers.violation().cloned(),
            coverage: state.coverage.clone(),
            trace: state.trace.sum(),
        }
    }
}

impl State {
    /// Time since the begin of the run, in ms.
    pub fn now(&self) -> i64 {
        let lived = self.began.map_or(0, |began| began.elapsed().as_millis());
        self.base + i64::try_from(lived).unwrap_or(i64::MAX)
    }

    /// Whether the process that could do something is about to be gone.
    pub const fn is_dying(&self) -> bool {
        self.dies.is_some()
    }

    /// Everything in the cloud that has happened by now.
    pub fn settle(&mut self) {
        let now = self.now();
        for change in self.cloud.settle(now) {
            self.checkers.see(&change.seen());
        }
    }

    /// Events have become durable.
    pub fn record(&mut self, cluster: ClusterId, texts: &[String]) {
        let state = self.clusters.entry(cluster).or_default();
        let mut events: Vec<Event> = Vec::with_capacity(texts.len());
        for text in texts {
            self.coverage.event(text);
            self.trace.add(text);
            match serde_json::from_str(text) {
                Ok(event) => {
                    apply(state, &event);
                    events.push(event);
                }
                Err(fault) => self.checkers.broken(format!("{text} cannot be read: {fault}")),
            }
        }
        if let Some(after) = state {
            self.checkers.see(&Seen::Recorded { after, events: &events, texts });
        }
    }

    /// An execution is not under way on its machine any more.
    pub fn stopped(&mut self, execution: Execution, node: &NodeId) {
        self.checkers.see(&Seen::Stopped { execution, node });
    }
}

impl Clock for Outside {
    fn now(&self) -> i64 {
        let mut state = self.lock();
        state.believed = state.believed.max(state.skew);
        MORNING + state.now() + state.believed
    }
}
