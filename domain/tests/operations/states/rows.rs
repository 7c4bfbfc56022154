//! Clusters, and what is asked of them.

use cooperage_domain::cluster::{CareChange, Cluster, Command, OnFailure, Rollout, ServiceChange};
use cooperage_domain::health::Health;
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_domain::layout::Shrinkage;
use serde_json::json;

use super::explorer::Explored;
use super::moves::Asks;
use super::state::State;
use crate::family;
use crate::rig::Rig;
use crate::sketch::{Sketch, node_id};
use crate::table;

/// A cluster, and what is asked of it.
#[derive(Clone, Copy)]
pub struct Row {
    pub name: &'static str,
    cluster: fn() -> Sketch,
    asks: Asks,
    machines_die: bool,
}

const fn row(name: &'static str, cluster: fn() -> Sketch, asks: Asks) -> Row {
    Row { name, cluster, asks, machines_die: false }
}

const fn dying(row: Row) -> Row {
    Row { machines_die: true, ..row }
}

impl Row {
    /// From the moment on when the cluster was asked for.
    pub fn explored(&self) -> Explored {
        let rig = Rig::new(&(self.cluster)());
        let start = State { cluster: rig.world.cluster, machines: rig.machines, now: rig.world.now };
        Explored { start, asks: self.asks, machines_die: self.machines_die }
    }
}

/// Looked at in every run.
pub const SMALL: &[Row] = &[
    row("a node", alone, |_| vec![]),
    row("a node, each task tried twice", twice, |_| vec![]),
    row("two nodes", bare_pair, |_| vec![]),
    row("two nodes, one task at a time", narrow_pair, |_| vec![]),
    row("two services on a node", stacked, |_| vec![]),
    row("a service that needs two others", needy, |_| vec![]),
    row("start, stop, restart", alone, services),
    row("configure", resting, configure),
    row("give fields", resting, given),
    row("reconfigure and roll back", alone, reconfigure),
    row("upgrade and roll back", alone, upgrade),
    dying(row("look and mend", alone, look)),
    dying(row("replace and heal", alone, replace)),
    row("add and remove services", resting, other_services),
    row("grow and shrink", bare, resize),
    row("health", resting, health),
    row("maintenance", resting, maintenance),
    row("lease", leased, lease),
    row("template", alone, template),
    row("a cluster under others", resting, children),
    row("a cluster upon another one", heir, inherit),
];

/// Looked at on demand.
pub const LARGE: &[Row] = &[
    row("two nodes with a service", pair, |_| vec![]),
    row("two nodes with two services", shop, |_| vec![]),
    row("grow, shrink and roll back", bare, resize_and_back),
    row("grow and drain", draining, resize),
    row("start, stop, restart on two nodes", shop, services),
    row("reconfigure on two nodes, in batches", shop, reconfigure_in_batches),
    dying(row("replace, heal, look and mend on two nodes", shop, mend)),
    row("care and services", alone, care_and_services),
    dying(row("all of a node", alone, everything)),
    dying(row("all of a shop", shop, everything)),
];

/// A sketch whose tasks are tried so often, whatever goes wrong.
fn sketch(text: &str, attempts: u32) -> Sketch {
    let mut sketch = Sketch::new(text);
    let web = sketch.services.get_mut("web").unwrap();
    web.inputs = serde_json::from_value(json!([{"name": "title", "at": "web.title"}])).unwrap();
    web.errands = serde_json::from_value(json!({"smoke": {"type": "shell"}})).unwrap();
    sketch.config = json!({"web": {"title": "one"}});
    sketch.template = json!({"name": "shop"});
    sketch.limits.max_attempts = attempts;
    sketch.limits.retry.clear();
    sketch
}

fn alone() -> Sketch {
    sketch("web: start stop probe\nn1 = web", 1)
}

fn twice() -> Sketch {
    sketch("web: start stop\nn1 = web", 2)
}

fn pair() -> Sketch {
    sketch("web: start\nn1 = web\nn2 = web", 1)
}

/// Machines that carry nothing that takes steps.
fn bare_pair() -> Sketch {
    sketch("web:\nn1 = web\nn2 = web", 1)
}

fn narrow_pair() -> Sketch {
    let mut sketch = bare_pair();
    sketch.limits.max_running_tasks = 1;
    sketch.limits.queue_timeout = 1_000_000;
    sketch
}

/// A service that is started and never stopped.
fn resting() -> Sketch {
    sketch("web: start\nn1 = web", 1)
}

/// It takes the address of a database that another cluster runs.
fn heir() -> Sketch {
    let mut sketch = sketch("web: start stop\nn1 = web", 1);
    sketch.config = json!({"web": {"title": "%ip.service.db%"}});
    sketch.origins = family::shop().origins;
    sketch
}

/// A database, and a server that needs it.
fn shop() -> Sketch {
    sketch("db: start stop\nweb: start stop probe | db\nn1 = db\nn2 = web", 1)
}

fn stacked() -> Sketch {
    sketch("db: start stop\nweb: start stop | db\nn1 = db web", 1)
}

fn bare() -> Sketch {
    growing_with("web:\nn1 = web")
}

fn needy() -> Sketch {
    sketch("db: start\nlog: start\nweb: start | db log\nn1 = db log web", 1)
}

fn draining() -> Sketch {
    growing_with("web: start stop\nn1 = web")
}

fn growing_with(text: &str) -> Sketch {
    let mut sketch = sketch(text, 1);
    sketch.template =
        json!({"name": "shop", "constraints": {"services": {"web": {"quantities": {"min": 1}}}}});
    sketch
}

fn leased() -> Sketch {
    let mut sketch = alone();
    sketch.limits.queue_timeout = 1_000_000;
    sketch
}

fn services(_: &Cluster) -> Vec<Command> {
    [ServiceChange::Start, ServiceChange::Stop, ServiceChange::Restart]
        .map(|it| table::change(it, None))
        .into()
}

fn configure(_: &Cluster) -> Vec<Command> {
    vec![table::configure(false), table::configure(true)]
}

fn given(_: &Cluster) -> Vec<Command> {
    let fields = json!({"region": "north"}).as_object().cloned().unwrap();
    vec![Command::GiveFields { fields, command: Box::new(table::configure(true)), by: table::by() }]
}

fn reconfigure(cluster: &Cluster) -> Vec<Command> {
    vec![table::reconfigure(cluster, None), table::roll_back(cluster)]
}

fn reconfigure_in_batches(cluster: &Cluster) -> Vec<Command> {
    let failing = [OnFailure::Stop, OnFailure::Pause, OnFailure::RollBack];
    let batches =
        failing.map(|on_failure| Rollout { canary: 1, max_in_flight: 1, on_failure, ..Rollout::default() });
    batches.map(|rollout| table::reconfigure(cluster, Some(rollout))).into()
}

fn upgrade(cluster: &Cluster) -> Vec<Command> {
    let upgrade = cluster.definitions.contains_key("web").then(|| table::upgrade(cluster, None));
    upgrade.into_iter().chain([table::roll_back(cluster)]).collect()
}

fn look(_: &Cluster) -> Vec<Command> {
    vec![table::converge(true), table::converge(false), table::errand("smoke")]
}

fn replace(_: &Cluster) -> Vec<Command> {
    vec![table::replace(&["n1"], false, None), table::replace(&["n1"], true, None)]
}

fn mend(_: &Cluster) -> Vec<Command> {
    let replaced = ["n1", "n2"].map(|node| table::replace(&[node], true, None));
    replaced.into_iter().chain([table::converge(true), table::replace(&["n1", "n2"], false, None)]).collect()
}

fn other_services(_: &Cluster) -> Vec<Command> {
    let known = Sketch::new("log: start");
    let add = Command::AddServices {
        services: ["log".to_owned()].into(),
        known: known.services.into_values().collect(),
        by: table::by(),
    };
    vec![add, table::remove("log")]
}

/// Nobody grows a cluster that has two nodes, be it that one of them is to go: as long as no machine can be given back, there
/// would be more and more of them.
fn resize(cluster: &Cluster) -> Vec<Command> {
    let grow = (cluster.nodes.len() < 2).then(|| table::grow(2));
    grow.into_iter().chain([table::shrink(Shrinkage::To(1))]).collect()
}

fn resize_and_back(cluster: &Cluster) -> Vec<Command> {
    resize(cluster).into_iter().chain([table::roll_back(cluster)]).collect()
}

fn health(_: &Cluster) -> Vec<Command> {
    let found = |service: Option<&str>, health| {
        let service = service.map(str::to_owned);
        cared(CareChange::Health {
            node: node_id("n1"),
            service,
            health,
            reason: "it does not answer".into(),
        })
    };
    let of_machine = [Health::Down, Health::Healthy].map(|health| found(None, health));
    let of_service = [Health::Down, Health::Healthy].map(|health| found(Some("web"), health));
    of_machine.into_iter().chain(of_service).collect()
}

fn maintenance(_: &Cluster) -> Vec<Command> {
    let of = |node: Option<NodeId>| {
        let node = &node;
        let change = |reason: Option<&str>| {
            cared(CareChange::Maintenance { node: node.clone(), reason: reason.map(str::to_owned) })
        };
        [change(Some("another disk")), change(None)]
    };
    of(None).into_iter().chain(of(Some(node_id("n1")))).collect()
}

fn cared(change: CareChange) -> Command {
    Command::Care { changes: vec![change], by: table::by() }
}

fn care_and_services(cluster: &Cluster) -> Vec<Command> {
    [health, maintenance, services].iter().flat_map(|asks| asks(cluster)).collect()
}

fn lease(cluster: &Cluster) -> Vec<Command> {
    let expires = cluster.expires.max(cluster.created) + 1_000_000;
    let ends = Command::Prolong { expires, by: table::by() };
    vec![ends, Command::Prolong { expires: 1, by: table::by() }]
}

fn children(_: &Cluster) -> Vec<Command> {
    let child = ClusterId(9);
    let needs = ["web".to_owned()].into();
    vec![Command::Adopt { child, name: "app".into(), needs }, Command::Release { child }]
}

/// The database has another address than is known, or none that is new.
fn inherit(cluster: &Cluster) -> Vec<Command> {
    let known = cluster.kin.origins.parent.as_ref().map(|parent| parent.lineage.clone());
    let (one, other) = (family::base("10.0.0.1", 5432), family::base("10.0.0.2", 5432));
    let lineage = if known.as_ref() == Some(&one) { other } else { one };
    vec![Command::Inherit { from: family::BASE, lineage }, table::change(ServiceChange::Stop, None)]
}

fn template(cluster: &Cluster) -> Vec<Command> {
    let mut template = cluster.template.clone();
    let is_old = template.base.description.is_none();
    template.base.description = is_old.then(|| "newer".to_owned());
    let definitions = std::collections::BTreeMap::new();
    let newer = Box::new(template.clone());
    vec![
        Command::SyncTemplate { template: Box::new(template), by: table::by() },
        Command::Upgrade { template: Some(newer), definitions, rollout: None, by: table::by() },
    ]
}

fn everything(cluster: &Cluster) -> Vec<Command> {
    let all = [services, configure, reconfigure, upgrade, look, replace, template];
    all.iter().flat_map(|asks| asks(cluster)).collect()
}
