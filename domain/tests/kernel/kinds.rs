//! Rules about kinds of failures: what passes is waited for, what does not pass is not tried again; and about time.

use cooperage_domain::cluster::{
    Cluster, ClusterStatus, Command, Effect, JobStatus, Limits, Overdue, TaskState, decide, due, replay,
};
use cooperage_domain::error_kind::ErrorKind;
use cooperage_domain::task::{TaskName, TaskReport};
use proptest::prelude::*;

use crate::sketch::Sketch;
use crate::world::World;

impl World {
    /// Starts and ends a task with a failure of this kind; the pause after it, if there is one.
    fn fail(&mut self, label: &str, kind: ErrorKind) -> Option<i64> {
        let (task, attempt) = self.start(label);
        let report = TaskReport::failure(1, "it broke").of_kind(kind);
        self.tell(Command::FinishAttempt { task, attempt, report }).unwrap();
        let task = &self.job().tasks[&task];
        (task.state == TaskState::Waiting).then_some(task.not_before - self.now)
    }
}

#[test]
fn what_is_permanent_is_tried_once_and_told_as_such() {
    let mut world = World::new(&Sketch::alike("", 1));
    assert_eq!(world.fail("n1:CREATE", ErrorKind::Permanent), None);
    assert_eq!(world.standing(), (ClusterStatus::Incomplete, JobStatus::Failed, 3, 0));
    let said = world.message();
    assert!(said.contains("after 1 attempt ") && said.contains("it is permanent"), "{said}");
    assert!(said.contains("credentials, quota, request"), "{said}");
}

#[test]
fn coopr_s_code_for_rejected_credentials_is_permanent() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.run("n1:CREATE", 201);
    assert_eq!(world.cluster.status, ClusterStatus::Terminated, "and says that nothing was made");
    assert_eq!(world.task("n1:CREATE").attempts.len(), 1);
    let kind = world.task("n1:CREATE").attempts[0].outcome.as_ref().unwrap().kind;
    assert_eq!(kind, Some(ErrorKind::Permanent));
}

#[test]
fn what_passes_is_tried_five_times_with_growing_pauses() {
    let mut world = World::new(&Sketch::alike("", 1));
    for most in [2_000, 6_000, 18_000, 54_000] {
        let pause = world.fail("n1:CREATE", ErrorKind::Transient).unwrap();
        assert!((most / 2..=most).contains(&pause), "{pause} of {most}");
    }
    assert_eq!(world.fail("n1:CREATE", ErrorKind::Transient), None);
    assert!(world.message().contains("after 5 attempts"), "{}", world.message());
}

#[test]
fn a_machine_that_cannot_be_reached_for_the_moment_is_not_made_anew() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.run("n1:CREATE", 0);
    world.fail("n1:CONFIRM", ErrorKind::Transient).unwrap();
    assert_eq!(world.ready(), ["n1:CONFIRM"]);
    world.fail("n1:CONFIRM", ErrorKind::Machine);
    assert_eq!(world.ready(), ["n1:DELETE"], "one that is gone is");
}

#[test]
fn pauses_of_nodes_differ_and_are_the_same_again() {
    let pauses = || -> Vec<i64> {
        let mut world = World::new(&Sketch::alike("", 9));
        (1..=9).map(|n| world.fail(&format!("n{n}:CREATE"), ErrorKind::Transient).unwrap()).collect()
    };
    let (first, again) = (pauses(), pauses());
    assert_eq!(first, again);
    let distinct: std::collections::BTreeSet<i64> = first.iter().copied().collect();
    assert!(distinct.len() > 6, "{first:?}");
}

#[test]
fn a_service_says_how_long_its_actions_may_take() {
    let mut sketch = Sketch::new("db: install start\nn1 = db");
    sketch.limits.task_timeouts.insert(TaskName::Create, 5_000);
    let actions = &mut sketch.services.get_mut("db").unwrap().provisioner.actions;
    actions.values_mut().last().unwrap().timeout = Some(7);
    let mut world = World::new(&sketch);
    for (label, most) in [
        ("n1:CREATE", 5_000),
        ("n1:CONFIRM", 1_800_000),
        ("n1:BOOTSTRAP", 1_800_000),
        ("n1:INSTALL:db", 1_800_000),
        ("n1:START:db", 7_000),
    ] {
        let (task, attempt) = world.start(label);
        let Some(Effect::Follow { deadline, .. }) = due(&world.cluster).pop() else { panic!("{label}") };
        assert_eq!(deadline - world.now, most, "{label}");
        if label == "n1:START:db" {
            world.tell(Command::TimeOutAttempt { task, attempt }).unwrap();
            let said = world.task(label).attempts[0].outcome.clone().unwrap().stderr;
            assert!(said.contains("no result after 7 s"), "{said}");
        } else {
            world.finish(label, 0);
        }
    }
}

fn impatient(overdue: Overdue) -> Sketch {
    let mut sketch = Sketch::alike("install", 2);
    sketch.limits = Limits { queue_timeout: 60_000, overdue, ..Limits::default() };
    sketch
}

fn overdue(cluster: &Cluster) -> Vec<(u32, i64)> {
    let at = |effect| match effect {
        Effect::Overdue { task, at } => Some((task, at)),
        _ => None,
    };
    due(cluster).into_iter().filter_map(at).collect()
}

#[test]
fn a_task_that_nobody_takes_fails_in_the_end_and_says_why() {
    let mut world = World::new(&impatient(Overdue::Fail));
    let [(task, at), _] = overdue(&world.cluster)[..] else { panic!("{:?}", due(&world.cluster)) };
    assert_eq!(at, world.now + 60_000);
    let command = || Command::TimeOutQueue { task, why: "for a worker: the tenant has 0 workers".into() };
    world.now = at - 1;
    assert!(world.tell(command()).is_err(), "too early");
    world.now = at;
    world.tell(command()).unwrap();
    let said = world.message();
    assert!(said.starts_with("CREATE on n1.local was not begun. No worker took it for 60 s: "), "{said}");
    assert!(said.contains("the tenant has 0 workers"), "{said}");
    assert_eq!(
        world.standing(),
        (ClusterStatus::Terminated, JobStatus::Failed, 8, 0),
        "nobody made anything"
    );
    assert!(world.tell(command()).is_err(), "and only once");
}

#[test]
fn a_time_in_a_queue_begins_when_the_task_may_begin() {
    let mut world = World::new(&impatient(Overdue::Fail));
    world.now += 50_000;
    world.run("n1:CREATE", 0);
    let confirm = world.task("n1:CONFIRM").id.number;
    assert!(overdue(&world.cluster).contains(&(confirm, world.now + 60_000)));
    // A pause of the job does not count, nor does the one after a failure.
    world.pause().unwrap();
    assert_eq!(overdue(&world.cluster), []);
    world.now += 1_000_000;
    world.resume().unwrap();
    assert!(overdue(&world.cluster).contains(&(confirm, world.now + 60_000)));
    let pause = world.fail("n1:CONFIRM", ErrorKind::Transient).unwrap();
    assert!(overdue(&world.cluster).contains(&(confirm, world.now + pause + 60_000)));
}

#[test]
fn one_whose_earlier_attempts_failed_keeps_them() {
    let mut world = World::new(&impatient(Overdue::Fail));
    world.fail("n1:CREATE", ErrorKind::Unknown).unwrap();
    let (task, before) = (world.task("n1:CREATE").id.number, world.task("n1:CREATE").attempts.clone());
    let at = overdue(&world.cluster).into_iter().find(|it| it.0 == task).unwrap().1;
    world.now = at;
    world.tell(Command::TimeOutQueue { task, why: String::new() }).unwrap();
    assert_eq!(world.task("n1:CREATE").attempts, before);
    assert_eq!(world.cluster.status, ClusterStatus::Incomplete, "there may be a machine");
}

#[test]
fn where_it_is_set_so_it_is_only_told() {
    let mut world = World::new(&impatient(Overdue::Flag));
    let (task, at) = overdue(&world.cluster)[0];
    world.now = at;
    let events = world.tell(Command::TimeOutQueue { task, why: String::new() }).unwrap();
    assert_eq!(events, []);
    world.run_all();
    assert_eq!(world.cluster.status, ClusterStatus::Active);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What was decided about a failure is decided again from the journal: nothing but the events is needed.
    #[test]
    fn failures_are_decided_the_same_from_the_journal(
        kinds in prop::collection::vec(prop::sample::select(ErrorKind::ALL.to_vec()), 1..8),
    ) {
        let mut world = World::new(&Sketch::alike("", 3));
        for kind in kinds {
            let Some(label) = world.ready().first().cloned() else { break };
            let (task, attempt) = world.start(&label);
            let before = replay(world.journal.iter().flatten()).unwrap();
            let report = TaskReport::failure(1, "it broke").of_kind(kind);
            let command = Command::FinishAttempt { task, attempt, report };
            let again = decide(&before, command.clone(), world.now).unwrap();
            prop_assert_eq!(world.tell(command).unwrap(), again.as_slice());
        }
    }
}
