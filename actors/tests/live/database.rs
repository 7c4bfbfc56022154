//! A database that is away for a while.

use std::sync::mpsc::channel;

use cooperage_domain::cluster::ClusterStatus;
use cooperage_schema::{Store, StoreOptions};

use crate::lab::eventually;
use crate::rig::{Home, Settings};
use crate::sketch::Sketch;

#[test]
fn it_delays_and_loses_nothing() {
    let home = Home::new();
    home.live(Settings::default(), async |rig| {
        rig.lab.hold(&["n1:CREATE", "n2:CREATE"]);
        rig.create(1, &Sketch::alike("install start", 2)).await;
        rig.lab.until_begun("n1:CREATE", 1).await;
        rig.lab.until_begun("n2:CREATE", 1).await;
        let recorded = rig.events(1).len();

        // Another process holds the database for writing.
        let other = Store::open(&home.url(), StoreOptions::default()).unwrap();
        let ((held, is_held), (free, is_freed)) = (channel(), channel::<()>());
        let hold = move |_: &mut _| {
            held.send(()).unwrap();
            is_freed.recv().unwrap();
            Ok(())
        };
        other.journal().write(hold, |done| done.unwrap());
        is_held.recv().unwrap();
        rig.lab.release("n1:CREATE");
        rig.lab.release("n2:CREATE");
        rig.lab.until_ended("n1:CREATE", 1).await;
        rig.lab.until_ended("n2:CREATE", 1).await;
        // Both ends wait in the journal, and behind them the begins of what comes next, which have workers.
        rig.until_pool(2, 0).await;
        assert_eq!((rig.lab.begun().len(), rig.events(1).len()), (2, recorded), "nothing goes on without it");
        free.send(()).unwrap();

        let cluster = rig.until(1, 1, ClusterStatus::Active).await;
        let printed = async || {
            let task = cluster.latest_job()?.tasks.get(&1)?.id;
            (rig.store.output(task, 0, 10).unwrap().len() == 1).then_some(())
        };
        eventually("what the task printed meanwhile", printed).await;
        assert!(rig.lab.executions().values().all(|&times| times == 1));
        other.close();
        rig.assert_quiet().await;
    });
}
