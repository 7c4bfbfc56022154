//! Random clusters, random commands, and a world that executes what is due in any order.

use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::cluster::{
    ClusterStatus, Command, Effect, Event, JobStatus, Limits, Refusal, ServiceChange, due, due_after,
};
use cooperage_domain::plan::ClusterAction;
use cooperage_domain::task::TaskReport;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use serde_json::{Map, Value, json};

use crate::provider::Outside;
use crate::sketch::Sketch;
use crate::world::World;

/// Something that is done to a cluster.
#[derive(Debug, Clone)]
pub enum Move {
    /// Something that is due is done: a task is started, or an open attempt is answered with this report.
    Pursue(Index, TaskReport),
    /// The time of an open attempt is up.
    TimeOut(Index),
    /// A report that was delivered before comes again, or one about anything.
    Stray(u32, u32, TaskReport),
    /// A start that nobody may have asked for.
    Start(u32),
    Abort,
    Delete,
    Retry,
    Pause,
    Resume,
    /// One of the services, or all; there may be none of that name.
    Change(ServiceChange, Option<&'static str>),
    Configure {
        restart: bool,
    },
    Add(BTreeSet<String>),
    /// The lease ends so many ms from now.
    Prolong(i64),
    SyncTemplate,
}

/// A world, and what it did to the one outside.
pub struct Driver {
    pub world: World,
    pub outside: Outside,
}

impl Driver {
    pub fn new(sketch: &Sketch) -> Self {
        Self { world: World::new(sketch), outside: Outside::default() }
    }

    /// Does a move and checks that it did what it may do.
    pub fn make(&mut self, it: Move) {
        match it {
            Move::Pursue(index, report) => {
                if let Some(effect) = self.pick(index, |_| true) {
                    self.pursue(effect, report);
                }
            }
            Move::TimeOut(index) => {
                let open = self.pick(index, |effect| matches!(effect, Effect::Follow { .. }));
                if let Some(Effect::Follow { task, attempt, deadline, .. }) = open {
                    self.world.now = deadline;
                    self.tell(Command::TimeOutAttempt { task, attempt }).unwrap();
                }
            }
            Move::Stray(task, attempt, report) => {
                let open = |effect: &Effect| matches!(effect, Effect::Follow { task: t, attempt: a, .. } if (*t, *a) == (task, attempt));
                let is_open = due(&self.world.cluster).iter().any(open);
                let told = self.tell(Command::FinishAttempt { task, attempt, report });
                assert_eq!(told.is_ok(), is_open, "only open attempts can be answered");
            }
            Move::Start(task) => {
                let may_start =
                    |effect: &Effect| matches!(effect, Effect::Start { task: t, .. } if *t == task);
                let is_due = due(&self.world.cluster).iter().any(may_start);
                let told = self.tell(Command::StartAttempt { task, worker: "w2".into() });
                assert!(is_due || told.is_err(), "only what is due can start");
            }
            Move::Abort => drop(self.tell(Command::Abort { by: "bob".into() })),
            Move::Delete => {
                let pending = self.world.cluster.status == ClusterStatus::Pending;
                assert_eq!(self.tell(Command::Delete { now: false, by: "bob".into() }).is_err(), pending);
            }
            Move::Retry => {
                let stopped = [ClusterStatus::Incomplete, ClusterStatus::Inconsistent];
                let may = stopped.contains(&self.world.cluster.status);
                let deleting = self.world.job().action == ClusterAction::ClusterDelete;
                assert_eq!(self.tell(Command::Retry { by: "bob".into() }).is_ok(), may && !deleting);
            }
            other => self.change(other),
        }
    }

    /// Does a move that changes a living cluster.
    fn change(&mut self, it: Move) {
        let status = self.world.cluster.status;
        let active = status == ClusterStatus::Active;
        let by = || "bob".to_owned();
        match it {
            Move::Pause => self.tell(Command::Pause { by: by() }).unwrap(),
            Move::Resume => self.tell(Command::Resume { by: by() }).unwrap(),
            Move::Change(change, service) => {
                let mut nodes = self.world.cluster.nodes.values();
                let known =
                    service.is_none_or(|name| nodes.any(|node| node.properties.services.contains(name)));
                let service = service.map(str::to_owned);
                let told = self.tell(Command::ChangeServices { change, service, by: by() });
                assert_eq!(told.is_ok(), active && known, "{told:?}");
            }
            Move::Configure { restart } => {
                let may = active || status == ClusterStatus::Inconsistent;
                let told = self.tell(Command::Configure { config: Map::new(), restart, by: by() });
                assert_eq!(told.is_ok(), may, "{told:?}");
            }
            Move::Add(services) => {
                let known = Sketch::new(ADDED).services.into_values().collect();
                let told = self.tell(Command::AddServices { services, known, by: by() });
                assert!(active || told.is_err());
            }
            Move::Prolong(more) => {
                let may = !matches!(status, ClusterStatus::Pending | ClusterStatus::Terminated);
                let told = self.tell(Command::Prolong { expires: self.world.now + more, by: by() });
                assert_eq!(told.is_ok(), may, "{told:?}");
            }
            Move::SyncTemplate => {
                let template = Box::new(self.world.cluster.template.clone());
                let told = self.tell(Command::SyncTemplate { template, by: by() });
                assert_eq!(told.is_ok(), active, "{told:?}");
            }
            other => unreachable!("{other:?} is no change"),
        }
    }

    /// Answers and starts everything until nothing is due; all succeeds.
    pub fn settle(&mut self) {
        for _ in 0..10_000 {
            let Some(effect) = self.pick_first() else {
                if self.world.job().status == JobStatus::Paused {
                    self.make(Move::Resume);
                    continue;
                }
                assert!(self.world.job().ended.is_some(), "every job ends");
                return;
            };
            self.pursue(effect, TaskReport::success());
        }
        panic!("the job does not end");
    }

    fn pursue(&mut self, effect: Effect, report: TaskReport) {
        match effect {
            Effect::Start { task, node, not_before } => {
                self.world.now = self.world.now.max(not_before);
                let told = self.tell(Command::StartAttempt { task, worker: "w1".into() });
                let job = self.world.job();
                let busy = |number: &u32| *number != task && job.tasks[number].node == node;
                let others = job.running.iter().filter(|number| **number != task).count();
                let limit = self.world.cluster.limits.max_running_tasks as usize;
                let full = limit != 0 && others >= limit;
                assert_eq!(told.is_ok(), !full && !job.running.iter().any(busy), "{told:?}");
            }
            Effect::Overdue { task, at } => {
                self.world.now = self.world.now.max(at);
                // Its node may be busy, or the cluster at its limit: then it is no worker that it waits for.
                let _ = self.tell(Command::TimeOutQueue { task, why: "all are busy".into() });
            }
            Effect::Follow { task, attempt, .. } => {
                self.world.now += 1;
                self.tell(Command::FinishAttempt { task, attempt, report }).unwrap();
            }
            Effect::Halt { .. } | Effect::Expire { .. } => {}
        }
    }

    fn pick(&self, index: Index, of: impl Fn(&Effect) -> bool) -> Option<Effect> {
        let mut effects = due(&self.world.cluster);
        effects.retain(of);
        (!effects.is_empty()).then(|| index.get(&effects).clone())
    }

    /// An open attempt if there is one, else a task to start.
    fn pick_first(&self) -> Option<Effect> {
        due(&self.world.cluster).into_iter().find(|effect| {
            !matches!(effect, Effect::Halt { .. } | Effect::Expire { .. } | Effect::Overdue { .. })
        })
    }

    fn tell(&mut self, command: Command) -> Result<(), Refusal> {
        let before = self.world.cluster.clone();
        let told = self.world.tell(command).map(<[Event]>::to_vec);
        let events = match told {
            Ok(events) => events,
            Err(refusal) => {
                assert_eq!(self.world.cluster, before, "a refusal changes nothing");
                return Err(refusal);
            }
        };
        self.outside.see(&before, &events);
        let gone = self.world.cluster.status == ClusterStatus::Terminated;
        assert!(!gone || self.outside.is_empty(), "no machine is left when the cluster is gone");
        let (was, is) = (effects(due(&before)), effects(due(&self.world.cluster)));
        let more = effects(due_after(&self.world.cluster, &events));
        let added = is.difference(&was).cloned().collect();
        assert!(more.is_superset(&added) && more.is_subset(&is), "{more:?} instead of {added:?}");
        let again = |effect: &&Effect| !matches!(effect, Effect::Expire { .. });
        assert!(!more.difference(&added).any(|effect| again(&effect)), "{more:?} instead of {added:?}");
        Ok(())
    }
}

fn effects(list: Vec<Effect>) -> BTreeSet<Effect> {
    let count = list.len();
    let set: BTreeSet<Effect> = list.into_iter().collect();
    assert_eq!(set.len(), count, "nothing is due twice");
    set
}

/// Up to four services that need only earlier ones, on up to three nodes.
pub fn sketch() -> impl Strategy<Value = Sketch> {
    const ACTIONS: [&str; 6] = ["install", "configure", "initialize", "start", "stop", "remove"];
    const NAMES: [&str; 4] = ["s0", "s1", "s2", "s3"];
    let service = (subsequence(&ACTIONS[..], 0..=6), subsequence(&NAMES[..], 0..=2));
    let services = prop::collection::vec(service, 1..=4);
    let nodes = prop::collection::vec(subsequence(&NAMES[..], 0..=3), 1..=3);
    let queue_timeout = prop_oneof![3 => Just(0), 1 => 1..20_i64];
    let limits = (1..=3_u32, 0..5_i64, 0..=2_u32, queue_timeout).prop_map(
        |(max_attempts, retry_delay, max_running_tasks, queue_timeout)| Limits {
            max_attempts,
            retry_delay,
            max_running_tasks,
            queue_timeout,
            ..Limits::default()
        },
    );
    (services, nodes, limits).prop_map(|(services, nodes, limits)| {
        let mut text = String::new();
        for (number, (actions, needs)) in services.iter().enumerate() {
            let needs: Vec<&str> = needs.iter().copied().filter(|name| *name < NAMES[number]).collect();
            text += &format!("{}: {} | {}\n", NAMES[number], actions.join(" "), needs.join(" "));
        }
        for (number, carried) in nodes.iter().enumerate() {
            let known: Vec<&str> =
                carried.iter().copied().filter(|name| *name < NAMES[services.len() - 1]).collect();
            text += &format!("n{number} = s0 {}\n", known.join(" "));
        }
        Sketch { limits, ..Sketch::new(&text) }
    })
}

/// Mostly progress, some trouble.
pub fn a_move() -> impl Strategy<Value = Move> {
    prop_oneof![
        30 => (any::<Index>(), report()).prop_map(|(index, report)| Move::Pursue(index, report)),
        1 => any::<Index>().prop_map(Move::TimeOut),
        2 => (0..30_u32, 0..4_u32, report()).prop_map(|(task, attempt, report)| Move::Stray(task, attempt, report)),
        1 => (0..30_u32).prop_map(Move::Start),
        1 => Just(Move::Abort),
        1 => Just(Move::Delete),
        2 => Just(Move::Retry),
        8 => a_change(),
    ]
}

/// What can be added to a cluster of [`sketch()`], if it has what is needed.
const ADDED: &str = "t0: install start stop\nt1: configure start stop | t0 s0\nt2: stop | s1\nt3: start | t2";

fn a_change() -> impl Strategy<Value = Move> {
    let change = select(vec![ServiceChange::Start, ServiceChange::Stop, ServiceChange::Restart]);
    let service = prop::option::of(select(vec!["s0", "s1", "s2", "s3", "t0", "t1", "t2"]));
    prop_oneof![
        1 => Just(Move::Pause),
        2 => Just(Move::Resume),
        4 => (change, service).prop_map(|(change, service)| Move::Change(change, service)),
        2 => any::<bool>().prop_map(|restart| Move::Configure { restart }),
        2 => subsequence(vec!["t0", "t1", "t2", "t3"], 0..=3)
            .prop_map(|names| Move::Add(names.into_iter().map(str::to_owned).collect())),
        1 => (0..10_000_i64).prop_map(Move::Prolong),
        1 => Just(Move::SyncTemplate),
    ]
}

fn report() -> impl Strategy<Value = TaskReport> {
    let code = prop_oneof![12 => Just(0_i64), 2 => Just(1), 2 => 200..300_i64, 1 => any::<i64>()];
    let hostname = prop_oneof![5 => Just(None), 1 => Just(Some("i-7.cloud".to_owned()))];
    let addresses = prop_oneof![5 => Just(None), 1 => Just(Some(BTreeMap::from([("bind_v4".to_owned(), "10.0.0.1".to_owned())])))];
    (code, result(), hostname, addresses, "[a-zü\n]{0,9}").prop_map(
        |(status, result, hostname, ipaddresses, text)| TaskReport {
            status,
            error_kind: None,
            result,
            hostname,
            ipaddresses,
            stdout: text.clone(),
            stderr: text,
        },
    )
}

/// What plugins report for later tasks: any JSON.
fn result() -> impl Strategy<Value = Map<String, Value>> {
    let value = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        ".{0,5}".prop_map(Value::from),
        prop::collection::vec(".{0,3}", 0..3).prop_map(|list| json!({"nested": list})),
    ];
    let key = select(vec!["providerid", "ssh-auth", "event", "next", "at", "hostname", ""]);
    prop::collection::vec((key.prop_map(str::to_owned), value), 0..2)
        .prop_map(|entries| entries.into_iter().collect())
}
