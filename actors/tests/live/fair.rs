//! Workers that are scarce are shared.

use cooperage_domain::cluster::ClusterStatus;

use crate::rig::{Settings, live};
use crate::sketch::Sketch;

#[test]
fn a_small_cluster_does_not_wait_for_a_large_one() {
    live(Settings { slots: 2, ..Settings::default() }, async |rig| {
        let creates: Vec<String> = (1..=6).map(|n| format!("n{n}:CREATE")).collect();
        let held: Vec<&str> = creates.iter().map(String::as_str).collect();
        rig.lab.hold(&[&held[..], &["small:CREATE"]].concat());
        rig.create(1, &Sketch::alike("install configure initialize start", 6)).await;
        rig.until_pool(2, 4).await;
        rig.lab.until_any_begun(2).await;
        rig.create(2, &Sketch::new("web: start\nsmall = web")).await;
        rig.until_pool(2, 5).await;
        rig.lab.release(&rig.lab.begun()[0]);
        rig.lab.until_begun("small:CREATE", 1).await;
        assert_eq!(rig.lab.begun()[2], "small:CREATE", "the large one holds a worker already");
        creates.iter().for_each(|label| rig.lab.release(label));
        rig.lab.release("small:CREATE");
        rig.until(1, 1, ClusterStatus::Active).await;
        rig.until(2, 1, ClusterStatus::Active).await;
        assert_eq!(rig.lab.most_at_once(), 2);
        rig.assert_quiet().await;
    });
}

#[test]
fn without_workers_tasks_wait_until_there_are_some() {
    live(Settings { slots: 0, ..Settings::default() }, async |rig| {
        rig.create(1, &Sketch::alike("start", 3)).await;
        rig.until_pool(0, 3).await;
        assert_eq!(rig.lab.begun().len(), 0);
        rig.pool.send(cooperage_actors::worker_pool::Resize { slots: 1 }).await.unwrap();
        rig.until(1, 1, ClusterStatus::Active).await;
        assert_eq!(rig.lab.most_at_once(), 1);
        rig.assert_quiet().await;
    });
}
