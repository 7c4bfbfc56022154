//! Every state that a small cluster can reach, breadth first: from each a delete leaves nothing, each refusal says what
//! would make it possible, and a cluster at rest can go on.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

use cooperage_domain::cluster::{
    Cluster, ClusterStatus, Command, Effect, JobStatus, Revision, ServiceChange, TaskState, due,
};
use cooperage_domain::entity::Service;
use cooperage_domain::layout::Shrinkage;
use cooperage_domain::task::TaskName;
use serde_json::json;

use crate::machines::Outcome;
use crate::refusals::check_remedy;
use crate::rig::Rig;
use crate::sketch::Sketch;
use crate::table;

/// Two services on two nodes. A task that fails is not tried again, or once.
fn sketch(max_attempts: u32) -> Sketch {
    let mut sketch = Sketch::new("db: start stop\nweb: start stop probe | db\nn1 = db\nn2 = web");
    let web = sketch.services.get_mut("web").unwrap();
    web.inputs = serde_json::from_value(json!([{"name": "title", "at": "web.title"}])).unwrap();
    web.errands = serde_json::from_value(json!({"smoke": {"type": "shell"}})).unwrap();
    sketch.config = json!({"web": {"title": "one"}});
    sketch.template = json!({"name": "shop", "constraints": {"layout": {"cantcoexist": [["db", "web"]]},
        "services": {"db": {"quantities": {"min": 1, "max": 1}}, "web": {"quantities": {"min": 1}}}}});
    sketch.limits.max_attempts = max_attempts;
    sketch
}

/// What people ask of a cluster.
fn commands(cluster: &Cluster) -> Vec<Command> {
    let by = table::by;
    let mut commands = vec![
        table::delete(false),
        table::delete(true),
        table::cancel(false),
        table::cancel(true),
        Command::Abort { by: by() },
        Command::Retry { by: by() },
        Command::Pause { by: by() },
        Command::Resume { by: by() },
        table::configure(true),
        table::reconfigure(cluster, None),
        table::change(ServiceChange::Stop, None),
        table::change(ServiceChange::Start, Some("web")),
        table::shrink(Shrinkage::To(2)),
        table::replace(&["n2"], false, None),
        table::replace(&["n1"], true, None),
        table::roll_back(cluster),
        table::converge(true),
        table::converge(false),
        table::errand("smoke"),
        table::remove("web"),
    ];
    // Numbers are not given twice, so a cluster that grew again and again would never come back to where it was.
    if cluster.next_node() == 1002 {
        commands.push(table::grow(3));
    }
    if cluster.definitions.contains_key("web") {
        commands.push(table::upgrade(cluster, None));
    }
    commands
}

/// One step on the way to a state.
#[derive(Debug, Clone)]
enum Move {
    Tell(Box<Command>),
    Start(u32),
    Finish(u32, u32, Outcome),
}

/// Which of the tasks that may start are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// The first one, when nothing else runs.
    OneByOne,
    /// Any, also beside others.
    Any,
}

/// All that can happen next.
fn moves(cluster: &Cluster, order: Order) -> Vec<Move> {
    let mut moves: Vec<Move> = Vec::new();
    let mut effects = due(cluster);
    if order == Order::OneByOne {
        let place = effects.iter().position(|effect| matches!(effect, Effect::Follow { .. }));
        let place =
            place.or_else(|| effects.iter().position(|effect| matches!(effect, Effect::Start { .. })));
        effects = place.map(|place| effects.swap_remove(place)).into_iter().collect();
    }
    for effect in effects {
        match effect {
            Effect::Start { task, .. } => moves.push(Move::Start(task)),
            Effect::Follow { task, attempt, .. } => {
                let name = cluster.latest_job().unwrap().tasks[&task].name;
                moves.push(Move::Finish(task, attempt, Outcome::Done));
                moves.push(Move::Finish(task, attempt, Outcome::Failed));
                if matches!(name, TaskName::Create | TaskName::Delete) {
                    moves.push(Move::Finish(task, attempt, Outcome::DoneButFailed));
                    moves.push(Move::Finish(task, attempt, Outcome::Refused));
                }
            }
            Effect::Halt { .. }
            | Effect::Overdue { .. }
            | Effect::Expire { .. }
            | Effect::Warn { .. }
            | Effect::CutShort { .. } => {}
        }
    }
    moves.extend(commands(cluster).into_iter().map(|command| Move::Tell(Box::new(command))));
    moves
}

/// The state after a move; `None` when it is refused.
fn made(rig: &Rig, it: &Move) -> Option<Rig> {
    let mut next = rig.clone();
    // What led here is kept beside it: see `Explorer::way`.
    next.world.journal.clear();
    match it {
        Move::Tell(command) => match next.tell((**command).clone()) {
            Ok(()) => {}
            Err(refusal) => {
                check_remedy(&refusal);
                return None;
            }
        },
        Move::Start(task) => {
            let not_before = rig.cluster().latest_job()?.tasks[task].not_before;
            next.start(*task, not_before).ok()?;
        }
        Move::Finish(task, attempt, outcome) => next.finish(*task, *attempt, *outcome),
    }
    Some(next)
}

/// All of a state that matters for what can happen next: no times, no numbers of events, no jobs that have ended but the
/// last.
fn key(rig: &Rig) -> u64 {
    let cluster = rig.cluster();
    let mut hasher = DefaultHasher::new();
    let mut note = |text: String| text.hash(&mut hasher);
    note(format!("{:?} {:?} {:?}", cluster.status, cluster.then, rig.machines));
    for (id, node) in &cluster.nodes {
        note(format!("{id} {} {:?}", node.may_have_machine(), node.properties.services));
    }
    for (id, unit) in &cluster.units {
        note(format!("{id} {unit:?}"));
    }
    note(format!("{:?} {:?} {}", cluster.config, versions(&cluster.definitions), cluster.next_node()));
    note(format!("{:?}", cluster.previous.as_deref().map(summary)));
    let job = cluster.latest_job().unwrap();
    note(format!("{} {:?} {} {} {:?}", job.action, job.status, job.stop, job.extensions, job.rollout));
    let first = job.tasks.keys().next().copied().unwrap_or_default();
    for (number, task) in job.tasks.iter().filter(|_| job.ended.is_none()) {
        let after: Vec<u32> = task.after.iter().map(|before| before - first).collect();
        let tried = if task.state == TaskState::Done { 0 } else { task.attempts.len() };
        let what = format!("{} {} {:?} {:?}", task.name, task.node, task.service, task.errand);
        note(format!("{} {what} {:?} {tried} {after:?}", number - first, task.state));
    }
    hasher.finish()
}

/// What a way back leads to.
fn summary(revision: &Revision) -> String {
    let Revision { config, nodes, wanted, definitions, .. } = revision;
    let nodes: Vec<_> = nodes.iter().map(|(id, node)| (id, &node.services)).collect();
    format!("{config:?} {nodes:?} {wanted:?} {:?}", versions(definitions))
}

/// The services, and whether each has been upgraded: nothing else of them changes here.
fn versions(definitions: &BTreeMap<String, Service>) -> Vec<(&String, bool)> {
    let newer =
        |service: &Service| service.provisioner.actions.values().any(|it| it.fields.contains_key("args"));
    definitions.iter().map(|(name, service)| (name, newer(service))).collect()
}

/// What has been seen.
#[derive(Default)]
struct Explorer {
    /// By state: the one before, and the move from there.
    seen: HashMap<u64, Option<(u64, Move)>>,
    /// States from which what is due ends in nothing left.
    ending: HashSet<u64>,
    moves: usize,
    at_rest: usize,
    /// How many moves lead to the last one that was looked at.
    far: usize,
}

impl Explorer {
    /// All states that can be reached from `start`, nearest first, or the first `most` of them.
    fn explore(&mut self, start: Rig, order: Order, most: usize) {
        self.seen.insert(key(&start), None);
        let mut queue = VecDeque::from([(start, 0)]);
        while let Some((rig, far)) = queue.pop_front() {
            self.far = far;
            let here = key(&rig);
            self.check(&rig, here);
            for it in moves(rig.cluster(), order) {
                let next = std::panic::catch_unwind(|| made(&rig, &it));
                let next = next.unwrap_or_else(|_| panic!("{}then {it:?}", self.way(here)));
                let Some(next) = next else { continue };
                self.moves += 1;
                let there = key(&next);
                if self.seen.len() < most && !self.seen.contains_key(&there) {
                    self.seen.insert(there, Some((here, it)));
                    queue.push_back((next, far + 1));
                }
            }
        }
    }

    fn check(&mut self, rig: &Rig, here: u64) {
        let cluster = rig.cluster();
        let pending = cluster.status == ClusterStatus::Pending;
        let mut gone = rig.clone();
        gone.world.journal.clear();
        let told = gone.tell(table::delete(true));
        assert!(told.is_ok(), "{}a delete is refused: {told:?}", self.way(here));
        let fault = self.runs_out(gone);
        assert!(fault.is_none(), "{}a delete {}", self.way(here), fault.unwrap_or_default());
        if !pending {
            self.at_rest += 1;
            let stopped = matches!(cluster.status, ClusterStatus::Incomplete | ClusterStatus::Inconsistent);
            let ways = [Command::Retry { by: table::by() }, table::delete(false)];
            let goes_on = ways.into_iter().any(|way| rig.clone().tell(way).is_ok());
            assert!(!stopped || goes_on, "{}it can neither go on nor be deleted", self.way(here));
        }
    }

    /// Runs what is due without trouble, up to a state of which the end is known; what is wrong if it does not end in
    /// nothing.
    fn runs_out(&mut self, mut rig: Rig) -> Option<String> {
        let mut passed = Vec::new();
        loop {
            let state = key(&rig);
            if self.ending.contains(&state) {
                break;
            }
            passed.push(state);
            if rig.world.job().status == JobStatus::Paused && rig.next().is_none() {
                return Some("waits for a job that has paused".into());
            }
            if rig.step(Rig::smooth).is_none() {
                if rig.cluster().status != ClusterStatus::Terminated || !rig.machines.is_empty() {
                    return Some(format!("ends {} with {:?}", rig.cluster().status, rig.machines));
                }
                break;
            }
            rig.world.journal.clear();
            if passed.len() > 500 {
                return Some("does not end".into());
            }
        }
        self.ending.extend(passed);
        None
    }

    /// How a state was reached, one move per line.
    fn way(&self, state: u64) -> String {
        let (mut moves, mut at) = (Vec::new(), state);
        while let Some(Some((before, it))) = self.seen.get(&at) {
            moves.push(it);
            at = *before;
        }
        let mut text = String::new();
        for it in moves.into_iter().rev() {
            let line = format!("{it:?}");
            let _ = writeln!(text, "{}", line.chars().take(200).collect::<String>());
        }
        text
    }
}

#[test]
fn from_every_state_a_delete_leaves_nothing() {
    let most = std::env::var("COOPERAGE_STATES").ok().and_then(|most| most.parse().ok()).unwrap_or(300);
    for (attempts, order) in [(1, Order::OneByOne), (2, Order::OneByOne), (1, Order::Any)] {
        for start in [Rig::new(&sketch(attempts)), Rig::created(&sketch(attempts))] {
            let mut explorer = Explorer::default();
            explorer.explore(start, order, most);
            println!(
                "{} states, {} of them at rest, up to {} moves away, {} moves; tasks {order:?}, tried {attempts} times",
                explorer.seen.len(),
                explorer.at_rest,
                explorer.far,
                explorer.moves
            );
        }
    }
}
