//! Operations that change what is wanted of a cluster: what they plan, in which order, and what is known afterwards.

use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::cluster::{
    ClusterStatus, Command, Effect, FollowUp, JobStatus, OnFailure, Refusal, Resize, Revision, Rollout,
    ServiceChange, decide, due, nodes_added,
};
use cooperage_domain::entity::{ErrandNodes, HardwareType, ImageType, OnChange, Service, ServiceAction};
use cooperage_domain::id::NodeId;
use cooperage_domain::layout::{Growth, Shrinkage};
use cooperage_domain::plan::{ClusterAction, Observed, Wanted};
use cooperage_domain::task::{TaskName, TaskReport};
use serde_json::{Value, json};

use crate::sketch::{Sketch, node_id};
use crate::world::World;

/// A load balancer on one node, told of the web servers on the others.
fn balanced(webs: u32) -> Sketch {
    let mut sketch = Sketch::new(
        "lb: install configure start stop probe | web\nweb: install configure start stop remove probe\nn0 = lb",
    );
    for number in 1..=webs {
        sketch.add_node(&format!("n{number}"), ["web"]);
    }
    let lb = sketch.services.get_mut("lb").unwrap();
    lb.onchange = OnChange::Configure;
    lb.inputs = serde_json::from_value(json!([{"name": "backends", "at": "lb.backends"}])).unwrap();
    let web = sketch.services.get_mut("web").unwrap();
    web.inputs = serde_json::from_value(json!([{"name": "title", "at": "web.title"}])).unwrap();
    web.errands =
        serde_json::from_value(json!({"smoke": {"type": "shell"}, "backup": {"type": "shell", "on": "all"}}))
            .unwrap();
    sketch.config = json!({"lb": {"backends": "%host.service.web%"}, "web": {"title": "one"}, "other": 1});
    sketch.template = json!({"name": "shop", "constraints": {"layout": {"cantcoexist": [["lb", "web"]]},
        "services": {"lb": {"quantities": {"min": 1, "max": 1}}, "web": {"quantities": {"min": 1}}}}});
    sketch
}

fn grow(world: &mut World, machines: u32) {
    let hardware: HardwareType =
        serde_json::from_value(json!({"name": "small", "providermap": {"here": {"flavor": "1cpu"}}}))
            .unwrap();
    let image: ImageType =
        serde_json::from_value(json!({"name": "debian", "providermap": {"here": {"image": "debian-12"}}}))
            .unwrap();
    let growth = Growth { machines, ..Growth::default() };
    let resize = Box::new(Resize::Grow { growth, hardware: vec![hardware], images: vec![image] });
    world.tell(Command::Resize { resize, by: "ann".into() }).unwrap();
}

fn shrink(world: &mut World, shrinkage: Shrinkage) {
    world.tell(Command::Resize { resize: Box::new(Resize::Shrink(shrinkage)), by: "ann".into() }).unwrap();
}

fn reconfigured(world: &mut World, rollout: Option<Rollout>, key: &str, value: Value) {
    let mut config = world.cluster.config.clone();
    match key.split_once('.') {
        Some((outer, inner)) => config[outer][inner] = value,
        None => config[key] = value,
    }
    world.tell(Command::Reconfigure { config, nodes: BTreeMap::new(), rollout, by: "ann".into() }).unwrap();
}

/// The tasks of the latest job in an order in which they ran, each as it is written.
fn ran(world: &mut World) -> Vec<String> {
    world.run_all();
    let tasks = world.job().tasks.values();
    let mut begun: Vec<(u64, String)> =
        tasks.filter_map(|task| Some((task.attempts.first()?.sequence, World::label(task)))).collect();
    begun.sort();
    begun.into_iter().map(|(_, label)| label).collect()
}

fn place(labels: &[String], label: &str) -> usize {
    labels.iter().position(|it| it == label).unwrap_or_else(|| panic!("{label} is not among {labels:?}"))
}

fn names(world: &World) -> Vec<String> {
    let nodes = world.cluster.nodes_by_number();
    nodes.iter().map(|node| format!("{}", node.properties.nodenum)).collect()
}

/// By number of the node.
fn node(world: &World, number: u32) -> NodeId {
    world.cluster.nodes.values().find(|node| node.properties.nodenum == number).unwrap().id.clone()
}

#[test]
fn who_is_told_of_new_nodes_waits_until_they_run() {
    let mut world = World::created(&balanced(2));
    grow(&mut world, 5);
    assert_eq!(world.job().action, ClusterAction::ClusterGrow);
    let ran = ran(&mut world);
    assert_eq!(names(&world), ["1000", "1001", "1002", "1003", "1004"]);
    let told = place(&ran, "n0:CONFIGURE:lb");
    for number in [1003, 1004] {
        assert!(place(&ran, &format!("{}:START:web", node(&world, number))) < told, "{ran:?}");
    }
    let of = |name: &str| ran.iter().filter(|label| label.starts_with(name)).count();
    assert_eq!((of("n0:"), of("n1:"), of("n2:")), (1, 0, 0), "what is there stays as it is: {ran:?}");
    assert_eq!(world.cluster.status, ClusterStatus::Active);
}

#[test]
fn who_is_told_of_nodes_that_go_is_told_before_they_end() {
    let mut world = World::created(&balanced(4));
    shrink(&mut world, Shrinkage::To(3));
    let ran = ran(&mut world);
    let told = place(&ran, "n0:CONFIGURE:lb");
    for gone in ["n3", "n4"] {
        let stopped = place(&ran, &format!("{gone}:STOP:web"));
        assert!(told < stopped && stopped < place(&ran, &format!("{gone}:DELETE")), "{ran:?}");
    }
    assert_eq!(names(&world), ["1000", "1001", "1002"]);
    assert!(world.cluster.units.keys().all(|id| id.node != node_id("n4")));
    grow(&mut world, 4);
    world.run_all();
    assert_eq!(names(&world), ["1000", "1001", "1002", "1005"], "no number is given twice");
}

#[test]
fn only_those_who_take_a_value_are_brought_up_again() {
    let mut world = World::created(&balanced(2));
    reconfigured(&mut world, None, "web.title", json!("two"));
    let web = |node: &str| ["STOP", "CONFIGURE", "START"].map(|step| format!("{node}:{step}:web"));
    let mut planned = ran(&mut world);
    planned.sort();
    let mut expected: Vec<String> = web("n1").into_iter().chain(web("n2")).collect();
    expected.sort();
    assert_eq!(planned, expected);
    reconfigured(&mut world, None, "other", json!(2));
    assert!(world.job().tasks.is_empty(), "nobody takes it");
    assert_eq!(world.cluster.status, ClusterStatus::Active);
    let same = world.cluster.config.clone();
    assert!(
        world
            .tell(Command::Reconfigure {
                config: same,
                nodes: BTreeMap::new(),
                rollout: None,
                by: "ann".into()
            })
            .unwrap()
            .is_empty()
    );
}

#[test]
fn what_was_wanted_is_wanted_again() {
    let mut world = World::created(&balanced(2));
    let before = Revision::of(&world.cluster);
    reconfigured(&mut world, None, "web.title", json!("two"));
    world.run_all();
    grow(&mut world, 4);
    world.run_all();
    let back = Command::RollBack { to: Box::new(before.clone()), rollout: None, by: "ann".into() };
    world.tell(back.clone()).unwrap();
    world.run_all();
    assert_eq!(Revision::of(&world.cluster), before);
    assert_eq!(names(&world), ["1000", "1001", "1002"]);
    assert!(world.tell(back).unwrap().is_empty(), "there is no way to where it is");
}

#[test]
fn services_that_are_removed_end_before_they_go() {
    let mut world = World::created(&balanced(2));
    let remove =
        |name: &str| Command::RemoveServices { services: BTreeSet::from([name.into()]), by: "ann".into() };
    let refused = world.tell(remove("web")).unwrap_err().to_string();
    assert!(refused.contains("required by lb"), "{refused}");
    assert!(matches!(world.tell(remove("no")), Err(Refusal::UnknownService { .. })));
    world.tell(remove("lb")).unwrap();
    assert_eq!(ran(&mut world), ["n0:STOP:lb"], "it has no step to be removed by");
    assert!(!world.cluster.services.contains("lb") && !world.cluster.definitions.contains_key("lb"));
    assert!(world.cluster.nodes[&node_id("n0")].properties.services.is_empty());
}

#[test]
fn a_lost_machine_is_made_anew_with_all_that_is_on_it() {
    let mut world = World::created(&balanced(2));
    let nodes = BTreeSet::from([node_id("n1")]);
    world.tell(Command::Replace { nodes, lost: true, rollout: None, by: "health".into() }).unwrap();
    let steps = ["DELETE", "CREATE", "CONFIRM", "BOOTSTRAP", "INSTALL:web", "CONFIGURE:web", "START:web"];
    assert_eq!(ran(&mut world), steps.map(|step| format!("n1:{step}")));
    assert_eq!(world.job().action, ClusterAction::ClusterHeal);
    assert_eq!(world.unit("n1/web"), (Observed::Started, Wanted::Running));
}

fn newer(world: &World) -> Command {
    let mut web: Service = world.cluster.definitions["web"].clone();
    let install = web.provisioner.actions.values_mut().next().unwrap();
    install.fields.insert("args".into(), "2.0".into());
    Command::Upgrade {
        template: None,
        definitions: BTreeMap::from([("web".into(), web), ("elsewhere".into(), Service::default())]),
        rollout: Some(Rollout {
            canary: 1,
            max_in_flight: 1,
            pause: 5_000,
            hold: 1_000,
            ..Rollout::default()
        }),
        by: "ann".into(),
    }
}

#[test]
fn an_upgrade_goes_from_node_to_node_as_long_as_they_are_well() {
    let mut world = World::created(&balanced(3));
    world.tell(newer(&world)).unwrap();
    let one = |node: &str| {
        ["STOP", "INSTALL", "CONFIGURE", "START", "PROBE", "PROBE"].map(|step| format!("{node}:{step}:web"))
    };
    let all: Vec<String> = ["n1", "n2", "n3"].into_iter().flat_map(one).collect();
    assert_eq!(ran(&mut world), all);
    let started = |label: &str| world.task(label).attempts[0].started;
    let held = started("n1:PROBE:web") - world.task("n1:START:web").attempts[0].outcome.as_ref().unwrap().at;
    assert!(held >= 1_000, "the second probe comes when the service has held");
    assert!(started("n2:STOP:web") - started("n1:PROBE:web") >= 5_000, "a pause lies between batches");
    assert!(world.tell(newer(&world)).unwrap().is_empty(), "once more changes nothing");
}

#[test]
fn a_canary_that_is_not_well_is_brought_back_and_nobody_follows_it() {
    let mut world = World::created(&balanced(3));
    let before = Revision::of(&world.cluster);
    let Command::Upgrade { definitions, rollout, .. } = newer(&world) else { unreachable!() };
    let rollout = rollout.map(|rollout| Rollout { on_failure: OnFailure::RollBack, ..rollout });
    world.tell(Command::Upgrade { template: None, definitions, rollout, by: "ann".into() }).unwrap();
    world.run_with(|task| i64::from(task.name == TaskName::Probe));
    assert_eq!(world.job().action, ClusterAction::ClusterRollBack);
    assert_eq!((world.job().status, world.cluster.status), (JobStatus::Complete, ClusterStatus::Active));
    assert_eq!(Revision::of(&world.cluster), before);
    assert!(world.job().tasks.values().all(|task| task.node == node_id("n1")), "{:?}", world.planned());
}

#[test]
fn a_rollout_that_pauses_goes_on_when_it_is_resumed() {
    let mut world = World::created(&balanced(2));
    let Command::Upgrade { definitions, rollout, .. } = newer(&world) else { unreachable!() };
    let rollout = rollout.map(|rollout| Rollout { on_failure: OnFailure::Pause, ..rollout });
    world.tell(Command::Upgrade { template: None, definitions, rollout, by: "ann".into() }).unwrap();
    world.run_with(|task| i64::from(task.name == TaskName::Probe));
    assert_eq!((world.job().status, world.cluster.status), (JobStatus::Paused, ClusterStatus::Pending));
    assert!(world.job().message.as_ref().unwrap().contains("PROBE web failed"), "{:?}", world.job().message);
    world.resume().unwrap();
    world.run_all();
    assert_eq!((world.job().status, world.cluster.status), (JobStatus::Complete, ClusterStatus::Active));
}

#[test]
fn what_a_probe_finds_ill_is_mended_and_nothing_else() {
    let mut world = World::created(&balanced(2));
    world.tell(Command::Converge { mend: false, by: "ann".into() }).unwrap();
    world.run_with(|task| i64::from(task.node == node_id("n2")));
    assert_eq!(world.cluster.status, ClusterStatus::Active);
    let ill: Vec<String> = world
        .cluster
        .units
        .iter()
        .filter(|(_, unit)| unit.drift.is_some())
        .map(|(id, _)| id.to_string())
        .collect();
    assert_eq!(ill, ["n2/web"], "what was found is known");
    world.tell(Command::Converge { mend: true, by: "ann".into() }).unwrap();
    world.run_with(|task| i64::from(task.node == node_id("n2") && task.name == TaskName::Probe));
    let mended: Vec<String> = world.planned().into_iter().filter(|label| !label.contains("PROBE")).collect();
    assert_eq!(mended, ["n2:STOP:web", "n2:CONFIGURE:web", "n2:START:web"]);
    assert!(world.cluster.units.values().all(|unit| unit.drift.is_none()));
}

#[test]
fn an_errand_changes_nothing_even_if_it_fails() {
    let mut world = World::created(&balanced(2));
    let wanted = Revision::of(&world.cluster);
    let errand = |name: &str, nodes: &[&str]| Command::RunErrand {
        service: "web".into(),
        errand: name.into(),
        nodes: nodes.iter().map(|name| node_id(name)).collect(),
        by: "ann".into(),
    };
    assert_eq!(world.cluster.definitions["web"].errands["smoke"].on, ErrandNodes::One);
    world.tell(errand("smoke", &[])).unwrap();
    assert_eq!(ran(&mut world), ["n1:ERRAND:web"]);
    world.tell(errand("smoke", &["n2"])).unwrap();
    assert_eq!(ran(&mut world), ["n2:ERRAND:web"]);
    world.tell(errand("backup", &[])).unwrap();
    world.run_with(|_| 7);
    assert_eq!((world.job().status, world.cluster.status), (JobStatus::Failed, ClusterStatus::Active));
    assert_eq!(Revision::of(&world.cluster), wanted);
    let refused = world.tell(errand("lunch", &[])).unwrap_err().to_string();
    assert!(refused.contains("it has backup, smoke"), "{refused}");
    assert!(world.tell(errand("smoke", &["n0"])).unwrap_err().to_string().contains("does not carry web"));
}

#[test]
fn whatever_runs_can_be_cancelled_and_undone() {
    let mut world = World::created(&balanced(2));
    let before = Revision::of(&world.cluster);
    grow(&mut world, 4);
    let created = node(&world, 1003);
    world.run(&format!("{created}:CREATE"), 0);
    world.start(&format!("{created}:CONFIRM"));
    world.tell(Command::Cancel { undo: true, by: "bob".into() }).unwrap();
    assert_eq!(world.cluster.then, Some(FollowUp::Undo { by: "bob".into() }));
    assert!(
        due(&world.cluster).iter().any(|effect| matches!(effect, Effect::Halt { .. })),
        "what runs is stopped"
    );
    world.finish(&format!("{created}:CONFIRM"), 1);
    assert_eq!(world.job().action, ClusterAction::ClusterRollBack);
    assert_eq!(ran(&mut world), [format!("{created}:DELETE")]);
    assert_eq!(Revision::of(&world.cluster), before);
    assert_eq!(names(&world), ["1000", "1001", "1002"]);
}

#[test]
fn nodes_count_against_the_quota_until_nobody_can_bring_them_back() {
    let mut world = World::created(&balanced(3));
    shrink(&mut world, Shrinkage::To(3));
    while let Some(label) = world.ready().first().cloned() {
        assert_eq!(world.cluster.nodes_held(), 4, "it can still be undone");
        world.run(&label, 0);
    }
    assert_eq!(world.cluster.nodes_held(), 3);
    world.tell(Command::Converge { mend: true, by: "ann".into() }).unwrap();
    assert_eq!(world.cluster.nodes_held(), 3, "a converge has no way back");
    world.run_all();
    let to = world.cluster.previous.clone().unwrap();
    let back = Command::RollBack { to, rollout: None, by: "ann".into() };
    assert!(back.may_add_nodes());
    assert_eq!(nodes_added(&decide(&world.cluster, back, 0).unwrap()), 1);
}

#[test]
fn a_create_that_is_undone_leaves_nothing() {
    let mut world = World::new(&balanced(1));
    world.run("n1:CREATE", 0);
    world.tell(Command::Cancel { undo: true, by: "bob".into() }).unwrap();
    world.run_all();
    assert_eq!(world.cluster.status, ClusterStatus::Terminated);
    assert!(world.cluster.nodes.values().all(|node| !node.may_have_machine()));
}

#[test]
fn without_a_way_back_a_cancel_says_so() {
    let mut world = World::created(&balanced(1));
    world.delete().unwrap();
    let refused = world.tell(Command::Cancel { undo: true, by: "bob".into() }).unwrap_err().to_string();
    assert!(refused.contains("cannot be undone; stop it without"), "{refused}");
    world.tell(Command::Cancel { undo: false, by: "bob".into() }).unwrap();
    assert_eq!(world.cluster.status, ClusterStatus::Incomplete);
}

#[test]
fn a_cluster_is_deleted_while_it_does_something_else() {
    for paused in [false, true] {
        let mut world = World::created(&balanced(2));
        grow(&mut world, 4);
        let created = format!("{}:CREATE", node(&world, 1003));
        world.start(&created);
        if paused {
            world.pause().unwrap();
        }
        let delete = || Command::Delete { now: true, by: "bob".into() };
        world.tell(delete()).unwrap();
        assert!(world.tell(delete()).unwrap().is_empty(), "once is enough");
        world.finish(&created, 0);
        assert_eq!(world.job().action, ClusterAction::ClusterDelete);
        world.run_all();
        assert_eq!(world.cluster.status, ClusterStatus::Terminated);
        assert!(world.cluster.nodes.values().all(|node| !node.may_have_machine()));
    }
}

/// Runs what is due; every machine that is confirmed has an address that none had before.
fn run_with_addresses(world: &mut World, last: &mut u32) {
    while world.job().ended.is_none() {
        let effect = due(&world.cluster).into_iter().find_map(|effect| match effect {
            Effect::Follow { task, attempt, .. } => Some((task, Some(attempt), 0)),
            Effect::Start { task, not_before, .. } => Some((task, None, not_before)),
            _ => None,
        });
        let (task, attempt, not_before) = effect.unwrap();
        world.now = world.now.max(not_before) + 1;
        let Some(attempt) = attempt else {
            world.tell(Command::StartAttempt { task, worker: "w1".into() }).unwrap();
            continue;
        };
        let mut report = TaskReport::success();
        if world.job().tasks[&task].name == TaskName::Confirm {
            *last += 1;
            report.ipaddresses = Some(BTreeMap::from([("access_v4".to_owned(), format!("10.0.0.{last}"))]));
        }
        world.tell(Command::FinishAttempt { task, attempt, report }).unwrap();
    }
}

#[test]
fn who_knows_a_node_by_name_is_told_when_it_gets_another_address() {
    let mut last = 0;
    let mut world = World::new(&balanced(2));
    run_with_addresses(&mut world, &mut last);
    let nodes = BTreeSet::from([node_id("n1")]);
    world.tell(Command::Replace { nodes, lost: true, rollout: None, by: "health".into() }).unwrap();
    run_with_addresses(&mut world, &mut last);
    let elsewhere: Vec<String> =
        world.planned().into_iter().filter(|label| !label.starts_with("n1:")).collect();
    assert_eq!(elsewhere, ["n0:CONFIGURE:lb"]);
    assert_eq!(world.cluster.status, ClusterStatus::Active);
}

#[test]
fn a_way_back_knows_nothing_of_nodes_that_were_leaving() {
    let mut world = World::created(&balanced(2));
    shrink(&mut world, Shrinkage::To(2));
    world.run_failing(TaskName::Delete, 1);
    assert_eq!(world.cluster.status, ClusterStatus::Inconsistent);
    let nodes = BTreeSet::from([node_id("n1")]);
    world.tell(Command::Replace { nodes, lost: false, rollout: None, by: "ann".into() }).unwrap();
    world.run_all();
    assert_eq!((world.cluster.status, world.cluster.nodes.len()), (ClusterStatus::Active, 2));
    // Nothing that is wanted has changed since, so there is nothing to do.
    let to = world.cluster.previous.clone().unwrap();
    assert_eq!(world.tell(Command::RollBack { to, rollout: None, by: "ann".into() }).unwrap(), []);
}

#[test]
fn what_rests_takes_nothing_up_when_its_upgrade_is_taken_back() {
    let sketch = Sketch::new("web: start stop\nn1 = web");
    let mut world = World::created(&sketch).changed(ServiceChange::Stop, "");
    let mut newer = world.cluster.definitions["web"].clone();
    let spec = newer.provisioner.actions.get_mut(&ServiceAction::Start).unwrap();
    spec.fields.insert("script".into(), "newer.sh".into());
    let definitions = BTreeMap::from([("web".to_owned(), newer)]);
    world.tell(Command::Upgrade { template: None, definitions, rollout: None, by: "ann".into() }).unwrap();
    world.run_all();
    let to = world.cluster.previous.clone().unwrap();
    // That it is decided the same once more is checked there.
    world.tell(Command::RollBack { to, rollout: None, by: "ann".into() }).unwrap();
    world.run_all();
    assert_eq!(world.cluster.status, ClusterStatus::Active);
}
