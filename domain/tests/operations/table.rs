//! All operations, one row each. What a row says is enough to try every shape of trouble on it.

use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::cluster::{
    CareChange, Cluster, ClusterStatus, Command, OnFailure, Resize, Revision, Rollout, ServiceChange,
};
use cooperage_domain::entity::{HardwareType, ImageType};
use cooperage_domain::health::Health;
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_domain::layout::{Growth, Shrinkage};
use cooperage_domain::plan::UnitId;
use cooperage_domain::task::TaskName;
use serde_json::{Value, json};

use crate::family;
use crate::machines::Outcome;
use crate::rig::Rig;
use crate::sketch::{Sketch, node_id};

/// An operation.
pub struct Operation {
    pub name: &'static str,
    /// The cluster that it is asked of.
    pub ready: fn() -> Rig,
    /// What is asked; nothing of a cluster that is being created.
    pub command: Option<fn(&Cluster) -> Command>,
}

impl Operation {
    /// The cluster with the operation asked for.
    pub fn begun(&self) -> Rig {
        let rig = (self.ready)();
        match self.command {
            Some(command) => {
                let command = command(rig.cluster());
                rig.told(command)
            }
            None => rig,
        }
    }
}

const fn on(name: &'static str, ready: fn() -> Rig, command: fn(&Cluster) -> Command) -> Operation {
    Operation { name, ready, command: Some(command) }
}

/// A new operation is a new row: see `every_command_has_a_row`.
pub const OPERATIONS: &[Operation] = &[
    Operation { name: "create", ready: creating, command: None },
    on("delete", shop, |_| delete(false)),
    on("delete now, while it is created", half_created, |_| delete(true)),
    on("delete now, while it grows", half_grown, |_| delete(true)),
    on("configure", shop, |_| configure(false)),
    on("configure with restart", shop, |_| configure(true)),
    on("reconfigure", shop, |it| reconfigure(it, None)),
    on("reconfigure in batches", shop, |it| reconfigure(it, Some(batches(OnFailure::Stop)))),
    on("stop", shop, |_| change(ServiceChange::Stop, None)),
    on("stop with dependents", shop, |_| change(ServiceChange::Stop, Some("db"))),
    on("start", stopped, |_| change(ServiceChange::Start, None)),
    on("start with dependencies", stopped, |_| change(ServiceChange::Start, Some("web"))),
    on("restart", shop, |_| change(ServiceChange::Restart, None)),
    on("add services", shop, |_| add()),
    on("remove services", shop, |_| remove("web")),
    on("grow", shop, |_| grow(4)),
    on("shrink", shop, |_| shrink(Shrinkage::To(2))),
    on("shrink by name", shop, |_| shrink(Shrinkage::Nodes(BTreeSet::from([node_id("n2")])))),
    on("replace", shop, |_| replace(&["n2"], false, None)),
    on("replace in batches", shop, |_| replace(&["n2", "n3"], false, Some(batches(OnFailure::Stop)))),
    on("heal", shop, |_| replace(&["n1"], true, None)),
    on("upgrade", shop, |it| upgrade(it, None)),
    on("upgrade in batches that pause", shop, |it| upgrade(it, Some(batches(OnFailure::Pause)))),
    on("upgrade in batches that are undone", shop, |it| upgrade(it, Some(batches(OnFailure::RollBack)))),
    on("roll back", grown, roll_back),
    on("roll back what stopped half-way", failed_to_grow, roll_back),
    on("converge", ill, |_| converge(true)),
    on("probe", ill, |_| converge(false)),
    on("errand", shop, |_| errand("smoke")),
    on("errand on all nodes", shop, |_| errand("backup")),
    on("grow by a service", shop, |_| resize_services(true)),
    on("shrink by a service", shop, |_| resize_services(false)),
    on("grow further what stopped half-way", failed_to_grow, |_| grow(5)),
    on("shrink what stopped half-way", failed_to_grow, |_| shrink(Shrinkage::To(3))),
    on("heal a create that stopped half-way", failed_to_create, |_| replace(&["n2"], true, None)),
    on("heal what stopped half-way", half_shrunk, |_| replace(&["n1"], true, None)),
    on("configure what stopped half-way", half_shrunk, |_| configure(true)),
    on("reconfigure what stopped half-way", half_shrunk, |it| reconfigure(it, None)),
    on("upgrade what stopped half-way", failed_to_grow, |it| upgrade(it, None)),
    on("converge what stopped half-way", half_shrunk, |_| converge(true)),
    on("remove services from what stopped half-way", failed_to_grow, |_| remove("web")),
    on("roll back a shrink that stopped half-way", half_shrunk, roll_back),
    on("delete what stopped half-way", half_shrunk, |_| delete(false)),
    on("delete again", half_deleted, |_| delete(false)),
    on("cancel a delete", being_deleted, |_| cancel(false)),
    on("delete now, while it is deleted", being_deleted, |_| delete(true)),
    on("retry a shrink", half_shrunk, |_| Command::Retry { by: by() }),
    on("sync template", shop, |it| Command::SyncTemplate {
        template: Box::new(it.template.clone()),
        by: by(),
    }),
    on("prolong", shop, |_| Command::Prolong { expires: 9_000_000, by: by() }),
    on("warn of expiry", leased, |_| Command::WarnOfExpiry),
    on("give fields", shop, |_| Command::GiveFields {
        fields: serde_json::Map::new(),
        command: Box::new(configure(true)),
        by: by(),
    }),
    on("find a machine down", shop, |_| down()),
    on("maintain a node", half_grown, |_| maintain(Some(node_id("n1")))),
    on("maintain the cluster", half_grown, |_| maintain(None)),
    on("pause", half_grown, |_| Command::Pause { by: by() }),
    on("resume", paused, |_| Command::Resume { by: by() }),
    on("abort", half_created, |_| Command::Abort { by: by() }),
    on("cancel", half_grown, |_| cancel(false)),
    on("cancel and undo", half_grown, |_| cancel(true)),
    on("cancel a create", half_created, |_| cancel(false)),
    on("cancel a create and undo", half_created, |_| cancel(true)),
    on("retry a create", failed_to_create, |_| Command::Retry { by: by() }),
    on("adopt", shop, |_| adopt()),
    on("adopt while it is created", half_created, |_| adopt()),
    on("release", adopted, |_| Command::Release { child: ClusterId(9) }),
    on("inherit", inheriting, |_| inherit()),
    on("inherit while it is created", half_inheriting, |_| inherit()),
    on("retry", failed_to_grow, |_| Command::Retry { by: by() }),
];

/// How long a task may wait for a worker, in ms.
const QUEUE_TIMEOUT: i64 = 1_000_000;

pub fn by() -> String {
    "ann".to_owned()
}

/// A database and two servers that need it, which can be looked at and run errands.
pub fn sketch() -> Sketch {
    let mut sketch = Sketch::new(
        "db: install start stop\n\
         web: install configure start stop remove probe | db\n\
         n1 = db\nn2 = web\nn3 = web",
    );
    let web = sketch.services.get_mut("web").unwrap();
    web.inputs = serde_json::from_value(json!([{"name": "title", "at": "web.title"}])).unwrap();
    web.errands =
        serde_json::from_value(json!({"smoke": {"type": "shell"}, "backup": {"type": "shell", "on": "all"}}))
            .unwrap();
    sketch.config = json!({"web": {"title": "one"}});
    sketch.template = json!({"name": "shop", "constraints": {"layout": {"cantcoexist": [["db", "web"]]},
        "services": {"db": {"quantities": {"min": 1, "max": 1}}, "web": {"quantities": {"min": 1}}}}});
    for node in sketch.nodes.values_mut() {
        node.automators = BTreeSet::from(["shell".to_owned()]);
    }
    sketch.limits.max_attempts = 2;
    sketch.limits.queue_timeout = QUEUE_TIMEOUT;
    sketch
}

fn creating() -> Rig {
    Rig::new(&sketch())
}

fn shop() -> Rig {
    Rig::created(&sketch())
}

fn adopted() -> Rig {
    shop().told(adopt())
}

fn heir() -> Sketch {
    let mut sketch = family::shop();
    sketch.limits.queue_timeout = QUEUE_TIMEOUT;
    sketch
}

fn inheriting() -> Rig {
    Rig::created(&heir())
}

fn half_inheriting() -> Rig {
    half(Rig::new(&heir()))
}

fn half(mut rig: Rig) -> Rig {
    for _ in 0..10 {
        rig.step(Rig::smooth);
    }
    assert_eq!(rig.cluster().status, ClusterStatus::Pending);
    rig
}

fn half_created() -> Rig {
    half(creating())
}

fn half_grown() -> Rig {
    half(shop().told(grow(4)))
}

fn paused() -> Rig {
    half_grown().told(Command::Pause { by: by() })
}

/// Its lease ends very soon.
fn leased() -> Rig {
    let mut rig = shop();
    let expires = rig.world.now + 1_000_000;
    rig = rig.told(Command::Prolong { expires, by: by() });
    rig.world.now = expires - 1;
    rig
}

fn stopped() -> Rig {
    let mut rig = shop().told(change(ServiceChange::Stop, None));
    rig.run();
    rig
}

fn grown() -> Rig {
    let mut rig = shop().told(grow(4));
    rig.run();
    rig
}

/// A new machine was made, but its provider said that it failed.
fn failed_to_grow() -> Rig {
    let mut rig = shop().told(grow(4));
    rig.run_with(|_, _| Outcome::DoneButFailed);
    rig
}

fn failed_to_create() -> Rig {
    let mut rig = creating();
    rig.run_with(|_, _| Outcome::DoneButFailed);
    rig
}

/// Every machine that was to go is gone, but its provider said that it failed.
fn half_shrunk() -> Rig {
    let mut rig = shop().told(shrink(Shrinkage::To(2)));
    rig.run_with(
        |_, task| if task.name == TaskName::Delete { Outcome::DoneButFailed } else { Outcome::Done },
    );
    assert_eq!(rig.cluster().status, ClusterStatus::Inconsistent);
    rig
}

fn being_deleted() -> Rig {
    let mut rig = shop().told(delete(false));
    rig.step(Rig::smooth);
    rig.step(Rig::smooth);
    rig
}

fn half_deleted() -> Rig {
    let mut rig = shop().told(delete(false));
    rig.run_with(|_, _| Outcome::DoneButFailed);
    rig
}

fn ill() -> Rig {
    let mut rig = shop();
    rig.ill.insert(UnitId::service(node_id("n2"), "web"));
    rig
}

pub fn delete(now: bool) -> Command {
    Command::Delete { now, by: by() }
}

pub fn cancel(undo: bool) -> Command {
    Command::Cancel { undo, by: by() }
}

pub fn change(change: ServiceChange, service: Option<&str>) -> Command {
    Command::ChangeServices { change, service: service.map(str::to_owned), by: by() }
}

fn config(title: &str) -> serde_json::Map<String, Value> {
    json!({"web": {"title": title}}).as_object().cloned().unwrap()
}

pub fn configure(restart: bool) -> Command {
    Command::Configure { config: config("two"), restart, by: by() }
}

pub fn reconfigure(cluster: &Cluster, rollout: Option<Rollout>) -> Command {
    let title = if cluster.config == config("two") { "three" } else { "two" };
    Command::Reconfigure { config: config(title), nodes: BTreeMap::new(), rollout, by: by() }
}

/// One server first, then one by one, each probed at once and after a while.
fn batches(on_failure: OnFailure) -> Rollout {
    Rollout { canary: 1, max_in_flight: 1, pause: 5, hold: 5, on_failure }
}

pub fn add() -> Command {
    let known = Sketch::new("log: install start stop\napp: install configure start | log db");
    Command::AddServices {
        services: ["log", "app"].map(str::to_owned).into(),
        known: known.services.into_values().collect(),
        by: by(),
    }
}

pub fn remove(service: &str) -> Command {
    Command::RemoveServices { services: BTreeSet::from([service.to_owned()]), by: by() }
}

pub fn grow(machines: u32) -> Command {
    grown_to(Growth { machines, ..Growth::default() })
}

/// One more server, or one fewer.
fn resize_services(grow: bool) -> Command {
    let services = BTreeMap::from([("web".to_owned(), 1)]);
    if grow {
        return grown_to(Growth { services, ..Growth::default() });
    }
    shrink(Shrinkage::Services(services))
}

fn grown_to(growth: Growth) -> Command {
    let hardware = json!({"name": "small", "providermap": {"here": {"flavor": "1cpu"}}});
    let image = json!({"name": "debian", "providermap": {"here": {"image": "debian-12"}}});
    let hardware: HardwareType = serde_json::from_value(hardware).unwrap();
    let image: ImageType = serde_json::from_value(image).unwrap();
    let resize = Resize::Grow { growth, hardware: vec![hardware], images: vec![image] };
    Command::Resize { resize: Box::new(resize), by: by() }
}

pub fn shrink(shrinkage: Shrinkage) -> Command {
    Command::Resize { resize: Box::new(Resize::Shrink(shrinkage)), by: by() }
}

pub fn replace(nodes: &[&str], lost: bool, rollout: Option<Rollout>) -> Command {
    let nodes: BTreeSet<NodeId> = nodes.iter().map(|name| node_id(name)).collect();
    Command::Replace { nodes, lost, rollout, by: by() }
}

/// The servers, where there are any, are installed in another way.
pub fn upgrade(cluster: &Cluster, rollout: Option<Rollout>) -> Command {
    let mut definitions = cluster.definitions.clone();
    definitions.retain(|name, _| name == "web");
    for action in definitions.values_mut().flat_map(|web| web.provisioner.actions.values_mut()) {
        action.fields.insert("args".into(), "2.0".into());
    }
    Command::Upgrade { template: None, definitions, rollout, by: by() }
}

/// To what was wanted before the last change.
pub fn roll_back(cluster: &Cluster) -> Command {
    let to = cluster.previous.clone().unwrap_or_else(|| Box::new(Revision::of(cluster)));
    Command::RollBack { to, rollout: None, by: by() }
}

pub fn converge(mend: bool) -> Command {
    Command::Converge { mend, by: by() }
}

fn down() -> Command {
    let (node, reason) = (node_id("n2"), "it does not answer".to_owned());
    let change = CareChange::Health { node, service: None, health: Health::Down, reason };
    Command::Care { changes: vec![change], by: by() }
}

fn maintain(node: Option<NodeId>) -> Command {
    let change = CareChange::Maintenance { node, reason: Some("another disk".into()) };
    Command::Care { changes: vec![change], by: by() }
}

pub fn errand(name: &str) -> Command {
    Command::RunErrand { service: "web".into(), errand: name.into(), nodes: BTreeSet::new(), by: by() }
}

fn adopt() -> Command {
    Command::Adopt { child: ClusterId(9), name: "app".into(), needs: BTreeSet::from(["db".to_owned()]) }
}

/// The database has another address.
fn inherit() -> Command {
    Command::Inherit { from: family::BASE, lineage: family::base("10.0.0.2", 5432) }
}
