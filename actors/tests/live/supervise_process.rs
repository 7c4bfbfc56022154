//! The process that stops without ceremony.

use cooperage_domain::cluster::{ClusterStatus, Event};

use crate::create::SHOP;
use crate::rig::{Home, Settings};
use crate::sketch::Sketch;

#[test]
fn open_attempts_are_taken_up_under_their_numbers() {
    let home = Home::new();
    home.lab.hold(&["n1:CREATE", "n2:CREATE"]);
    home.live(Settings::default(), async |rig| {
        rig.create(1, &Sketch::new(SHOP)).await;
        rig.lab.until_begun("n1:CREATE", 1).await;
        rig.lab.until_begun("n2:CREATE", 1).await;
    });
    home.live(Settings::default(), async |rig| {
        rig.lab.until_begun("n1:CREATE", 2).await;
        rig.lab.release("n1:CREATE");
        rig.lab.release("n2:CREATE");
        rig.until(1, 1, ClusterStatus::Active).await;
        let twice = rig.lab.executions().into_iter().filter(|(_, times)| *times > 1);
        let attempts: Vec<u32> = twice.map(|((_, attempt), _)| attempt).collect();
        assert!(attempts.len() >= 2 && attempts.iter().all(|attempt| *attempt == 1), "{attempts:?}");
        let failed = rig.events(1).iter().filter(|it| matches!(it, Event::TaskFailed { .. })).count();
        assert_eq!(failed, 0, "a stop is no failure of what was running");
        rig.assert_quiet().await;
    });
}

#[test]
fn it_may_stop_many_times() {
    let home = Home::new();
    for node in 1..=3 {
        let held = format!("n{node}:CONFIRM");
        home.lab.hold(&[&held]);
        home.live(Settings { slots: 2, ..Settings::default() }, async |rig| {
            if node == 1 {
                rig.create(1, &Sketch::alike("install start", 3)).await;
            }
            rig.lab.until_begun(&held, 1).await;
        });
    }
    home.lab.hold(&[]);
    home.live(Settings::default(), async |rig| {
        rig.until(1, 1, ClusterStatus::Active).await;
        rig.assert_quiet().await;
    });
}
