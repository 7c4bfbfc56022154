//! Rules of creating a cluster.

use cooperage_domain::cluster::{ClusterStatus, JobStatus, create};
use cooperage_domain::layout::NoLayout;
use cooperage_domain::plan::ClusterAction;
use cooperage_domain::task::TaskReport;

use crate::sketch::{Sketch, node_id};
use crate::world::{MORNING, World};

#[test]
fn a_machine_is_made_confirmed_and_prepared_and_then_its_services_come() {
    let mut world = World::new(&Sketch::alike("install configure initialize start", 1));
    let steps = [
        "n1:CREATE",
        "n1:CONFIRM",
        "n1:BOOTSTRAP",
        "n1:INSTALL:web",
        "n1:CONFIGURE:web",
        "n1:INITIALIZE:web",
        "n1:START:web",
    ];
    for (done, step) in steps.into_iter().enumerate() {
        assert_eq!(world.ready(), [step]);
        assert_eq!(world.standing(), (ClusterStatus::Pending, JobStatus::Running, 7, done));
        world.run(step, 0);
    }
    assert_eq!(world.standing(), (ClusterStatus::Active, JobStatus::Complete, 7, 7));
    assert_eq!(world.job().action, ClusterAction::ClusterCreate);
    assert_eq!(world.job().ended, Some(world.now));
}

#[test]
fn services_without_actions_need_no_tasks() {
    let mut world = World::new(&Sketch::alike("", 2));
    assert_eq!(world.standing(), (ClusterStatus::Pending, JobStatus::Running, 6, 0));
    world.run_all();
    assert_eq!(world.standing(), (ClusterStatus::Active, JobStatus::Complete, 6, 6));
}

#[test]
fn a_service_starts_when_what_it_needs_runs_on_every_node() {
    let mut world =
        World::new(&Sketch::new("db: start\nweb: install start | db\nn1 = db\nn2 = db\nn3 = web"));
    for node in ["n1", "n2", "n3"] {
        for step in ["CREATE", "CONFIRM", "BOOTSTRAP"] {
            world.run(&format!("{node}:{step}"), 0);
        }
    }
    assert_eq!(world.ready(), ["n1:START:db", "n2:START:db", "n3:INSTALL:web"]);
    world.run("n3:INSTALL:web", 0);
    world.run("n1:START:db", 0);
    assert_eq!(world.ready(), ["n2:START:db"]);
    world.run("n2:START:db", 0);
    assert_eq!(world.ready(), ["n3:START:web"]);
}

#[test]
fn no_nodes_no_tasks_and_the_job_is_complete_at_once() {
    let world = World::new(&Sketch::default());
    assert_eq!(world.standing(), (ClusterStatus::Active, JobStatus::Complete, 0, 0));
}

#[test]
fn without_a_layout_the_cluster_is_terminated_with_the_reasons() {
    let order = Sketch::default().order();
    let mut world = World::of(create(order, Err(NoLayout { reasons: Vec::new() }), MORNING).unwrap());
    assert_eq!(world.standing(), (ClusterStatus::Terminated, JobStatus::Failed, 0, 0));
    assert_eq!(world.job().action, ClusterAction::SolveLayout);
    assert!(world.message().starts_with("Layout solving failed: "), "{}", world.message());
    assert!(world.delete().unwrap().is_empty());
}

#[test]
fn services_that_wait_for_each_other_are_refused_by_name() {
    let sketch = Sketch::new("a: start | b\nb: start | a\nn1 = a b");
    let refusal = create(sketch.order(), Ok(sketch.nodes), MORNING).unwrap_err();
    assert!(refusal.to_string().contains("a → b → a"), "{refusal}");
}

#[test]
fn what_a_task_reports_is_known_to_the_next_one() {
    let mut world = World::new(&Sketch::alike("", 1));
    let addresses = [("access_v4".to_owned(), "198.51.100.9".to_owned())].into();
    let (task, attempt) = world.start("n1:CREATE");
    let report = TaskReport {
        ipaddresses: Some(addresses),
        hostname: Some("i-7.cloud".into()),
        result: serde_json::from_str(r#"{"providerid": "i-7"}"#).unwrap(),
        stdout: "much".into(),
        ..TaskReport::success()
    };
    world.tell(cooperage_domain::cluster::Command::FinishAttempt { task, attempt, report }).unwrap();
    let node = &world.cluster.nodes[&node_id("n1")];
    assert_eq!(node.properties.ipaddresses["access_v4"], "198.51.100.9");
    assert_eq!(node.properties.hostname.as_deref(), Some("i-7.cloud"));
    assert_eq!(node.results["providerid"], "i-7");
    assert!(!format!("{:?}", world.journal).contains("much"), "what a success prints is not kept");
}
