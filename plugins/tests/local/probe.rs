//! Whether a machine that died is seen to be dead.

use std::time::{Duration, Instant};

use cooperage_domain::health::Finding;
use cooperage_domain::task::TaskName;
use cooperage_plugins::local::Step;
use cooperage_plugins::{PowerAction, Provider};
use tokio_util::sync::CancellationToken;

use crate::lab::{Lab, down, task};

/// How long a dead machine may be taken for a living one.
const SOON: Duration = Duration::from_secs(5);

async fn probe(lab: &Lab, node: &str) -> Finding {
    lab.provider.probe(&task(TaskName::Probe, node)).await
}

/// The number of the machine's first process as the host sees it: the child of `systemd-nspawn`.
fn init_of(machine: &str) -> u32 {
    let numbers =
        std::fs::read_dir("/proc").unwrap().flatten().filter_map(|it| it.file_name().to_str()?.parse().ok());
    let text = |number: u32, file: &str| {
        std::fs::read_to_string(format!("/proc/{number}/{file}")).unwrap_or_default()
    };
    let processes: Vec<u32> = numbers.collect();
    let nspawn = |number: &&u32| {
        let line = text(**number, "cmdline");
        line.starts_with("systemd-nspawn") && line.contains(machine)
    };
    let parents: Vec<u32> = processes.iter().filter(nspawn).copied().collect();
    let parent = |number: u32| -> Option<u32> {
        text(number, "status").lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())
    };
    let first = |number: &&u32| {
        let child = parent(**number).is_some_and(|parent| parents.contains(&parent));
        child && text(**number, "comm").trim() == "systemd"
    };
    *processes.iter().find(first).expect("the machine has a first process")
}

#[tokio::test(flavor = "multi_thread")]
async fn one_whose_init_was_killed_is_down_and_one_nobody_made_is_gone() {
    let Some(lab) = Lab::new().await else { return };
    let (dying, other) = tokio::join!(lab.machine("a"), lab.machine("b"));
    assert_eq!(probe(&lab, "a").await, Finding::Up);
    let init = init_of(&dying.id).to_string();
    assert!(std::process::Command::new("kill").args(["-9", &init]).status().unwrap().success());
    let begun = Instant::now();
    let reason = loop {
        match probe(&lab, "a").await {
            Finding::Down(reason) => break reason,
            Finding::Up if begun.elapsed() < SOON => tokio::time::sleep(Duration::from_millis(20)).await,
            wrong => panic!("{wrong:?} after {:?}", begun.elapsed()),
        }
    };
    assert!(reason.contains(&dying.id) && reason.contains("is off"), "{reason}");
    assert_eq!(probe(&lab, "b").await, Finding::Up, "{} lives on", other.id);
    assert!(matches!(probe(&lab, "never").await, Finding::Gone(_)));
    lab.provider.power(&dying.id, PowerAction::On).await.unwrap();
    assert_eq!(probe(&lab, "a").await, Finding::Up);
    down(&lab.provider, "a").await;
    assert!(matches!(probe(&lab, "a").await, Finding::Gone(_)));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_waits_for_nobody_and_sees_what_is_half_made() {
    let Some(lab) = Lab::new().await else { return };
    let order = task(TaskName::Create, "a").order;
    lab.provider.make(&order, Step::ALL[0], &CancellationToken::new()).await.unwrap();
    let found = probe(&lab, "a").await;
    assert!(matches!(&found, Finding::Down(why) if why.contains("partly")), "{found:?}");
    // While a task works on the machine its lock is held.
    let create = task(TaskName::Create, "b");
    let creating = lab.provider.create(&create);
    tokio::pin!(creating);
    let slowest = loop {
        let begun = Instant::now();
        tokio::select! {
            biased;
            _ = probe(&lab, "b") => assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed()),
            created = &mut creating => break created,
        }
    };
    slowest.unwrap();
}
