//! The three shapes of trouble, for every operation: each task fails for good, each task runs twice, and each part of it
//! is undone. After each the provider outside holds the machines that the journal knows, a replay gives the state that
//! was, and the cluster rests in a state from which it can go on or be deleted.

use std::collections::BTreeSet;
use std::fmt::Write;

use cooperage_domain::cluster::{ClusterStatus, Command, Effect, Refusal, Revision, due};
use cooperage_domain::plan::ClusterAction;
use cooperage_domain::task::TaskName;

use crate::machines::Outcome;
use crate::refusals::check_remedy;
use crate::rig::{Rig, same, wanted};
use crate::table::{OPERATIONS, Operation, by, cancel};

/// Runs `test` for every operation, and says all that is wrong with any, not only the first.
fn for_each(test: fn(&Operation)) {
    let mut faults = String::new();
    for operation in OPERATIONS {
        if let Err(panic) = std::panic::catch_unwind(|| test(operation)) {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|it| (*it).to_owned()));
            let _ = writeln!(faults, "{}: {}", operation.name, text.unwrap_or_default());
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// Commands by which what runs is started and ended: every row is made of them.
const MACHINERY: [&str; 4] = ["StartAttempt", "FinishAttempt", "TimeOutAttempt", "TimeOutQueue"];

/// Names of all commands that a cluster can be told.
pub fn commands() -> BTreeSet<&'static str> {
    let source = include_str!("../../src/cluster/command.rs");
    let names = source.lines().filter_map(|line| {
        let name = line.strip_prefix("    ")?;
        let name = name.strip_suffix(" {").or_else(|| name.strip_suffix(','))?;
        name.starts_with(char::is_uppercase).then_some(name)
    });
    let names: BTreeSet<&str> = names.collect();
    assert!(names.len() > 10, "{names:?}");
    names
}

#[test]
fn every_command_has_a_row() {
    let variants = commands().into_iter().filter(|name| !MACHINERY.contains(name));
    let rows = OPERATIONS.iter().filter_map(|row| Some((row.command?)((row.ready)().cluster())));
    let rows: Vec<String> = rows.map(|command| format!("{command:?}")).collect();
    let in_row = |name: &&str| rows.iter().any(|row| row.split(' ').next() == Some(*name));
    let missing: Vec<&str> = variants.filter(|name| !in_row(name)).collect();
    assert!(missing.is_empty(), "no row of the table tells a cluster to {missing:?}");
}

#[test]
fn every_operation_may_fail_at_each_task() {
    for_each(|operation| {
        let begun = operation.begun();
        let mut smooth = begun.clone();
        let ran: BTreeSet<u32> = smooth.run().into_iter().collect();
        for failing in ran {
            for &outcome in failures(&smooth, failing) {
                let mut rig = begun.clone();
                rig.run_with(|rig, task| if task.id.number == failing { outcome } else { rig.smooth(task) });
                rig.rest();
                rig.clone().check_delete();
                check_going_on(rig, &smooth, &format!("task {failing}, {outcome:?}"));
            }
        }
    });
}

#[test]
fn every_operation_may_wait_for_a_worker_in_vain() {
    for_each(|operation| {
        let begun = operation.begun();
        let mut smooth = begun.clone();
        let ran: BTreeSet<u32> = smooth.run().into_iter().collect();
        for alone in ran {
            let mut rig = begun.clone();
            let mut given_up = false;
            while let Some(effect) = rig.next_or_resume() {
                if given_up || !matches!(effect, Effect::Start { task, .. } if task == alone) {
                    rig.step(Rig::smooth);
                    continue;
                }
                let late = due(rig.cluster()).into_iter().find_map(|effect| match effect {
                    Effect::Overdue { task, at } if task == alone => Some(at),
                    _ => None,
                });
                rig.world.now = late.expect("nobody waits for ever");
                rig.tell(Command::TimeOutQueue { task: alone, why: "there are none".into() }).unwrap();
                given_up = true;
            }
            assert!(given_up, "task {alone} is never ready");
            rig.rest();
            rig.clone().check_delete();
            check_going_on(rig, &smooth, &format!("nobody takes task {alone}"));
        }
    });
}

/// How a task may fail: what it says of machines matters only where it makes one or gives one back.
fn failures(rig: &Rig, task: u32) -> &'static [Outcome] {
    let mut tasks = rig.cluster().jobs.values().filter_map(|job| job.tasks.get(&task));
    match tasks.next().map(|task| task.name) {
        Some(TaskName::Create | TaskName::Delete) => {
            &[Outcome::DoneButFailed, Outcome::Failed, Outcome::Refused]
        }
        _ => &[Outcome::Failed],
    }
}

/// A cluster that stopped half-way can go on, and ends where it would have ended.
fn check_going_on(mut rig: Rig, smooth: &Rig, at: &str) {
    let action = rig.world.job().action;
    let deleting = action == ClusterAction::ClusterDelete;
    // What failed may be on its way back by itself.
    let same_way = action == smooth.world.job().action;
    let again = if deleting { Command::Delete { now: false, by: by() } } else { Command::Retry { by: by() } };
    let stopped = matches!(rig.cluster().status, ClusterStatus::Incomplete | ClusterStatus::Inconsistent);
    match rig.tell(again) {
        Ok(()) => {
            rig.run();
            if stopped && same_way {
                same(&rig.end(), &smooth.end(), at);
            }
        }
        Err(refusal) => assert!(!stopped, "{at}: {refusal}"),
    }
}

#[test]
fn every_operation_may_run_each_task_twice() {
    for_each(|operation| {
        let begun = operation.begun();
        let mut smooth = begun.clone();
        smooth.run();
        let mut crashed = begun.clone();
        crash_at_every_task(&mut crashed);
        same(&crashed.end(), &smooth.end(), "the program stopped before each report");
        let mut silent = begun;
        answer_too_late(&mut silent);
        same(&silent.end(), &smooth.end(), "the first report of each task was lost");
        silent.check_replay();
        silent.check_delete();
    });
}

/// What runs has done its work when the program stops. It is started again, and the work is done once more by the same
/// attempt, which reports twice.
fn crash_at_every_task(rig: &mut Rig) {
    while let Some(effect) = rig.next_or_resume() {
        let Effect::Follow { task, attempt, .. } = effect else {
            rig.step(|_, _| Outcome::Done);
            continue;
        };
        let outcome = rig.smooth(&rig.world.job().tasks[&task]);
        rig.carry_out(task, outcome);
        let found = rig.recovered();
        assert_eq!(found, rig.world.cluster, "before the report of task {task}");
        assert!(due(&found).contains(&effect), "task {task} is taken up again");
        rig.world.cluster = found;
        rig.finish(task, attempt, outcome);
        let before = rig.cluster().clone();
        let again = rig.report(task, attempt, outcome);
        assert!(matches!(again, Err(Refusal::StaleAttempt { .. })), "task {task}: {again:?}");
        assert_eq!(rig.cluster(), &before, "a second report of task {task} changes nothing");
    }
}

/// The first attempt of each task does its work, and nobody hears of it.
fn answer_too_late(rig: &mut Rig) {
    while let Some(effect) = rig.next_or_resume() {
        let Effect::Follow { task, attempt, deadline, .. } = effect else {
            rig.step(|_, _| Outcome::Done);
            continue;
        };
        let found = rig.world.job().tasks[&task].clone();
        let outcome = rig.smooth(&found);
        // A probe that nobody hears of tells that the service is ill, so it is always heard of here. A job that is
        // stopped does not try again.
        let last = found.name == TaskName::Probe || attempt > 1 || !rig.world.job().is_open();
        if last {
            if attempt > 1 {
                let late = rig.report(task, attempt - 1, outcome);
                assert!(matches!(late, Err(Refusal::StaleAttempt { .. })), "task {task}: {late:?}");
            }
            rig.finish(task, attempt, outcome);
            continue;
        }
        rig.carry_out(task, outcome);
        rig.world.now = rig.world.now.max(deadline);
        rig.tell(Command::TimeOutAttempt { task, attempt }).unwrap();
        let late = rig.report(task, attempt, outcome);
        assert!(matches!(late, Err(Refusal::StaleAttempt { .. })), "task {task}: {late:?}");
    }
}

#[test]
fn every_part_of_an_operation_may_be_undone() {
    for_each(|operation| {
        let before = (operation.ready)();
        let begun = operation.begun();
        let mut smooth = begun.clone();
        let ran = smooth.run().len();
        for done in 0..=ran {
            let mut part = begun.clone();
            let mut ended = 0;
            while ended < done {
                match part.step(Rig::smooth) {
                    Some(task) => ended += task.map_or(0, |_| 1),
                    None => assert!(part.resume(), "{ended} of {ran} have ended"),
                }
            }
            part.start_all();
            for &outcome in endings(&part) {
                let at = format!("after {done} of {ran}, what runs is {outcome:?}");
                check_undo(part.clone(), outcome, &before, &at);
                check_stop(part.clone(), outcome, &smooth, &at);
            }
        }
    });
}

/// How what runs may end: whether it did its work when it says that it failed matters to machines alone.
fn endings(rig: &Rig) -> &'static [Outcome] {
    let job = rig.world.job();
    let of_machine = |number| matches!(job.tasks[number].name, TaskName::Create | TaskName::Delete);
    match (job.running.is_empty(), job.running.iter().any(of_machine)) {
        (true, _) => &[Outcome::Done],
        (false, true) => &[Outcome::Done, Outcome::DoneButFailed, Outcome::Failed],
        (false, false) => &[Outcome::Done, Outcome::Failed],
    }
}

/// The operation is undone while something runs, which ends so.
fn check_undo(mut rig: Rig, running: Outcome, before: &Rig, at: &str) {
    let (pending, action) = (rig.cluster().status == ClusterStatus::Pending, rig.world.job().action);
    let open: BTreeSet<u32> = rig.world.job().running.clone();
    let children = rig.cluster().kin.children.clone();
    let told = rig.tell(if pending { cancel(true) } else { back(before) });
    if let Err(refusal) = &told {
        check_remedy(refusal);
        assert!(!pending || rig.tell(cancel(false)).is_ok(), "{at}: it cannot be stopped");
    }
    rig.run_with(|rig, task| if open.contains(&task.id.number) { running } else { rig.smooth(task) });
    let status = rig.rest();
    if pending && action == ClusterAction::ClusterCreate {
        let stays = !children.is_empty();
        assert_eq!(
            told.is_err(),
            stays,
            "{at}: a create is undone, unless others are built upon the cluster"
        );
        assert_eq!(
            status == ClusterStatus::Terminated,
            !stays,
            "{at}: a create that is undone leaves nothing"
        );
    } else if told.is_ok() && before.cluster().status == ClusterStatus::Active {
        assert_eq!(status, ClusterStatus::Active, "{at}");
        same(&wanted(rig.cluster()), &wanted(before.cluster()), at);
        assert_eq!(rig.machines, before.machines, "{at}");
    }
    rig.check_delete();
}

/// The way back from an operation that has ended.
fn back(before: &Rig) -> Command {
    Command::RollBack { to: Box::new(Revision::of(before.cluster())), rollout: None, by: by() }
}

/// The operation is stopped while something runs, which ends so; then it goes on.
fn check_stop(mut rig: Rig, running: Outcome, smooth: &Rig, at: &str) {
    if rig.cluster().status != ClusterStatus::Pending {
        return;
    }
    let open: BTreeSet<u32> = rig.world.job().running.clone();
    rig.tell(cancel(false)).unwrap();
    rig.run_with(|rig, task| if open.contains(&task.id.number) { running } else { rig.smooth(task) });
    rig.rest();
    rig.clone().check_delete();
    check_going_on(rig, smooth, at);
}
