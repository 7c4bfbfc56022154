//! A state: a cluster and the machines outside; and which states are the same.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use cooperage_domain::cluster::{Cluster, FollowUp, Job, Origins, Revision, Task, TaskState};
use cooperage_domain::entity::{ClusterTemplate, Provider, Service};
use cooperage_domain::id::NodeId;
use cooperage_domain::plan::ClusterAction;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::machines::Machines;

/// A cluster, the machines outside, and the time, which is different in states that are the same otherwise.
#[derive(Debug, Clone)]
pub struct State {
    pub cluster: Cluster,
    pub machines: Machines,
    pub now: i64,
}

/// What a state is found again by. See [`Keys::of`].
pub type Key = u128;

/// Large values that are met again and again, each told by its place among those that were met.
#[derive(Default)]
pub struct Keys {
    templates: Vec<ClusterTemplate>,
    definitions: Vec<BTreeMap<String, Service>>,
    configs: Vec<Map<String, Value>>,
    providers: Vec<Provider>,
    origins: Vec<Origins>,
    text: Bytes,
}

/// All that is fed to it, as it is.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("the bytes themselves are used")
    }
}

impl Bytes {
    fn put(&mut self, value: impl Hash) {
        value.hash(self);
    }
}

/// The place of a value among those that are known.
fn known<T: PartialEq + Clone>(all: &mut Vec<T>, value: &T) -> usize {
    all.iter().position(|it| it == value).unwrap_or_else(|| {
        all.push(value.clone());
        all.len() - 1
    })
}

/// Nodes by their numbers, those first that came first.
type Ranks<'a> = BTreeMap<&'a NodeId, usize>;

impl Keys {
    /// Two states with the same key allow the same moves, which lead to states with the same key again (a bisimulation), and
    /// everything that is checked holds in both or in neither. What is left out, and why that is so:
    ///
    /// - **Times.** Any time may pass between two moves, so a move that must wait for a time can always be made. A decision
    ///   looks at a time only to see whether such a wait is over (and the move takes the time that it needs), and at the end
    ///   of a lease, of which the key holds whether there is one and whether it was warned of.
    /// - **Numbers** of jobs, tasks and events. Decisions compare them and give new ones; no decision depends on their size.
    ///   A task is told by its place among the open ones of its job.
    /// - **Names of nodes.** They are given by a counter, and no number is given twice, so a cluster that grows again and
    ///   again never returns to the same names. Decisions look at the order of the numbers alone: a node is told by its place
    ///   among all nodes that are there or may be wanted back.
    /// - **Jobs that have ended**, but for what the latest one was and how it ended. An older one counts for the time of the
    ///   next try to delete, and times are left out.
    /// - **Tasks that are done**: they are in nobody's way any more. Whether there is one decides what is left of a create
    ///   that makes nothing.
    /// - **Tasks of a job that starts nothing more**, but those that run: they are never asked for again.
    /// - **Attempts** but their number, as far as more of them are allowed.
    /// - **Texts for people**, and who asked.
    ///
    /// The key is a hash of 128 bits of what remains; that two of a million states share one by chance is as good as
    /// impossible.
    pub fn of(&mut self, state: &State) -> Key {
        let State { cluster, machines, .. } = state;
        self.text.0.clear();
        let values = (
            known(&mut self.templates, &cluster.template),
            known(&mut self.definitions, &cluster.definitions),
            known(&mut self.configs, &cluster.config),
            known(&mut self.providers, &cluster.provider),
            known(&mut self.origins, &cluster.kin.origins),
        );
        let previous = cluster.previous.as_deref().map(|to| self.revision(to));
        let ranks = ranks(cluster);
        let out = &mut self.text;
        out.put((values, &cluster.services, cluster.status, then(cluster)));
        let children = cluster.kin.children.iter();
        out.put((cluster.kin.news, children.map(|(id, child)| (id, &child.needs)).collect::<Vec<_>>()));
        out.put((cluster.expires > 0, cluster.warned_of == cluster.expires, previous));
        of_revision(out, cluster.previous.as_deref(), &ranks);
        of_nodes(out, cluster, machines, &ranks);
        of_units(out, cluster, &ranks);
        if let Some(job) = cluster.latest_job() {
            of_job(out, cluster, job, &ranks);
        }
        let digest: [u8; 32] = Sha256::digest(&out.0).into();
        digest[..16].iter().fold(0, |key, byte| key << 8 | Key::from(*byte))
    }

    fn revision(&mut self, to: &Revision) -> (usize, usize, usize) {
        (
            known(&mut self.templates, &to.template),
            known(&mut self.definitions, &to.definitions),
            known(&mut self.configs, &to.config),
        )
    }
}

fn then(cluster: &Cluster) -> u8 {
    match cluster.then {
        None => 0,
        Some(FollowUp::Delete { .. }) => 1,
        Some(FollowUp::Undo { .. }) => 2,
    }
}

fn ranks(cluster: &Cluster) -> Ranks<'_> {
    let before = cluster.previous.iter().flat_map(|to| &to.nodes).map(|(id, it)| (it.nodenum, id));
    let mut numbered: Vec<_> =
        cluster.nodes.iter().map(|(id, node)| (node.properties.nodenum, id)).chain(before).collect();
    numbered.sort_unstable();
    numbered.dedup();
    numbered.into_iter().enumerate().map(|(rank, (_, id))| (id, rank)).collect()
}

fn of_revision(out: &mut Bytes, to: Option<&Revision>, ranks: &Ranks<'_>) {
    let nodes = to.map_or(0, |to| to.nodes.len());
    out.put((nodes, to.map_or(0, |to| to.wanted.len()), to.map_or(0, |to| to.node_config.len())));
    for (id, node) in to.into_iter().flat_map(|to| &to.nodes) {
        out.put((ranks[id], &node.services, &node.automators));
    }
    for (id, config) in to.into_iter().flat_map(|to| &to.node_config) {
        out.put((ranks[id], config));
    }
    for (id, wanted) in to.into_iter().flat_map(|to| &to.wanted) {
        out.put((ranks[&id.node], &id.service, wanted));
    }
}

fn of_nodes(out: &mut Bytes, cluster: &Cluster, machines: &Machines, ranks: &Ranks<'_>) {
    let mut nodes: Vec<_> = cluster.nodes.iter().map(|(id, node)| (ranks[id], node)).collect();
    nodes.sort_unstable_by_key(|(rank, _)| *rank);
    let job = cluster.latest_job();
    out.put((nodes.len(), cluster.units.len(), cluster.care.health.len()));
    for (rank, node) in nodes {
        // Whether the attempt that runs is the one since which there may be a machine.
        let asked = node.asked.map(|asked| {
            let task = job.and_then(|job| job.tasks.get(&asked.task));
            task.and_then(Task::open_id) == Some(asked)
        });
        out.put((rank, asked, &node.properties.services, &node.properties.automators, machines.of(&node.id)));
        out.put((cluster.care.nodes.contains_key(&node.id), &node.config));
    }
    out.put((cluster.care.maintenance.is_some(), cluster.care.heal));
    for (id, health) in &cluster.care.health {
        out.put((ranks.get(&id.node), &id.service, format!("{:?}", health.health)));
    }
}

fn of_units(out: &mut Bytes, cluster: &Cluster, ranks: &Ranks<'_>) {
    let mut units: Vec<_> =
        cluster.units.iter().map(|(id, unit)| (ranks[&id.node], &id.service, unit)).collect();
    units.sort_unstable_by_key(|(rank, service, _)| (*rank, *service));
    for (rank, service, unit) in units {
        out.put((rank, service, unit.wanted, unit.observed, &unit.renew, &unit.inputs));
        out.put(unit.drift.is_some());
    }
}

fn of_job(out: &mut Bytes, cluster: &Cluster, job: &Job, ranks: &Ranks<'_>) {
    out.put((job.action, job.status, job.ended.is_some()));
    if job.ended.is_some() {
        return;
    }
    let nothing_done = job.action == ClusterAction::ClusterCreate && job.done == 0;
    out.put((job.stop, job.extensions, nothing_done, job.rollout.as_ref().map(|it| format!("{it:?}"))));
    let counts = |task: &Task| match task.state {
        TaskState::Running => true,
        TaskState::Waiting => job.is_open(),
        TaskState::Failed | TaskState::Done => false,
    };
    let open: BTreeMap<u32, usize> =
        job.tasks.values().filter(|task| counts(task)).map(|task| task.id.number).zip(0..).collect();
    out.put(open.len());
    for (number, place) in &open {
        let task = &job.tasks[number];
        let tried = task.attempts.len().min(cluster.limits.max_attempts as usize);
        out.put((place, ranks[&task.node], &task.service, task.name, &task.errand, task.state, tried));
        for before in task.after.iter().filter_map(|before| open.get(before)) {
            out.put(before);
        }
        out.put(usize::MAX);
    }
}
