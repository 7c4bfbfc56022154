//! Rules of taking over the newest version of a template.

use cooperage_domain::cluster::{ClusterStatus, Command, Event, Refusal};
use cooperage_domain::entity::ClusterTemplate;
use serde_json::{Value, json};

use crate::sketch::Sketch;
use crate::world::World;

fn newest(constraints: &Value) -> ClusterTemplate {
    let template = json!({
        "name": "shop", "version": 2,
        "defaults": {"config": {"key": "of the newest"}},
        "constraints": constraints,
        "administration": {"leaseduration": {"initial": "1h", "max": "2h"}}
    });
    serde_json::from_value(template).unwrap()
}

fn sync(world: &mut World, template: ClusterTemplate) -> Result<Vec<Event>, Refusal> {
    let command = Command::SyncTemplate { template: Box::new(template), by: "ann".into() };
    world.tell(command).map(<[Event]>::to_vec)
}

#[test]
fn only_the_clusters_copy_of_it_changes() {
    let mut world = World::created(&Sketch::alike("start", 2));
    let mut expected = world.cluster.clone();
    sync(&mut world, newest(&json!({}))).unwrap();
    expected.template = newest(&json!({}));
    expected.sequence += 1;
    assert_eq!(world.cluster, expected, "no job, and the configuration and the lease are as they were");
}

#[test]
fn the_nodes_as_they_are_must_keep_its_rules() {
    let mut world = World::created(&Sketch::alike("start", 2));
    let before = world.cluster.clone();
    for rules in [
        json!({"services": {"web": {"quantities": {"max": 1}}}}),
        json!({"services": {"web": {"hardwaretypes": ["large"]}}}),
    ] {
        let refusal = sync(&mut world, newest(&rules)).unwrap_err();
        assert!(matches!(&refusal, Refusal::NoLayout(_)) && refusal.to_string().contains("web"), "{refusal}");
        assert_eq!(world.cluster, before);
    }
}

#[test]
fn services_that_were_added_count() {
    let mut world = World::created(&Sketch::alike("start", 2));
    world.add(&["log"], "log: start").unwrap();
    world.run_all();
    let apart = json!({"layout": {"cantcoexist": [["log", "web"]]}});
    assert!(sync(&mut world, newest(&apart)).is_err());
}

#[test]
fn only_an_active_cluster_takes_it() {
    for status in [
        ClusterStatus::Pending,
        ClusterStatus::Incomplete,
        ClusterStatus::Inconsistent,
        ClusterStatus::Terminated,
    ] {
        let mut world = World::created(&Sketch::alike("", 1));
        world.cluster.status = status;
        let refusal = sync(&mut world, newest(&json!({}))).unwrap_err();
        assert!(matches!(refusal, Refusal::WrongState { .. }), "{refusal}");
    }
}
