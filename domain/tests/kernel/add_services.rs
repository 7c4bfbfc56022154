//! Rules of adding services to a cluster.

use cooperage_domain::cluster::ServiceChange::Stop;
use cooperage_domain::cluster::{Cluster, ClusterStatus, JobStatus, Refusal};
use cooperage_domain::entity::Constraints;
use cooperage_domain::plan::{ClusterAction, Observed, Wanted};
use cooperage_domain::task::TaskName;
use serde_json::json;

use crate::sketch::{Sketch, node_id};
use crate::world::World;

/// A store on two nodes of three, and what there is besides.
const CLUSTER: &str = "db: install start stop\nbase: install\nn1 = db base\nn2 = base\nn3 = db base";
const KNOWN: &str =
    "db: install start stop\nbase: install\nlog: install start\nweb: install configure start | db";

fn created() -> World {
    World::created(&Sketch::new(CLUSTER))
}

fn constrained(constraints: serde_json::Value) -> World {
    let mut world = created();
    world.cluster.template.constraints = serde_json::from_value::<Constraints>(constraints).unwrap();
    world
}

/// On which nodes a service is.
fn nodes_with(cluster: &Cluster, service: &str) -> Vec<String> {
    let nodes = cluster.nodes.values().filter(|node| node.properties.services.contains(service));
    nodes.map(|node| node.id.to_string()).collect()
}

#[test]
fn they_go_on_as_many_nodes_as_may_be_and_no_machine_is_added() {
    let mut world = created();
    world.add(&["log"], KNOWN).unwrap();
    assert_eq!(nodes_with(&world.cluster, "log"), ["n1", "n2", "n3"]);
    assert_eq!(world.cluster.nodes.len(), 3);
    assert!(world.cluster.services.contains("log") && world.cluster.definitions.contains_key("log"));
    assert_eq!(world.job().action, ClusterAction::AddServices);
    world.run_all();
    assert_eq!(world.standing(), (ClusterStatus::Active, JobStatus::Complete, 9, 9));
    assert_eq!(world.unit("n2/log"), (Observed::Started, Wanted::Running));
}

#[test]
fn of_equal_nodes_those_with_the_lowest_numbers_get_them() {
    let apart = json!({"layout": {"cantcoexist": [["log", "db"]]}});
    assert_eq!(placed(&constrained(apart)), ["n2"]);
    let one = json!({"services": {"log": {"quantities": {"max": 1}}}});
    let first = placed(&constrained(one.clone()));
    assert_eq!(first, placed(&constrained(one)), "always the same");
    let mut alike = World::created(&Sketch::alike("start", 4));
    alike.cluster.template.constraints =
        serde_json::from_value(json!({"services": {"log": {"quantities": {"max": 2}}}})).unwrap();
    assert_eq!(placed(&alike), ["n1", "n2"]);
}

fn placed(world: &World) -> Vec<String> {
    let mut world = world.clone();
    world.add(&["log"], KNOWN).unwrap();
    nodes_with(&world.cluster, "log")
}

#[test]
fn the_nodes_are_made_ready_again_and_what_is_needed_is_started_again() {
    let mut world = constrained(json!({"services": {"web": {"quantities": {"max": 1}}}}));
    world.add(&["web"], KNOWN).unwrap();
    let place = nodes_with(&world.cluster, "web")[0].clone();
    let mut planned = world.planned();
    planned.sort_unstable();
    let mut expected: Vec<String> = ["BOOTSTRAP", "INSTALL:web", "CONFIGURE:web", "START:web"]
        .iter()
        .map(|step| format!("{place}:{step}"))
        .chain(["n1:START:db".to_owned(), "n3:START:db".to_owned()])
        .collect();
    expected.sort_unstable();
    assert_eq!(planned, expected);
    let start = world.task(&format!("{place}:START:web")).clone();
    for node in ["n1", "n3"] {
        assert!(start.after.contains(&world.task(&format!("{node}:START:db")).id.number), "{node}");
    }
}

#[test]
fn what_they_need_and_rests_is_wanted_running() {
    let mut world = created().changed(Stop, "db");
    world.add(&["web"], KNOWN).unwrap();
    world.run_all();
    for unit in ["n1/db", "n3/db", "n2/web"] {
        assert_eq!(world.unit(unit), (Observed::Started, Wanted::Running), "{unit}");
    }
}

#[test]
fn several_at_once_come_up_in_their_order() {
    let mut world = World::created(&Sketch::new("base: install\nn1 = base"));
    world.add(&["app", "store"], "store: install start\napp: install start | store").unwrap();
    world.run_all();
    let history = world.history("n1");
    assert_eq!(history.len(), 3 + 1 + 1 + 4, "machine, base, machine again, both: {history:?}");
    assert_eq!(world.cluster.status, ClusterStatus::Active);
}

#[test]
fn services_that_are_there_keep_their_version() {
    let mut world = created();
    let before = world.cluster.definitions.clone();
    // The catalogue has newer ones, which cannot be stopped, and one of which goes with nothing.
    world.add(&["log"], "db: install start\nbase: install start | nothing\nlog: start").unwrap();
    for name in ["db", "base"] {
        assert_eq!(world.cluster.definitions[name], before[name], "{name}");
    }
    // Nor need the catalogue have them at all.
    let mut world = created();
    world.add(&["log"], "log: start").unwrap();
    assert_eq!(world.cluster.definitions["db"], before["db"]);
}

#[test]
fn the_next_addition_sees_the_one_before() {
    let apart =
        json!({"layout": {"cantcoexist": [["log", "web"]]}, "services": {"log": {"quantities": {"max": 2}}}});
    let mut world = constrained(apart);
    world.add(&["log"], KNOWN).unwrap();
    world.run_all();
    let with_log = nodes_with(&world.cluster, "log");
    world.add(&["web"], KNOWN).unwrap();
    world.run_all();
    let with_web = nodes_with(&world.cluster, "web");
    assert_eq!(with_log.len() + with_web.len(), 3, "{with_log:?} {with_web:?}");
    let automators = &world.cluster.nodes[&node_id(&with_web[0])].properties.automators;
    assert!(automators.contains("shell"));
    assert!(world.add(&["log"], KNOWN).unwrap_err().to_string().contains("already"));
}

#[test]
fn what_cannot_be_added_leaves_the_cluster_active_and_untouched_with_the_reason() {
    for (constraints, services, mentions) in [
        (json!({}), vec![], "no services"),
        (json!({}), vec!["db"], "already"),
        (json!({}), vec!["fake"], "fake"),
        (json!({"services": {"log": {"quantities": {"min": 4}}}}), vec!["log"], "log"),
        (json!({"layout": {"cantcoexist": [["log", "base"]]}}), vec!["log"], "base"),
    ] {
        let mut world = constrained(constraints);
        let before = world.cluster.clone();
        let refusal = world.add(&services, KNOWN).unwrap_err();
        assert!(matches!(refusal, Refusal::NoLayout(_)), "{refusal}");
        assert!(refusal.to_string().contains(mentions), "{refusal}");
        assert_eq!((before.status, &before), (ClusterStatus::Active, &world.cluster));
    }
    let mut world = created();
    let refusal = world.add(&["a", "b"], "a: start | b\nb: start | a").unwrap_err();
    assert!(refusal.to_string().contains("a → b → a"), "{refusal}");
    assert_eq!(world.cluster, created().cluster);
}

#[test]
fn a_task_that_fails_for_good_leaves_the_cluster_inconsistent_and_a_retry_goes_on_there() {
    for (failed, left) in
        [(TaskName::Bootstrap, 4 * 3), (TaskName::Install, 3 * 3), (TaskName::Configure, 2 * 3)]
    {
        let mut world = created();
        world.add(&["web"], KNOWN).unwrap();
        let places = |world: &World| nodes_with(&world.cluster, "web").len();
        assert_eq!(places(&world), 3);
        world.run_in_rounds(|task| i64::from(task.name == failed));
        assert_eq!(world.cluster.status, ClusterStatus::Inconsistent);
        world.retry().unwrap();
        assert_eq!(world.job().action, ClusterAction::AddServices);
        assert_eq!(world.planned().len(), left, "{failed}: {:?}", world.planned());
        world.run_all();
        assert_eq!(world.cluster.status, ClusterStatus::Active);
        assert_eq!(world.unit("n1/web"), (Observed::Started, Wanted::Running));
    }
}

#[test]
fn only_an_active_cluster_takes_them() {
    for status in [
        ClusterStatus::Pending,
        ClusterStatus::Incomplete,
        ClusterStatus::Inconsistent,
        ClusterStatus::Terminated,
    ] {
        let mut world = created();
        world.cluster.status = status;
        let refusal = world.add(&["log"], KNOWN).unwrap_err();
        assert!(matches!(refusal, Refusal::WrongState { .. }), "{refusal}");
    }
}
