//! Rules of pausing a job and going on with it.

use cooperage_domain::cluster::{
    ClusterStatus, Command, Effect, JobStatus, NodeStatus, Refusal, due, due_after,
};
use cooperage_domain::task::TaskName;

use crate::sketch::Sketch;
use crate::world::World;

#[test]
fn running_tasks_finish_and_nothing_new_starts_until_it_goes_on() {
    let mut world = World::new(&Sketch::alike("", 2));
    world.start("n1:CREATE");
    let waiting = world.task("n2:CREATE").id.number;
    world.pause().unwrap();
    assert_eq!(world.standing(), (ClusterStatus::Pending, JobStatus::Paused, 6, 0));
    assert_eq!(world.message(), "Paused by user.");
    let refusal = world.tell(Command::StartAttempt { task: waiting, worker: "w1".into() }).unwrap_err();
    assert_eq!(refusal, Refusal::NotReady { task: waiting, reason: "its job is paused" });
    world.finish("n1:CREATE", 0);
    assert_eq!(world.standing(), (ClusterStatus::Pending, JobStatus::Paused, 6, 1));
    assert!(due(&world.cluster).is_empty());
    world.resume().unwrap();
    assert_eq!(world.standing(), (ClusterStatus::Pending, JobStatus::Running, 6, 1));
    assert_eq!(world.message(), "Resumed by user.");
    assert_eq!(world.ready(), ["n1:CONFIRM", "n2:CREATE"]);
    world.run_all();
    assert_eq!(world.standing(), (ClusterStatus::Active, JobStatus::Complete, 6, 6));
}

#[test]
fn going_on_offers_what_waits_and_not_what_runs() {
    let mut world = World::new(&Sketch::alike("", 3));
    let (running, _) = world.start("n1:CREATE");
    world.pause().unwrap();
    let events = world.resume().unwrap().to_vec();
    let added = due_after(&world.cluster, &events);
    assert_eq!(added.len(), 2);
    assert!(added.iter().all(|it| matches!(it, Effect::Start { task, .. } if *task != running)), "{added:?}");
}

#[test]
fn a_task_that_fails_meanwhile_is_tried_again_after_it() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.start("n1:CREATE");
    world.pause().unwrap();
    world.finish("n1:CREATE", 1);
    assert!(due(&world.cluster).is_empty());
    assert_eq!(world.cluster.node_status(world.cluster.nodes.values().next().unwrap()), NodeStatus::Waiting);
    world.resume().unwrap();
    world.run_all();
    assert_eq!(world.cluster.status, ClusterStatus::Active);
}

#[test]
fn a_machine_that_is_not_confirmed_meanwhile_is_made_anew_after_it() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.run("n1:CREATE", 0);
    world.start("n1:CONFIRM");
    world.pause().unwrap();
    world.finish("n1:CONFIRM", 1);
    assert!(due(&world.cluster).is_empty());
    world.resume().unwrap();
    assert_eq!(world.ready(), ["n1:DELETE"]);
    world.run_all();
    assert_eq!(world.cluster.status, ClusterStatus::Active);
}

#[test]
fn a_job_whose_last_task_ends_meanwhile_ends() {
    for (code, status) in [(0, ClusterStatus::Active), (1, ClusterStatus::Incomplete)] {
        let mut world = World::new(&Sketch::alike("", 1));
        world.run("n1:CREATE", 0);
        world.run("n1:CONFIRM", 0);
        for _ in 0..2 {
            world.run("n1:BOOTSTRAP", 1);
        }
        world.start("n1:BOOTSTRAP");
        world.pause().unwrap();
        world.finish("n1:BOOTSTRAP", code);
        assert_eq!(world.cluster.status, status, "nothing is left that could wait");
        assert!(world.job().ended.is_some());
    }
}

#[test]
fn it_needs_a_running_job_and_going_on_a_paused_one() {
    let fresh = World::new(&Sketch::alike("", 2));
    let mut paused = fresh.clone();
    paused.pause().unwrap();
    let mut failing = fresh.clone();
    failing.start("n1:CREATE");
    failing.abort().unwrap();
    let rests = World::created(&Sketch::alike("", 1));
    for (mut world, pauses, resumes) in
        [(fresh, true, false), (paused, false, true), (failing, false, false), (rests, false, false)]
    {
        assert_eq!(world.clone().pause().unwrap().len(), usize::from(pauses), "{:?}", world.standing());
        assert_eq!(world.resume().unwrap().len(), usize::from(resumes), "{:?}", world.standing());
    }
}

#[test]
fn a_paused_job_must_go_on_before_anything_else_is_done() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.pause().unwrap();
    let mut deleted = world.clone();
    for refusal in [world.abort().unwrap_err(), deleted.delete().unwrap_err()] {
        let text = refusal.to_string();
        assert!(
            matches!(refusal, Refusal::WrongState { .. }) && text.contains("resume its job first"),
            "{text}"
        );
    }
    world.resume().unwrap();
    world.abort().unwrap();
    assert_eq!(world.standing(), (ClusterStatus::Terminated, JobStatus::Failed, 3, 0));
}

#[test]
fn a_create_that_went_on_says_in_the_end_that_nothing_was_made() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.pause().unwrap();
    world.resume().unwrap();
    world.run_failing(TaskName::Create, 250);
    assert_eq!(world.cluster.status, ClusterStatus::Terminated);
    assert_eq!(world.message(), "Unable to create nodes, please check your provider settings");
}

#[test]
fn every_job_can_be_paused() {
    let mut world = World::created(&Sketch::alike("configure start stop", 1));
    world.configure(true).unwrap();
    world.run("n1:BOOTSTRAP", 0);
    world.pause().unwrap();
    assert!(due(&world.cluster).is_empty());
    world.resume().unwrap();
    world.run_all();
    world.delete().unwrap();
    world.pause().unwrap();
    assert!(due(&world.cluster).is_empty());
    world.resume().unwrap();
    world.run_all();
    assert_eq!(world.cluster.status, ClusterStatus::Terminated);
}
