//! A cluster's actor that panics is started again from the journal.

use cooperage_domain::cluster::{ClusterStatus, Event};

use crate::create::SHOP;
use crate::rig::{Settings, live};
use crate::sketch::Sketch;

#[test]
fn it_goes_on_where_it_was_and_repeats_nothing() {
    live(Settings::default(), async |rig| {
        rig.lab.hold(&["n1:CONFIRM"]);
        rig.create(1, &Sketch::new(SHOP)).await;
        rig.lab.until_begun("n1:CONFIRM", 1).await;
        // The actor panics when it is told the end of CONFIRM, or of another node's task.
        rig.clock.trip();
        rig.lab.release("n1:CONFIRM");
        rig.log.until(1, &["a cluster failed and is started again"]).await;
        let cluster = rig.until(1, 1, ClusterStatus::Active).await;
        let executions = rig.lab.executions();
        assert!(executions.values().all(|&times| times == 1), "reports are kept: {executions:?}");
        let started = |event: &&Event| matches!(event, Event::AttemptStarted { .. });
        assert_eq!(rig.events(1).iter().filter(started).count(), cluster.latest_job().unwrap().tasks.len());
        rig.assert_quiet().await;
    });
}

#[test]
fn it_survives_failing_again_and_again() {
    live(Settings::default(), async |rig| {
        rig.lab.hold(&["n1:CREATE", "n1:CONFIRM", "n1:START:web"]);
        rig.create(1, &Sketch::new("web: install start\nn1 = web")).await;
        for (times, label) in ["n1:CREATE", "n1:CONFIRM", "n1:START:web"].into_iter().enumerate() {
            rig.lab.until_begun(label, 1).await;
            rig.clock.trip();
            rig.lab.release(label);
            rig.log.until(times + 1, &["a cluster failed and is started again"]).await;
        }
        rig.until(1, 1, ClusterStatus::Active).await;
        assert!(rig.lab.executions().values().all(|&times| times == 1));
        rig.assert_quiet().await;
    });
}

#[test]
fn a_panic_while_it_takes_a_command_fails_only_that() {
    live(Settings::default(), async |rig| {
        rig.create(1, &Sketch::new("web: start\nn1 = web")).await;
        rig.until(1, 1, ClusterStatus::Active).await;
        rig.clock.trip();
        // Told again by the registry, since nothing was decided.
        rig.delete(1).await.unwrap();
        rig.until(1, 1, ClusterStatus::Terminated).await;
        rig.assert_quiet().await;
    });
}

#[test]
fn what_is_taken_up_holds_one_worker_and_not_two() {
    live(Settings { slots: 2, ..Settings::default() }, async |rig| {
        rig.lab.hold(&["n1:CONFIRM", "n2:CONFIRM"]);
        rig.create(1, &Sketch::alike("start", 2)).await;
        rig.lab.until_begun("n1:CONFIRM", 1).await;
        rig.lab.until_begun("n2:CONFIRM", 1).await;
        rig.clock.trip();
        rig.lab.release("n2:CONFIRM");
        rig.lab.until_ended("n2:START:web", 1).await;
        // The first node's task is still at it, for the new actor and not for the old one as well.
        rig.until_pool(1, 0).await;
        rig.lab.release("n1:CONFIRM");
        rig.until(1, 1, ClusterStatus::Active).await;
        rig.assert_quiet().await;
    });
}
