//! Rules of deleting a cluster.

use cooperage_domain::cluster::{ClusterStatus, JobStatus, due};
use cooperage_domain::task::TaskName;

use crate::check::is_of_lease;
use crate::sketch::Sketch;
use crate::world::World;

#[test]
fn every_machine_is_given_back_all_at_once() {
    let mut world = World::created(&Sketch::alike("install start", 3));
    world.delete().unwrap();
    assert_eq!(world.standing(), (ClusterStatus::Pending, JobStatus::Running, 3, 0));
    assert_eq!(world.ready(), ["n1:DELETE", "n2:DELETE", "n3:DELETE"]);
    world.run_all();
    assert_eq!(world.standing(), (ClusterStatus::Terminated, JobStatus::Complete, 3, 3));
    assert!(due(&world.cluster).is_empty());
}

#[test]
fn a_terminated_cluster_needs_nothing_more() {
    let mut world = World::created(&Sketch::alike("", 1));
    world.delete().unwrap();
    world.run_all();
    assert!(world.delete().unwrap().is_empty());
}

#[test]
fn a_pending_cluster_is_refused_with_a_remedy() {
    let mut world = World::new(&Sketch::alike("", 1));
    let refusal = world.delete().unwrap_err().to_string();
    assert!(refusal.contains("pending") && refusal.contains("abort the job first"), "{refusal}");
}

#[test]
fn a_node_that_was_never_asked_for_needs_no_task() {
    let mut world = World::new(&Sketch::alike("", 3));
    world.run("n1:CREATE", 0);
    world.start("n2:CREATE");
    world.abort().unwrap();
    world.finish("n2:CREATE", 1);
    world.delete().unwrap();
    assert_eq!(world.ready(), ["n1:DELETE", "n2:DELETE"], "the second may exist although its CREATE failed");
}

#[test]
fn a_delete_that_failed_goes_on_with_what_is_left() {
    let mut world = World::created(&Sketch::alike("start", 2));
    world.delete().unwrap();
    world.run("n1:DELETE", 0);
    world.run_failing(TaskName::Delete, 1);
    assert_eq!(world.standing(), (ClusterStatus::Incomplete, JobStatus::Failed, 2, 1));
    let refusal = world.retry().unwrap_err().to_string();
    assert!(refusal.contains("delete it"), "{refusal}");
    world.delete().unwrap();
    assert_eq!(world.ready(), ["n2:DELETE"]);
    world.run_all();
    assert_eq!(world.cluster.status, ClusterStatus::Terminated);
}

#[test]
fn a_code_that_says_nothing_was_made_does_not_end_a_delete() {
    let mut world = World::created(&Sketch::alike("", 1));
    world.delete().unwrap();
    world.run_failing(TaskName::Delete, 250);
    assert_eq!(world.cluster.status, ClusterStatus::Incomplete);
}

#[test]
fn services_in_a_circle_do_not_hinder_it() {
    let mut world = World::created(&Sketch::new("a: install start\nb: install start | a\nn1 = a b"));
    let services = &mut world.cluster.definitions;
    services.get_mut("a").unwrap().dependencies.runtime.requires = ["b".to_owned()].into();
    world.delete().unwrap();
    assert_eq!(world.ready(), ["n1:DELETE"]);
}

#[test]
fn inconsistent_clusters_can_be_deleted() {
    let mut world = World::created(&Sketch::alike("", 1));
    world.cluster.status = ClusterStatus::Inconsistent;
    world.delete().unwrap();
    world.run_all();
    assert!(!due(&world.cluster).iter().any(is_of_lease));
    assert_eq!(world.cluster.status, ClusterStatus::Terminated);
}
