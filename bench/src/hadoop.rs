//! Random clusters as people build them of Hadoop: a few nodes with masters, many with workers, and how long each task of
//! their creation takes. The same seed gives the same cluster everywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cooperage_domain::entity::{ActionSpec, Requirement, Scope, Service, ServiceAction};
use cooperage_domain::id::NodeId;
use cooperage_domain::plan::{
    AwaitUnplanned, Graph, PlanError, PlanInput, PlanNode, PlannedTask, Unit, UnitId, Wanted, converge, graph,
};
use cooperage_domain::task::TaskName;
use fastrand::Rng;

/// A service: what it needs to run, what it needs on its node to be installed, and whether it is on all worker nodes or on one master.
struct Kind {
    name: &'static str,
    needs: &'static [&'static str],
    installed_after: &'static [&'static str],
    on: On,
    /// How likely a cluster has it, in percent.
    chance: u8,
}

/// Where a service is.
#[derive(Clone, Copy, PartialEq)]
enum On {
    Master,
    Quorum,
    Workers,
    All,
}

const fn kind(name: &'static str, on: On, chance: u8, needs: &'static [&'static str]) -> Kind {
    Kind { name, needs, installed_after: &["base"], on, chance }
}

/// A service is only on a cluster with all that it needs.
const KINDS: &[Kind] = &[
    Kind { name: "base", needs: &[], installed_after: &[], on: On::All, chance: 100 },
    kind("zookeeper", On::Quorum, 70, &[]),
    kind("journalnode", On::Quorum, 40, &[]),
    kind("namenode", On::Master, 100, &[]),
    kind("datanode", On::Workers, 100, &["namenode"]),
    kind("resourcemanager", On::Master, 80, &["namenode"]),
    kind("nodemanager", On::Workers, 80, &["resourcemanager"]),
    kind("historyserver", On::Master, 50, &["datanode", "resourcemanager"]),
    kind("hbase-master", On::Master, 60, &["zookeeper", "datanode"]),
    kind("regionserver", On::Workers, 60, &["hbase-master"]),
    kind("mysql", On::Master, 60, &[]),
    kind("hive-metastore", On::Master, 60, &["mysql", "namenode"]),
    kind("hive-server", On::Master, 60, &["hive-metastore", "nodemanager"]),
    kind("oozie", On::Master, 40, &["mysql", "nodemanager"]),
    kind("spark", On::Master, 50, &["datanode"]),
    kind("kafka", On::Workers, 30, &["zookeeper"]),
];

/// What people bring up, and with how many workers.
pub struct Cluster {
    pub graph: Graph,
    pub durations: Vec<Duration>,
}

/// A cluster of so many nodes.
///
/// # Errors
/// Never, as the services need each other in no circle.
pub fn draw(seed: u64, nodes: u32) -> Result<Cluster, PlanError> {
    let mut random = Rng::with_seed(seed);
    let services = services(&mut random);
    let nodes = place(&mut random, &services, nodes);
    let mut units = BTreeMap::new();
    for node in &nodes {
        units.insert(UnitId::machine(node.id.clone()), Unit::new(Wanted::Present));
        for service in &node.services {
            units.insert(UnitId::service(node.id.clone(), service), Unit::new(Wanted::Running));
        }
    }
    let steps = converge(&units, &services)?;
    let unplanned = AwaitUnplanned::Skip;
    let graph = graph::build(&PlanInput { nodes: &nodes, services: &services, steps: &steps, unplanned })?;
    let sizes = sizes(&mut random);
    let durations = graph.tasks().iter().map(|task| duration(&mut random, task, &sizes)).collect();
    Ok(Cluster { graph, durations })
}

fn services(random: &mut Rng) -> BTreeMap<String, Service> {
    let mut services: BTreeMap<String, Service> = BTreeMap::new();
    for kind in KINDS {
        let chosen = random.u8(..100) < kind.chance;
        if chosen && kind.needs.iter().all(|need| services.contains_key(*need)) {
            services.insert(kind.name.to_owned(), service(kind));
        }
    }
    services
}

fn service(kind: &Kind) -> Service {
    let mut service = Service::default();
    service.base.name = kind.name.to_owned();
    let actions: &[ServiceAction] = match kind.on {
        On::All => &[ServiceAction::Install, ServiceAction::Configure],
        On::Master | On::Quorum => &[
            ServiceAction::Install,
            ServiceAction::Configure,
            ServiceAction::Initialize,
            ServiceAction::Start,
        ],
        On::Workers => &[ServiceAction::Install, ServiceAction::Configure, ServiceAction::Start],
    };
    let spec = || ActionSpec { automator: "shell".into(), fields: BTreeMap::new(), timeout: None };
    service.provisioner.actions = actions.iter().map(|action| (*action, spec())).collect();
    service.dependencies.runtime.requires = kind.needs.iter().map(|&name| Requirement::plain(name)).collect();
    let here = |&name: &&str| Requirement { scope: Scope::Node, ..Requirement::plain(name) };
    service.dependencies.install.requires = kind.installed_after.iter().map(here).collect();
    service
}

/// Masters are spread over one to five nodes; small clusters have workers on all nodes.
fn place(random: &mut Rng, services: &BTreeMap<String, Service>, nodes: u32) -> Vec<PlanNode> {
    let masters = random.u32(1..=5.min(nodes / 3).max(1));
    let first_worker = if nodes < 10 { 0 } else { masters };
    let mut carried: Vec<BTreeSet<String>> = vec![BTreeSet::new(); nodes as usize];
    for kind in KINDS.iter().filter(|kind| services.contains_key(kind.name)) {
        let on: Vec<u32> = match kind.on {
            On::All => (0..nodes).collect(),
            On::Master => vec![random.u32(..masters)],
            On::Quorum => (0..nodes.min(3)).collect(),
            On::Workers => (first_worker..nodes).collect(),
        };
        for node in on {
            carried[node as usize].insert(kind.name.to_owned());
        }
    }
    let numbered = (1000..).zip(carried);
    numbered.map(|(number, services)| PlanNode { id: NodeId(format!("node-{number}")), services }).collect()
}

/// Half of such tasks take less than this, half take more, in seconds; and by which power of e one of three is off.
const fn pace(task: TaskName) -> (f64, f64) {
    match task {
        TaskName::Create => (30.0, 0.4),
        TaskName::Confirm => (20.0, 0.5),
        TaskName::Bootstrap => (25.0, 0.4),
        TaskName::Install => (40.0, 0.6),
        TaskName::Configure => (4.0, 0.4),
        TaskName::Initialize => (10.0, 0.5),
        TaskName::Start => (8.0, 0.5),
        _ => (5.0, 0.3),
    }
}

/// By how much each step of each service takes longer than others of its kind: some are large, some are small.
fn sizes(random: &mut Rng) -> BTreeMap<(&'static str, TaskName), f64> {
    let steps = [TaskName::Install, TaskName::Configure, TaskName::Initialize, TaskName::Start];
    let all = KINDS.iter().flat_map(|kind| steps.map(|step| (kind.name, step)));
    all.map(|step| (step, (0.7 * normal(random)).exp())).collect()
}

/// Durations of tasks are spread as those of most work are: many near the middle, few that take much longer.
fn duration(
    random: &mut Rng,
    task: &PlannedTask,
    sizes: &BTreeMap<(&'static str, TaskName), f64>,
) -> Duration {
    let (middle, spread) = pace(task.name);
    let size = task.service.as_deref().and_then(|service| sizes.get(&(service, task.name)));
    Duration::from_secs_f64(middle * size.unwrap_or(&1.0) * (spread * normal(random)).exp())
}

/// The sum of twelve numbers is as good as normally distributed.
fn normal(random: &mut Rng) -> f64 {
    (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same_cluster() {
        for nodes in [1, 5, 40] {
            let (one, other) = (draw(7, nodes).unwrap(), draw(7, nodes).unwrap());
            assert_eq!(one.graph, other.graph);
            assert_eq!(one.durations, other.durations);
            assert!(one.graph.len() > 5 * nodes as usize, "{} tasks on {nodes} nodes", one.graph.len());
        }
    }
}
