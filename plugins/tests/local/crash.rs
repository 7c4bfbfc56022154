//! The server dies while it makes machines.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use cooperage_domain::id::NodeId;
use cooperage_domain::task::TaskName;
use cooperage_plugins::local::{LocalProvider, Step};
use cooperage_plugins::{MachineState, Provider};
use futures::future::join_all;
use slog::{Discard, Logger, o};
use tokio_util::sync::CancellationToken;

use crate::lab::{Lab, down, settings, task, up};

/// Tells the process that is to be killed where to work.
const DIRECTORY: &str = "COOPERAGE_TEST_DOOMED_IN";
const NODES: usize = 6;

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_after_any_step_a_repeated_create_makes_exactly_one_machine() {
    let Some(lab) = Lab::new().await else { return };
    let never = CancellationToken::new();
    let interrupted = Step::ALL.map(|step| (step, format!("n{}", step as u8)));
    for (step, node) in &interrupted {
        let record = lab.provider.make(&task(TaskName::Create, node).order, *step, &never).await.unwrap();
        lab.seen.lock().unwrap().push(record.id);
    }
    let server = lab.restarted();
    let machines = join_all(interrupted.iter().map(|(_, node)| up(&server, node))).await;
    for (machine, (step, node)) in machines.iter().zip(&interrupted) {
        assert_eq!(machine.run("hostname").unwrap(), *node, "interrupted after {step:?}");
    }
    let listed = server.machines().await.unwrap();
    assert_eq!(listed.len(), interrupted.len());
    assert!(listed.iter().all(|machine| machine.state == MachineState::On), "{listed:?}");
    assert_eq!(*lab.seen.lock().unwrap(), machines.into_iter().map(|machine| machine.id).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn half_made_machines_are_listed_and_deleted() {
    let Some(lab) = Lab::new().await else { return };
    let never = CancellationToken::new();
    for step in Step::ALL {
        let record = lab.provider.make(&task(TaskName::Create, "n").order, step, &never).await.unwrap();
        lab.seen.lock().unwrap().push(record.id.clone());
        let listed = lab.provider.machines().await.unwrap();
        let expected = match step {
            Step::Record | Step::Disk => MachineState::Partial,
            Step::Boot => MachineState::On,
            _ => MachineState::Off,
        };
        assert_eq!((listed.len(), listed[0].state), (1, expected), "after {step:?}");
        down(&lab.restarted(), "n").await;
        assert_eq!(lab.leftovers(), [""; 0], "deleted after {step:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_outlives_its_server_and_what_was_half_made_is_finished_or_deleted() {
    let Some(lab) = Lab::new().await else { return };
    let mut doomed = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::doomed", "--ignored", "--nocapture"])
        .env(DIRECTORY, lab.settings.state_dir.parent().unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(doomed.stdout.take().unwrap()).lines();
    let first = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("first machine is up")));
    doomed.kill().unwrap();
    doomed.wait().unwrap();
    assert!(first.is_some(), "the first machine did not come up");

    let listed = lab.provider.machines().await.unwrap();
    lab.seen.lock().unwrap().extend(listed.iter().map(|machine| machine.id.clone()));
    let first = listed.iter().find(|machine| machine.node == "d0").unwrap();
    assert_eq!(first.state, MachineState::On, "it went with its server");
    let machine = lab.machine("d0").await;
    assert_eq!(machine.run("cat /root/mark").unwrap(), "before the crash", "it was made a second time");
    for node in 1..NODES {
        let node = format!("d{node}");
        match node.as_str() {
            "d1" | "d2" => assert_eq!(lab.machine(&node).await.run("hostname").unwrap(), node),
            _ => lab.provider.remove(&NodeId(node)).await.unwrap(),
        }
    }
    assert_eq!(lab.provider.machines().await.unwrap().len(), 3);
}

/// Run in a process of its own, by the test above: makes one machine, says so, and goes on to make others until it is killed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "only to be killed by another test"]
async fn doomed() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let provider = LocalProvider::new(settings(directory.as_ref()), Logger::root(Discard, o!())).unwrap();
    let machine = up(&provider, "d0").await;
    machine.run("echo before the crash >/root/mark; sync").unwrap();
    let others: Vec<_> = (1..NODES).map(|node| format!("d{node}")).collect();
    let making = join_all(others.iter().map(|node| up(&provider, node)));
    println!("\nfirst machine is up");
    making.await;
}
