//! Rules of retrying a create that stopped half-way.

use cooperage_domain::cluster::{ClusterStatus, JobStatus};
use cooperage_domain::plan::ClusterAction;
use cooperage_domain::task::TaskName;

use crate::sketch::Sketch;
use crate::world::World;

/// Which tasks a retry plans, when the task with this name had failed for good.
fn left_after(failed: TaskName) -> Vec<String> {
    let mut world = World::new(&Sketch::alike("install configure start", 1));
    world.run_failing(failed, 1);
    assert_eq!(world.cluster.status, ClusterStatus::Incomplete);
    world.retry().unwrap();
    let left = world.job().tasks.values().map(World::label).collect();
    world.run_all();
    assert_eq!(world.cluster.status, ClusterStatus::Active, "{failed}");
    left
}

#[test]
fn it_goes_on_where_the_create_stopped() {
    let all =
        ["n1:CREATE", "n1:CONFIRM", "n1:BOOTSTRAP", "n1:INSTALL:web", "n1:CONFIGURE:web", "n1:START:web"];
    for (place, failed) in [
        TaskName::Create,
        TaskName::Confirm,
        TaskName::Bootstrap,
        TaskName::Install,
        TaskName::Configure,
        TaskName::Start,
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(left_after(failed), all[place..], "{failed}");
    }
}

#[test]
fn a_machine_whose_delete_failed_is_taken_as_it_is() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.run("n1:CREATE", 0);
    world.run("n1:CONFIRM", 1);
    world.run_failing(TaskName::Delete, 1);
    world.retry().unwrap();
    assert_eq!(world.ready(), ["n1:CONFIRM"]);
    world.run("n1:CONFIRM", 1);
    assert_eq!(world.ready(), ["n1:DELETE"], "the machine is made anew again");
    world.run_all();
    assert_eq!(world.cluster.status, ClusterStatus::Active);
}

#[test]
fn it_is_a_new_job_with_new_tasks() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.run_failing(TaskName::Create, 1);
    world.retry().unwrap();
    assert_eq!(world.job().id.number, 3);
    assert_eq!(world.job().action, ClusterAction::ClusterCreate);
    assert_eq!(world.job().tasks.keys().copied().collect::<Vec<_>>(), [4, 5, 6]);
    assert_eq!(world.task("n1:CREATE").attempts.len(), 0, "it has its own attempts");
    assert_eq!(world.cluster.jobs[&2].status, JobStatus::Failed);
}

#[test]
fn when_nothing_is_left_it_is_complete_at_once() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.run("n1:CREATE", 0);
    world.run("n1:CONFIRM", 0);
    world.start("n1:BOOTSTRAP");
    world.abort().unwrap();
    world.finish("n1:BOOTSTRAP", 0);
    assert_eq!(world.standing(), (ClusterStatus::Incomplete, JobStatus::Failed, 3, 3));
    world.retry().unwrap();
    assert_eq!(world.standing(), (ClusterStatus::Active, JobStatus::Complete, 0, 0));
}

#[test]
fn it_can_itself_be_retried() {
    let mut world = World::new(&Sketch::alike("start", 1));
    for _ in 0..3 {
        world.run_failing(TaskName::Bootstrap, 1);
        assert_eq!(world.cluster.status, ClusterStatus::Incomplete);
        world.retry().unwrap();
        assert_eq!(world.ready(), ["n1:BOOTSTRAP"]);
    }
}

#[test]
fn a_machine_that_may_exist_is_not_forgotten_when_the_retry_is_refused() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.run_failing(TaskName::Create, 1);
    world.retry().unwrap();
    world.run_failing(TaskName::Create, 250);
    assert_eq!(world.cluster.status, ClusterStatus::Incomplete, "the first job may have made one");
    world.delete().unwrap();
    assert_eq!(world.ready(), ["n1:DELETE"]);
}

#[test]
fn clusters_in_other_states_are_refused_with_a_remedy() {
    let pending = World::new(&Sketch::alike("", 1));
    let active = World::created(&Sketch::alike("", 1));
    let mut terminated = active.clone();
    terminated.delete().unwrap();
    terminated.run_all();
    for mut world in [pending, active, terminated] {
        let status = world.cluster.status;
        let refusal = world.retry().unwrap_err().to_string();
        assert!(refusal.contains(&format!("is {status}: it cannot be retried; ")), "{refusal}");
    }
}
