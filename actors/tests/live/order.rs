//! What runs when.

use std::collections::BTreeMap;

use cooperage_domain::cluster::{Cluster, ClusterStatus, Event};

use crate::create::SHOP;
use crate::rig::{Rig, Settings, live};
use crate::sketch::Sketch;

/// Every task began after those it waits for had succeeded, by the journal's order.
fn assert_in_order(rig: &Rig, cluster: &Cluster) {
    let mut succeeded = BTreeMap::new();
    for (place, event) in rig.events(cluster.id.0).iter().enumerate() {
        match event {
            Event::TaskSucceeded { task, .. } => {
                succeeded.insert(*task, place);
            }
            Event::AttemptStarted { task, .. } => {
                let found = cluster.jobs.values().find_map(|job| job.tasks.get(task)).unwrap();
                for before in &found.after {
                    assert!(succeeded.contains_key(before), "task {task} began before {before} was done");
                }
            }
            _ => {}
        }
    }
}

#[test]
fn no_task_begins_before_its_predecessors_are_done_and_no_node_has_two() {
    live(Settings { slots: 8, ..Settings::default() }, async |rig| {
        rig.create(1, &Sketch::new(SHOP)).await;
        assert_in_order(&rig, &rig.until(1, 1, ClusterStatus::Active).await);
        rig.delete(1).await.unwrap();
        assert_in_order(&rig, &rig.until(1, 1, ClusterStatus::Terminated).await);
        rig.assert_quiet().await;
    });
}

#[test]
fn with_one_worker_the_longest_path_goes_first() {
    live(Settings { slots: 1, ..Settings::default() }, async |rig| {
        rig.lab.hold(&["blocker:CREATE"]);
        rig.create(1, &Sketch::new("web: start\nblocker = web")).await;
        rig.lab.until_begun("blocker:CREATE", 1).await;
        let text = "short: start\nlong: install configure initialize start\nmiddle: install start\n\
                    n1 = short\nn2 = long\nn3 = middle";
        rig.create(2, &Sketch::new(text)).await;
        rig.until_pool(1, 3).await;
        rig.lab.release("blocker:CREATE");
        rig.until(2, 1, ClusterStatus::Active).await;
        let begun = rig.lab.begun();
        let creates: Vec<_> =
            begun.iter().filter(|it| it.starts_with('n') && it.ends_with(":CREATE")).collect();
        assert_eq!(creates, ["n2:CREATE", "n3:CREATE", "n1:CREATE"]);
        rig.until(1, 1, ClusterStatus::Active).await;
        rig.assert_quiet().await;
    });
}
