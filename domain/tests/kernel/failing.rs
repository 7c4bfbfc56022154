//! Rules about tasks that fail: how often they are tried again, what becomes of the machine, and how the job ends.

use cooperage_domain::cluster::{ClusterStatus, Command, Effect, JobStatus, TaskState, due};
use cooperage_domain::task::{TaskName, TaskReport};

use crate::sketch::{Sketch, node_id};
use crate::world::World;

#[test]
fn there_are_three_attempts_in_all() {
    for (name, tasks, done) in
        [(TaskName::Create, 4, 0), (TaskName::Bootstrap, 4, 2), (TaskName::Install, 4, 3)]
    {
        let mut world = World::new(&Sketch::alike("install", 1));
        world.run_failing(name, 7);
        assert_eq!(world.standing(), (ClusterStatus::Incomplete, JobStatus::Failed, tasks, done), "{name}");
        let failed = world.job().tasks.values().find(|task| task.name == name).unwrap();
        let codes: Vec<_> = failed.attempts.iter().map(|it| it.outcome.as_ref().unwrap().code).collect();
        assert_eq!((failed.state, codes), (TaskState::Failed, vec![7, 7, 7]), "{name}");
    }
}

#[test]
fn a_task_that_succeeds_at_last_has_succeeded() {
    let mut world = World::new(&Sketch::alike("install", 1));
    world.run_with(|task| i64::from(task.attempts.len() < 3 && task.name != TaskName::Confirm));
    assert_eq!(world.standing(), (ClusterStatus::Active, JobStatus::Complete, 4, 4));
}

#[test]
fn the_pause_before_the_next_attempt_grows() {
    let mut world = World::new(&Sketch::alike("", 1));
    for pause in [1_000, 2_000] {
        world.run("n1:CREATE", 1);
        let task = world.task("n1:CREATE");
        assert_eq!(task.not_before, world.now + pause);
        let command = Command::StartAttempt { task: task.id.number, worker: "w1".into() };
        let refusal = world.tell(command).unwrap_err();
        assert!(refusal.to_string().contains("pause"), "{refusal}");
    }
}

#[test]
fn a_machine_that_is_not_confirmed_is_made_anew() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.run("n1:CREATE", 0);
    world.run("n1:CONFIRM", 1);
    for step in ["n1:DELETE", "n1:CREATE", "n1:CONFIRM", "n1:BOOTSTRAP"] {
        assert_eq!(world.ready(), [step]);
        world.run(step, 0);
    }
    assert_eq!(world.standing(), (ClusterStatus::Active, JobStatus::Complete, 5, 5));
    assert_eq!(world.task("n1:CONFIRM").attempts.len(), 2);
    let done = ["create", "confirm", "delete", "create", "confirm", "bootstrap"];
    let ends = ["complete", "failed", "complete", "complete", "complete", "complete"];
    let expected: Vec<_> = done.iter().zip(ends).map(|(name, end)| format!("{name} {end}")).collect();
    assert_eq!(world.history("n1"), expected);
}

#[test]
fn three_failed_confirms_leave_seven_tasks_of_which_five_are_done() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.run_failing(TaskName::Confirm, 1);
    assert_eq!(world.standing(), (ClusterStatus::Incomplete, JobStatus::Failed, 7, 5));
}

#[test]
fn machines_made_anew_do_not_wait_for_each_other() {
    let mut world = World::new(&Sketch::alike("", 2));
    for node in ["n1", "n2"] {
        world.run(&format!("{node}:CREATE"), 0);
        world.run(&format!("{node}:CONFIRM"), 1);
    }
    assert_eq!(world.ready(), ["n1:DELETE", "n2:DELETE"]);
    world.run("n2:DELETE", 0);
    world.run("n2:CREATE", 0);
    assert_eq!(world.ready(), ["n2:CONFIRM", "n1:DELETE"]);
}

#[test]
fn tasks_of_a_machine_made_anew_have_their_own_attempts() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.run("n1:CREATE", 0);
    world.run("n1:CONFIRM", 1);
    for step in ["n1:DELETE", "n1:CREATE"] {
        world.run(step, 1);
        world.run(step, 1);
        world.run(step, 0);
    }
    world.run_all();
    assert_eq!(world.cluster.status, ClusterStatus::Active);
}

#[test]
fn what_was_learned_of_a_machine_goes_with_it() {
    let mut world = World::new(&Sketch::alike("", 1));
    let (task, attempt) = world.start("n1:CREATE");
    let report = TaskReport {
        ipaddresses: Some([("bind_v4".to_owned(), "10.0.0.1".to_owned())].into()),
        hostname: Some("i-7.cloud".into()),
        result: serde_json::from_str(r#"{"providerid": "i-7"}"#).unwrap(),
        ..TaskReport::success()
    };
    world.tell(Command::FinishAttempt { task, attempt, report }).unwrap();
    world.run("n1:CONFIRM", 1);
    assert_eq!(world.cluster.nodes[&node_id("n1")].results["providerid"], "i-7", "DELETE needs it");
    world.run("n1:DELETE", 0);
    let node = &world.cluster.nodes[&node_id("n1")];
    assert!(node.results.is_empty() && node.properties.ipaddresses.is_empty());
    assert_eq!(node.properties.hostname.as_deref(), Some("n1.local"), "the name it was given");
}

#[test]
fn what_a_failed_attempt_reports_is_kept_but_its_addresses_are_not() {
    let mut world = World::new(&Sketch::alike("", 1));
    let (task, attempt) = world.start("n1:CREATE");
    let report = TaskReport {
        ipaddresses: Some([("bind_v4".to_owned(), "10.0.0.1".to_owned())].into()),
        result: serde_json::from_str(r#"{"providerid": "i-7"}"#).unwrap(),
        ..TaskReport::failure(1, "x".repeat(5_000))
    };
    world.tell(Command::FinishAttempt { task, attempt, report }).unwrap();
    let node = &world.cluster.nodes[&node_id("n1")];
    assert_eq!(node.results["providerid"], "i-7");
    assert!(node.properties.ipaddresses.is_empty());
    let outcome = world.task("n1:CREATE").attempts[0].outcome.as_ref().unwrap();
    assert_eq!(outcome.stderr, format!("[snipped]{}", "x".repeat(2_048)));
}

#[test]
fn codes_that_say_nothing_was_made_end_in_a_terminated_cluster() {
    const SAYS: &str = "Unable to create nodes, please check your provider settings";
    for (code, status) in [
        (199, ClusterStatus::Incomplete),
        (200, ClusterStatus::Terminated),
        (299, ClusterStatus::Terminated),
        (300, ClusterStatus::Incomplete),
        (-1, ClusterStatus::Incomplete),
    ] {
        let mut world = World::new(&Sketch::alike("install", 2));
        world.run_failing(TaskName::Create, code);
        assert_eq!(world.standing(), (status, JobStatus::Failed, 8, 0), "{code}");
        assert_eq!(world.message() == SAYS, status == ClusterStatus::Terminated, "{}", world.message());
    }
}

#[test]
fn one_attempt_that_may_have_made_a_machine_is_enough_for_an_incomplete_cluster() {
    for codes in [[1, 250, 250], [250, -1, 250], [250, 250, 1]] {
        let mut world = World::new(&Sketch::alike("", 1));
        for code in codes {
            world.run("n1:CREATE", code);
        }
        assert_eq!(world.cluster.status, ClusterStatus::Incomplete, "{codes:?}");
        world.delete().unwrap();
        assert_eq!(world.ready(), ["n1:DELETE"], "{codes:?}");
    }
}

#[test]
fn a_refusal_beside_a_machine_that_exists_is_no_end_of_the_cluster() {
    let mut world = World::new(&Sketch::alike("", 2));
    world.run("n1:CREATE", 0);
    for _ in 0..3 {
        world.run("n2:CREATE", 250);
    }
    assert_eq!(world.cluster.status, ClusterStatus::Incomplete);
    world.delete().unwrap();
    assert_eq!(world.ready(), ["n1:DELETE"], "nothing was made of the other");
}

#[test]
fn a_job_that_fails_lets_running_tasks_finish_and_starts_nothing_more() {
    let mut world = World::new(&Sketch::alike("", 3));
    world.start("n2:CREATE");
    world.start("n3:CREATE");
    for _ in 0..3 {
        world.run("n1:CREATE", 1);
    }
    assert_eq!(world.standing(), (ClusterStatus::Pending, JobStatus::Failed, 9, 0));
    assert!(world.message().contains("CREATE failed on n1.local after 3 attempts"), "{}", world.message());
    let message = world.message().to_owned();
    assert!(due(&world.cluster).iter().all(|effect| matches!(effect, Effect::Follow { .. })));
    world.finish("n2:CREATE", 0);
    assert_eq!(world.standing(), (ClusterStatus::Pending, JobStatus::Failed, 9, 1));
    world.finish("n3:CREATE", 1);
    assert_eq!(world.standing(), (ClusterStatus::Incomplete, JobStatus::Failed, 9, 1));
    assert_eq!(world.message(), message, "the first failure is the reason");
}

#[test]
fn a_failing_job_makes_no_machine_anew() {
    let mut world = World::new(&Sketch::alike("", 2));
    world.run("n2:CREATE", 0);
    world.start("n2:CONFIRM");
    for _ in 0..3 {
        world.run("n1:CREATE", 1);
    }
    world.finish("n2:CONFIRM", 1);
    assert_eq!(world.standing(), (ClusterStatus::Incomplete, JobStatus::Failed, 6, 1));
    assert_eq!(world.task("n2:CONFIRM").state, TaskState::Failed);
}

#[test]
fn the_message_says_what_failed_where_and_how() {
    let mut world = World::new(&Sketch::alike("install", 1));
    world.run_failing(TaskName::Install, 7);
    assert_eq!(
        world.message(),
        "INSTALL web failed on n1.local after 3 attempts with code 7: it broke: 7 (what it printed is kept with the node); \
         its script failed: correct the script or its configuration, then retry"
    );
}

#[test]
fn an_attempt_without_a_result_is_given_up_and_repeated() {
    let mut world = World::new(&Sketch::alike("", 1));
    let (task, attempt) = world.start("n1:CREATE");
    let effects = due(&world.cluster);
    let [Effect::Follow { deadline, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(*deadline, world.now + 1_800_000);
    world.now = *deadline;
    world.tell(Command::TimeOutAttempt { task, attempt }).unwrap();
    let ended = world.task("n1:CREATE").attempts[0].outcome.clone().unwrap();
    assert_eq!(ended.code, -1);
    assert!(ended.stderr.contains("1800 s"), "{}", ended.stderr);
    assert_eq!(world.ready(), ["n1:CREATE"]);
    assert_eq!(world.start("n1:CREATE"), (task, 2));
}
