//! Rules of giving a cluster another configuration.

use cooperage_domain::cluster::ServiceChange::{Start, Stop};
use cooperage_domain::cluster::{ClusterStatus, Command, JobStatus, Refusal, order};
use cooperage_domain::plan::{ClusterAction, Observed, Wanted};
use cooperage_domain::task::TaskName;
use serde_json::{Value, json};

use crate::sketch::Sketch;
use crate::world::World;

const ALL: &str = "install configure initialize start stop";

fn created() -> World {
    World::created(&Sketch::alike(ALL, 1))
}

#[test]
fn it_is_written_on_every_node_and_services_are_restarted_if_so_asked() {
    for (restart, action, expected) in [
        (false, ClusterAction::ClusterConfigure, vec!["n1:BOOTSTRAP", "n1:CONFIGURE:web"]),
        (
            true,
            ClusterAction::ClusterConfigureWithRestart,
            vec!["n1:BOOTSTRAP", "n1:STOP:web", "n1:CONFIGURE:web", "n1:START:web"],
        ),
    ] {
        let mut world = created();
        world.configure(restart).unwrap();
        assert_eq!(
            (world.job().action, world.planned()),
            (action, expected.iter().map(|&it| it.into()).collect())
        );
        for step in expected {
            assert_eq!(world.ready(), [step]);
            world.run(step, 0);
        }
        assert_eq!(world.standing().0, ClusterStatus::Active);
        assert_eq!(world.unit("n1/web"), (Observed::Started, Wanted::Running));
    }
}

#[test]
fn the_old_one_is_replaced_as_a_whole_before_anything_runs() {
    let mut world = created();
    assert!(world.cluster.config.contains_key("owner"));
    world.configure(true).unwrap();
    assert_eq!(Value::from(world.cluster.config.clone()), json!({"key": "new"}));
    world.run("n1:BOOTSTRAP", 0);
    let task = world.task("n1:STOP:web").id.number;
    assert_eq!(Value::from(order(&world.cluster, task, 1).unwrap().config.cluster), json!({"key": "new"}));
    world.run_failing(TaskName::Stop, 1);
    assert_eq!(
        Value::from(world.cluster.config.clone()),
        json!({"key": "new"}),
        "whatever becomes of the job"
    );
}

#[test]
fn services_at_rest_take_it_up_when_they_start() {
    let mut world = created().changed(Stop, "");
    world.configure(true).unwrap();
    assert_eq!(world.planned(), ["n1:BOOTSTRAP", "n1:CONFIGURE:web"]);
    world.run_all();
    assert_eq!(world.unit("n1/web"), (Observed::Stopped, Wanted::Stopped));
    assert_eq!(world.changed(Start, "").unit("n1/web"), (Observed::Started, Wanted::Running));
}

#[test]
fn a_node_that_carries_nothing_is_left_alone() {
    let mut world = World::created(&Sketch::new("web: configure\nn1 = web\nn2 ="));
    world.configure(true).unwrap();
    assert_eq!(world.planned(), ["n1:BOOTSTRAP", "n1:CONFIGURE:web"]);
}

#[test]
fn without_tasks_it_is_complete_at_once() {
    let mut world = World::created(&Sketch::new("web: configure\nn1 ="));
    world.configure(true).unwrap();
    assert_eq!(world.standing(), (ClusterStatus::Active, JobStatus::Complete, 0, 0));
    assert_eq!(Value::from(world.cluster.config.clone()), json!({"key": "new"}));
}

#[test]
fn a_task_that_fails_for_good_leaves_the_cluster_inconsistent_and_a_retry_goes_on_there() {
    let all = ["n1:BOOTSTRAP", "n1:STOP:web", "n1:CONFIGURE:web", "n1:START:web"];
    for (place, failed) in
        [TaskName::Bootstrap, TaskName::Stop, TaskName::Configure, TaskName::Start].into_iter().enumerate()
    {
        let mut world = created();
        world.configure(true).unwrap();
        world.run_failing(failed, 1);
        assert_eq!(world.standing(), (ClusterStatus::Inconsistent, JobStatus::Failed, 4, place), "{failed}");
        world.retry().unwrap();
        assert_eq!(world.job().action, ClusterAction::ClusterConfigureWithRestart);
        assert_eq!(world.planned(), all[place..], "{failed}");
        world.run_all();
        assert_eq!(world.cluster.status, ClusterStatus::Active);
    }
}

#[test]
fn an_inconsistent_cluster_can_be_configured_and_is_active_in_the_end() {
    let mut world = created();
    world.configure(true).unwrap();
    world.run_failing(TaskName::Configure, 1);
    world.configure(false).unwrap();
    let planned = ["n1:BOOTSTRAP", "n1:CONFIGURE:web", "n1:START:web"];
    assert_eq!(world.planned(), planned, "it was stopped, and is wanted running");
    world.run_all();
    assert_eq!(world.cluster.status, ClusterStatus::Active);
}

#[test]
fn a_restart_that_was_not_begun_is_not_done_when_the_next_request_asks_for_none() {
    let mut world = created();
    world.configure(true).unwrap();
    world.run_failing(TaskName::Bootstrap, 1);
    world.configure(false).unwrap();
    assert_eq!(world.planned(), ["n1:BOOTSTRAP", "n1:CONFIGURE:web"]);
}

#[test]
fn a_service_that_was_not_brought_up_yet_is_not_configured_before_it_is_installed() {
    let mut world = created();
    world.add(&["log"], &format!("log: {ALL}")).unwrap();
    world.run_with(|task| i64::from(task.name == TaskName::Install));
    assert_eq!(world.cluster.status, ClusterStatus::Inconsistent);
    world.configure(false).unwrap();
    let log: Vec<_> = world.planned().into_iter().filter(|task| task.ends_with(":log")).collect();
    assert_eq!(log, ["n1:INSTALL:log", "n1:CONFIGURE:log", "n1:INITIALIZE:log", "n1:START:log"]);
    world.run_all();
    assert_eq!(world.cluster.status, ClusterStatus::Active);
}

#[test]
fn clusters_in_other_states_are_refused() {
    for status in [ClusterStatus::Pending, ClusterStatus::Incomplete, ClusterStatus::Terminated] {
        let mut world = created();
        world.cluster.status = status;
        let refusal = world.configure(true).unwrap_err();
        assert!(matches!(refusal, Refusal::WrongState { asked: "configured", .. }), "{refusal}");
    }
}

#[test]
fn macros_that_can_never_be_expanded_are_refused_and_nothing_changes() {
    let mut world = created();
    let config = json!({"peers": ["%host.service.web[%"]}).as_object().cloned().unwrap();
    let command = Command::Configure { config, restart: false, by: "ann".into() };
    let before = world.cluster.clone();
    let refusal = world.tell(command).unwrap_err();
    assert!(matches!(&refusal, Refusal::Invalid(fault) if fault.field == "config"), "{refusal}");
    assert_eq!(world.cluster, before);
}
