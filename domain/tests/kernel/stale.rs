//! Commands that come too late, too early or twice change nothing.

use cooperage_domain::cluster::{Command, Refusal};

use crate::sketch::Sketch;
use crate::world::{World, report};

fn refused(world: &mut World, command: Command) -> Refusal {
    let before = world.cluster.clone();
    let refusal = world.tell(command).unwrap_err();
    assert_eq!(world.cluster, before);
    refusal
}

#[test]
fn reports_about_attempts_that_are_not_open_are_refused() {
    let mut world = World::new(&Sketch::alike("", 1));
    world.run("n1:CREATE", 1);
    world.start("n1:CREATE");
    for (task, attempt, what) in [
        (1, 1, "an earlier attempt"),
        (1, 3, "a later attempt"),
        (1, 0, "no attempt"),
        (2, 1, "a task that waits"),
        (99, 1, "no task"),
    ] {
        for command in [
            Command::FinishAttempt { task, attempt, report: report(0) },
            Command::TimeOutAttempt { task, attempt },
        ] {
            assert_eq!(refused(&mut world, command), Refusal::StaleAttempt { task, attempt }, "{what}");
        }
    }
}

#[test]
fn a_report_delivered_twice_counts_once() {
    for code in [0, 1] {
        let mut world = World::new(&Sketch::alike("", 1));
        world.run("n1:CREATE", code);
        let again = Command::FinishAttempt { task: 1, attempt: 1, report: report(code) };
        assert_eq!(refused(&mut world, again), Refusal::StaleAttempt { task: 1, attempt: 1 });
    }
}

#[test]
fn a_report_about_an_earlier_job_is_refused() {
    let mut world = World::created(&Sketch::alike("", 1));
    world.delete().unwrap();
    let late = Command::FinishAttempt { task: 1, attempt: 1, report: report(0) };
    assert_eq!(refused(&mut world, late), Refusal::StaleAttempt { task: 1, attempt: 1 });
}

#[test]
fn tasks_start_when_it_is_their_turn_and_once() {
    let mut world = World::new(&Sketch::new("a: start\nb: start\nn1 = a b"));
    for step in ["n1:CREATE", "n1:CONFIRM", "n1:BOOTSTRAP"] {
        world.run(step, 0);
    }
    let start = |task| Command::StartAttempt { task, worker: "w2".into() };
    world.start("n1:START:a");
    let other = world.task("n1:START:b").id.number;
    for (task, reason) in [
        (other, "its node is busy"),
        (1, "it waits for other tasks, or has been started"),
        (world.task("n1:START:a").id.number, "it waits for other tasks, or has been started"),
        (99, "the job has no such task"),
    ] {
        assert_eq!(refused(&mut world, start(task)), Refusal::NotReady { task, reason });
    }
    world.finish("n1:START:a", 0);
    world.run("n1:START:b", 0);
    let reason = "its job starts nothing more";
    assert_eq!(refused(&mut world, start(other)), Refusal::NotReady { task: other, reason });
}
