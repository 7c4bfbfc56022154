//! Rules of maintenance, and of what is remembered of health.

use std::collections::BTreeSet;

use cooperage_domain::cluster::{
    CareChange, ClusterStatus, Command, Effect, Event, Refusal, due, due_after, made_by, probe_order, replay,
    to_probe,
};
use cooperage_domain::health::{HealMode, Health, Policy};
use cooperage_domain::task::TaskName;

use crate::sketch::{Sketch, node_id};
use crate::world::World;

const SHOP: &str = "db: start\nweb: start probe | db\nn1 = db\nn2 = web";

/// `node`: one, or the whole cluster when it is empty; `reason`: `None` ends the maintenance.
fn maintain(world: &mut World, node: &str, reason: Option<&str>) -> Result<Vec<Event>, Refusal> {
    let node = (!node.is_empty()).then(|| node_id(node));
    let change = CareChange::Maintenance { node, reason: reason.map(str::to_owned) };
    world.tell(Command::Care { changes: vec![change], by: "ann".into() }).map(<[Event]>::to_vec)
}

fn found(world: &mut World, unit: &str, health: Health) -> usize {
    let (node, service) =
        unit.split_once('/').map_or((unit, None), |(node, service)| (node, Some(service.to_owned())));
    let change = CareChange::Health { node: node_id(node), service, health, reason: "it is off".into() };
    world.tell(Command::Care { changes: vec![change], by: "health".into() }).unwrap().len()
}

fn started(effects: &[Effect]) -> BTreeSet<String> {
    let node = |effect: &Effect| match effect {
        Effect::Start { node, .. } => Some(node.to_string()),
        _ => None,
    };
    effects.iter().filter_map(node).collect()
}

#[test]
fn no_task_starts_on_a_node_in_maintenance_and_all_that_wait_are_due_when_it_ends() {
    let mut world = World::new(&Sketch::alike("start", 3));
    let (running, attempt) = world.start("n3:CREATE");
    let waiting = world.task("n1:CREATE").id.number;
    maintain(&mut world, "n1", Some("new disks")).unwrap();
    assert_eq!(started(&due(&world.cluster)), ["n2".to_owned()].into());
    let start = Command::StartAttempt { task: waiting, worker: "w1".into() };
    let refusal = world.tell(start.clone()).unwrap_err();
    assert_eq!(
        refusal,
        Refusal::NotReady { task: waiting, reason: "its node or its cluster is in maintenance" }
    );
    maintain(&mut world, "", Some("the rack moves")).unwrap();
    assert_eq!(started(&due(&world.cluster)), BTreeSet::new());
    let elsewhere = world.task("n2:CREATE").id.number;
    let refusal = world.tell(Command::StartAttempt { task: elsewhere, worker: "w1".into() }).unwrap_err();
    assert_eq!(
        refusal,
        Refusal::NotReady { task: elsewhere, reason: "its node or its cluster is in maintenance" }
    );
    // What runs is followed and ends; what waited for it waits on.
    let follows =
        due(&world.cluster).iter().any(|it| matches!(it, Effect::Follow { task, .. } if *task == running));
    assert!(follows);
    world.tell(Command::FinishAttempt { task: running, attempt, report: crate::world::report(0) }).unwrap();
    assert_eq!(started(&due(&world.cluster)), BTreeSet::new());
    let events = maintain(&mut world, "", None).unwrap();
    assert_eq!(started(&due_after(&world.cluster, &events)), ["n2".to_owned(), "n3".to_owned()].into());
    let events = maintain(&mut world, "n1", None).unwrap();
    assert!(started(&due_after(&world.cluster, &events)).contains("n1"));
    world.tell(start).unwrap();
    world.run_all();
    assert_eq!(world.cluster.status, ClusterStatus::Active);
}

#[test]
fn maintenance_says_who_why_and_since_when_and_saying_it_again_changes_nothing() {
    let mut world = World::created(&Sketch::new(SHOP));
    assert_eq!(maintain(&mut world, "n1", Some(" new disks ")).unwrap().len(), 1);
    let began = world.now;
    world.now += 5;
    assert_eq!(maintain(&mut world, "n1", Some("new disks")).unwrap(), []);
    assert_eq!(maintain(&mut world, "n1", Some("and fans")).unwrap().len(), 1);
    let known = world.cluster.in_maintenance(&node_id("n1")).unwrap();
    assert_eq!((known.by.as_str(), known.reason.as_str(), known.since), ("ann", "and fans", began));
    assert_eq!(world.cluster.in_maintenance(&node_id("n2")), None);
    assert_eq!(maintain(&mut world, "n2", None).unwrap(), []);
    let fault = maintain(&mut world, "n9", Some("")).unwrap_err().to_string();
    assert!(fault.contains("n9") && fault.contains("no node of cluster"), "{fault}");
    world.delete().unwrap();
    assert!(
        due(&world.cluster)
            .iter()
            .all(|it| !matches!(it, Effect::Start { node, .. } if *node == node_id("n1")))
    );
    maintain(&mut world, "n1", None).unwrap();
    world.run_all();
    let fault = maintain(&mut world, "", Some("")).unwrap_err().to_string();
    assert!(fault.contains("terminated"), "{fault}");
    assert_eq!(replay(world.journal.iter().flatten()).unwrap(), world.cluster);
}

#[test]
fn only_what_is_new_about_health_is_an_event_and_a_new_machine_begins_anew() {
    let mut world = World::created(&Sketch::new(SHOP));
    assert_eq!(found(&mut world, "n2", Health::Healthy), 0, "nobody ever found it otherwise");
    assert_eq!(found(&mut world, "n2", Health::Down), 1);
    assert_eq!(found(&mut world, "n2", Health::Down), 0);
    assert_eq!(found(&mut world, "n2/web", Health::Down), 1);
    assert_eq!(found(&mut world, "n9", Health::Down), 0, "a node that is gone is no news");
    assert_eq!(found(&mut world, "n2/web", Health::Healthy), 1);
    assert_eq!(world.cluster.care.health.len(), 2);
    world.delete().unwrap();
    world.run("n2:DELETE", 0);
    assert_eq!(world.cluster.care.health.len(), 0);
}

#[test]
fn what_is_there_is_probed_and_what_is_left_alone_is_not() {
    let probed =
        |world: &World| -> Vec<String> { to_probe(&world.cluster).iter().map(ToString::to_string).collect() };
    let mut world = World::new(&Sketch::new(SHOP));
    assert_eq!(probed(&world), Vec::<String>::new());
    world.run("n1:CREATE", 0);
    world.run("n1:CONFIRM", 0);
    assert_eq!(probed(&world), ["n1"]);
    world.run_all();
    assert_eq!(probed(&world), ["n1", "n2", "n2/web"], "db does not say how it is probed");
    maintain(&mut world, "n2", Some("")).unwrap();
    assert_eq!(probed(&world), ["n1"]);
    maintain(&mut world, "", Some("")).unwrap();
    assert_eq!(probed(&world), Vec::<String>::new());
    assert_eq!(made_by(&world.cluster, &node_id("n1")), Some("w1"));
    assert_eq!(made_by(&world.cluster, &node_id("n9")), None);
}

#[test]
fn a_probe_is_given_what_a_task_would_be_given() {
    let world = World::created(&Sketch::new(SHOP));
    let order = probe_order(&world.cluster, &"n2/web".parse().unwrap()).unwrap();
    assert_eq!((order.task_name, order.attempt, order.task_id.number), (TaskName::Probe, 1, 0));
    let service = order.config.service.unwrap();
    assert_eq!((service.name.as_str(), service.action.automator.as_str()), ("web", "shell"));
    assert_eq!(order.config.cluster["owner"], "ann");
    assert_eq!(order.config.nodes.len(), 2);
    assert!(probe_order(&world.cluster, &"n1/db".parse().unwrap()).is_err());
    assert!(probe_order(&world.cluster, &"n1".parse().unwrap()).unwrap().config.service.is_none());
}

#[test]
fn a_cluster_has_a_switch_of_its_own() {
    let mut world = World::created(&Sketch::new(SHOP));
    let mut switch = |heal| {
        let change = CareChange::Healing { heal };
        let events = world.tell(Command::Care { changes: vec![change], by: "ann".into() }).unwrap().len();
        (events, world.cluster.health_policy(Policy::default()).heal)
    };
    assert_eq!(switch(Some(HealMode::Auto)), (1, HealMode::Auto));
    assert_eq!(switch(Some(HealMode::Auto)), (0, HealMode::Auto));
    assert_eq!(switch(None), (1, HealMode::Alarm));
}
