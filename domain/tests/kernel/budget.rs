//! Every task that waits says why.

use cooperage_domain::cluster::budget::{self, WaitReason};
use cooperage_domain::cluster::{ClusterStatus, Command, Limits, WaitCode};

use crate::sketch::Sketch;
use crate::world::World;

const TWO: &str = "db: install start\nweb: start | db\nn1 = db\nn2 = web";

impl World {
    fn why(&self, label: &str) -> Vec<WaitReason> {
        budget::why_waiting(&self.cluster, self.task(label).id.number, self.now)
    }

    /// `code: text` of each reason.
    fn reasons(&self, label: &str) -> Vec<String> {
        self.why(label).iter().map(|it| format!("{}: {}", it.code.as_str(), it.text)).collect()
    }
}

#[test]
fn a_task_names_what_it_waits_for_and_how_that_stands() {
    let mut world = World::new(&Sketch::new(TWO));
    assert_eq!(world.reasons("n1:CREATE"), [""; 0], "nothing but a worker");
    assert_eq!(
        world.reasons("n1:CONFIRM"),
        ["predecessor: for CREATE on n1.local, which may start but has not begun"]
    );
    world.start("n1:CREATE");
    world.now += 12_345;
    let why = world.why("n1:CONFIRM");
    assert_eq!(why[0].text, "for CREATE on n1.local, which has run for 12 s");
    assert_eq!(why[0].task, Some(world.task("n1:CREATE").id));
    assert_eq!(
        world.reasons("n1:INSTALL:db"),
        ["predecessor: for BOOTSTRAP on n1.local, which waits itself"]
    );
    assert_eq!(world.reasons("n1:CREATE"), [""; 0], "one that runs waits for nothing");
}

#[test]
fn the_pause_after_a_failure_has_an_end() {
    let mut world = World::new(&Sketch::new(TWO));
    world.run("n1:CREATE", 1);
    let why = world.why("n1:CREATE");
    assert_eq!(why[0].code, WaitCode::RetryPause);
    assert_eq!(why[0].text, "for the pause after attempt 1 of 3, which failed (unknown): 1 s more");
    assert_eq!(why[0].until, Some(world.now + 1_000));
    world.now += 1_000;
    assert_eq!(world.reasons("n1:CREATE"), [""; 0]);
}

#[test]
fn a_node_is_busy_with_something() {
    let mut world = World::new(&Sketch::new("db: install start\nlog: install\nn1 = db log"));
    for step in ["n1:CREATE", "n1:CONFIRM", "n1:BOOTSTRAP"] {
        world.run(step, 0);
    }
    world.start("n1:INSTALL:db");
    world.now += 150_000;
    assert_eq!(
        world.reasons("n1:INSTALL:log"),
        ["node_busy: for its node, which has been busy with INSTALL db on n1.local for 2 min"]
    );
}

#[test]
fn jobs_that_rest_or_have_failed_are_the_first_reason() {
    let mut world = World::new(&Sketch::new(TWO));
    world.pause().unwrap();
    assert_eq!(world.reasons("n1:CREATE"), ["job_paused: for its job, which is paused, to be resumed"]);
    assert_eq!(world.why("n1:CONFIRM").len(), 2);
    world.resume().unwrap();
    world.start("n1:CREATE");
    world.abort().unwrap();
    let said = world.reasons("n2:CREATE");
    assert!(said[0].starts_with("job_stopped: in vain: its job has failed"), "{said:?}");
    assert_eq!(budget::waiting(&world.cluster).len(), 8);
    world.finish("n1:CREATE", 0);
    assert_eq!(budget::waiting(&world.cluster), [0; 0], "nothing waits any more");
}

#[test]
fn of_many_predecessors_the_first_are_told() {
    let mut world = World::new(&Sketch::new(&format!(
        "db: start\nweb: start | db\n{}w = web",
        (1..=9).map(|n| format!("d{n} = db\n")).collect::<String>()
    )));
    world.run("w:CREATE", 0);
    for step in ["CREATE", "CONFIRM", "BOOTSTRAP"] {
        world.run(&format!("d9:{step}"), 0);
    }
    world.start("d9:START:db");
    let said = world.reasons("w:START:web");
    assert_eq!(said.len(), 6, "{said:?}");
    assert!(said[0].contains("START db on d9.local, which has run for 0 s"), "{said:?}");
    assert!(said[5].contains("5 more tasks"), "{said:?}");
}

#[test]
fn no_more_tasks_run_at_once_than_the_cluster_may() {
    let mut sketch = Sketch::alike("install", 4);
    sketch.limits = Limits { max_running_tasks: 2, ..Limits::default() };
    let mut world = World::new(&sketch);
    world.start("n1:CREATE");
    world.start("n2:CREATE");
    assert_eq!(
        world.reasons("n3:CREATE"),
        ["cluster_limit: for one of 2 running tasks of its cluster to end: at most 2 may run at once"]
    );
    let task = world.task("n3:CREATE").id.number;
    let refused = world.tell(Command::StartAttempt { task, worker: "w".into() }).unwrap_err().to_string();
    assert!(refused.contains("as many tasks of its cluster run as may"), "{refused}");
    world.finish("n1:CREATE", 0);
    assert_eq!(world.reasons("n3:CREATE"), [""; 0]);
    world.start("n3:CREATE");
    world.finish("n2:CREATE", 0);
    world.finish("n3:CREATE", 0);
    world.run_all();
    assert_eq!(world.cluster.status, ClusterStatus::Active);
}
