//! Rules of aborting a create.

use cooperage_domain::cluster::{ClusterStatus, JobStatus, due};

use crate::sketch::Sketch;
use crate::world::World;

const SAYS: &str = "Aborted by user.";

#[test]
fn before_anything_ran_the_cluster_is_terminated() {
    let mut world = World::new(&Sketch::alike("install", 2));
    world.abort().unwrap();
    assert_eq!(world.standing(), (ClusterStatus::Terminated, JobStatus::Failed, 8, 0));
    assert_eq!(world.message(), SAYS);
    assert!(due(&world.cluster).is_empty());
}

#[test]
fn after_something_was_made_the_cluster_is_incomplete() {
    let mut world = World::new(&Sketch::alike("install", 2));
    world.run("n1:CREATE", 0);
    world.abort().unwrap();
    assert_eq!(world.standing(), (ClusterStatus::Incomplete, JobStatus::Failed, 8, 1));
    assert_eq!(world.message(), SAYS);
}

#[test]
fn running_tasks_finish_and_nothing_more_starts() {
    for (code, status, done) in [
        (0, ClusterStatus::Incomplete, 1),
        (1, ClusterStatus::Incomplete, 0),
        (250, ClusterStatus::Terminated, 0),
    ] {
        let mut world = World::new(&Sketch::alike("install", 2));
        world.start("n1:CREATE");
        world.abort().unwrap();
        assert_eq!(world.standing(), (ClusterStatus::Pending, JobStatus::Failed, 8, 0), "{code}");
        assert_eq!(world.ready(), [""; 0], "{code}");
        world.finish("n1:CREATE", code);
        assert_eq!(world.standing(), (status, JobStatus::Failed, 8, done), "{code}");
        assert_eq!(world.message(), SAYS, "{code}");
    }
}

#[test]
fn it_can_be_asked_again_and_of_a_cluster_at_rest_and_changes_nothing() {
    let mut world = World::new(&Sketch::alike("", 2));
    world.start("n1:CREATE");
    world.abort().unwrap();
    assert!(world.abort().unwrap().is_empty());
    assert!(World::created(&Sketch::alike("", 1)).abort().unwrap().is_empty());
}

#[test]
fn only_a_create_can_be_aborted() {
    let mut world = World::created(&Sketch::alike("", 1));
    world.delete().unwrap();
    let refusal = world.abort().unwrap_err().to_string();
    assert!(refusal.contains("00000042 is pending: it cannot be aborted"), "{refusal}");
}

#[test]
fn while_a_machine_is_to_be_made_anew_it_is_left_as_it_is() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.run("n1:CREATE", 0);
    world.run("n1:CONFIRM", 1);
    world.abort().unwrap();
    assert_eq!(world.standing(), (ClusterStatus::Incomplete, JobStatus::Failed, 5, 1));
    world.delete().unwrap();
    world.run_all();
    assert_eq!(world.standing(), (ClusterStatus::Terminated, JobStatus::Complete, 1, 1));
}

#[test]
fn between_an_old_machine_and_a_new_one_there_is_nothing_to_delete() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.run("n1:CREATE", 0);
    world.run("n1:CONFIRM", 1);
    world.run("n1:DELETE", 0);
    world.abort().unwrap();
    assert_eq!(world.standing(), (ClusterStatus::Incomplete, JobStatus::Failed, 5, 2));
    world.delete().unwrap();
    assert_eq!(world.standing(), (ClusterStatus::Terminated, JobStatus::Complete, 0, 0));
}

#[test]
fn a_task_that_fails_after_the_abort_is_not_tried_again() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.run("n1:CREATE", 0);
    world.start("n1:CONFIRM");
    world.abort().unwrap();
    world.finish("n1:CONFIRM", 1);
    assert_eq!(world.standing(), (ClusterStatus::Incomplete, JobStatus::Failed, 3, 1));
}

#[test]
fn a_retry_that_is_aborted_forgets_no_machine() {
    let mut world = World::new(&Sketch::alike("install", 1));
    world.run("n1:CREATE", 0);
    world.abort().unwrap();
    world.retry().unwrap();
    world.abort().unwrap();
    assert_eq!(world.cluster.status, ClusterStatus::Incomplete, "there is a machine");
    world.delete().unwrap();
    assert_eq!(world.ready(), ["n1:DELETE"]);
}
