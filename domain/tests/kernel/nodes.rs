//! What people see of a node.

use cooperage_domain::cluster::{Command, NodeStatus};
use cooperage_domain::task::TaskName;

use crate::sketch::{Sketch, node_id};
use crate::world::World;

fn status(world: &World, node: &str) -> NodeStatus {
    world.cluster.node_status(&world.cluster.nodes[&node_id(node)])
}

#[test]
fn its_status_follows_its_tasks() {
    let mut world = World::new(&Sketch::alike("", 1));
    assert_eq!(status(&world, "n1"), NodeStatus::Waiting);
    world.start("n1:CREATE");
    assert_eq!(status(&world, "n1"), NodeStatus::Working);
    world.finish("n1:CREATE", 1);
    assert_eq!(status(&world, "n1"), NodeStatus::Waiting, "for the end of the pause");
    world.run_all();
    assert_eq!(status(&world, "n1"), NodeStatus::Ready);
    world.delete().unwrap();
    assert_eq!(status(&world, "n1"), NodeStatus::Waiting);
    world.run_all();
    assert_eq!(status(&world, "n1"), NodeStatus::Absent);
}

#[test]
fn nodes_of_a_job_that_stopped_are_failed_incomplete_or_absent() {
    let mut world = World::new(&Sketch::alike("", 3));
    world.run("n2:CREATE", 0);
    for _ in 0..3 {
        world.run("n1:CREATE", 1);
    }
    assert_eq!(status(&world, "n1"), NodeStatus::Failed);
    assert_eq!(status(&world, "n2"), NodeStatus::Incomplete, "it has a machine, and nothing goes on");
    assert_eq!(status(&world, "n3"), NodeStatus::Absent, "it has no machine, and nothing goes on");
    world.retry().unwrap();
    assert_eq!(status(&world, "n2"), NodeStatus::Waiting);
}

#[test]
fn its_history_is_in_the_order_in_which_things_were_started() {
    let mut world = World::new(&Sketch::alike("", 1));
    // All within one millisecond: numbers of tasks do not tell the order, since CONFIRM is older than DELETE.
    world.cluster.limits.retry_delay = 0;
    let morning = world.now;
    let mut run = |label: &str, code| {
        world.run(label, code);
        world.now = morning;
        world.history("n1").last().cloned().unwrap()
    };
    for (label, code, last) in [
        ("n1:CREATE", 0, "create complete"),
        ("n1:CONFIRM", 1, "confirm failed"),
        ("n1:DELETE", 0, "delete complete"),
        ("n1:CREATE", 0, "create complete"),
        ("n1:CONFIRM", 0, "confirm complete"),
    ] {
        assert_eq!(run(label, code), last);
    }
}

#[test]
fn its_history_keeps_what_failures_printed() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.run_failing(TaskName::Create, 1);
    let actions = world.cluster.node_actions(&node_id("n1"));
    assert_eq!(actions.len(), 3);
    assert_eq!(actions[2].stderr.as_deref(), Some("it broke: 1"));
    assert_eq!(actions[2].task_id.to_string(), "00000042-002-001");
}

#[test]
fn its_history_goes_over_all_jobs_and_shows_what_is_under_way() {
    let mut world = World::created(&Sketch::alike("", 1));
    world.delete().unwrap();
    world.start("n1:DELETE");
    assert_eq!(
        world.history("n1"),
        ["create complete", "confirm complete", "bootstrap complete", "delete inprogress"]
    );
    let task = world.task("n1:DELETE").id.number;
    world.tell(Command::TimeOutAttempt { task, attempt: 1 }).unwrap();
    assert_eq!(world.history("n1").last().unwrap(), "delete failed");
}
