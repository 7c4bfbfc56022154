//! Nodes and clusters that are left alone.

use cooperage_domain::cluster::{CareChange, ClusterStatus, Command};

use crate::rig::{Rig, Settings, live};
use crate::sketch::{Sketch, node_id};

async fn maintain(rig: &Rig, node: Option<&str>, reason: Option<&str>) {
    let change = CareChange::Maintenance { node: node.map(node_id), reason: reason.map(str::to_owned) };
    rig.tell(1, Command::Care { changes: vec![change], by: "ann".into() }).await.unwrap();
}

#[test]
fn a_node_waits_and_the_others_go_on_until_it_ends() {
    live(Settings { slots: 1, ..Settings::default() }, async |rig| {
        rig.lab.hold(&["n1:CREATE"]);
        rig.create(1, &Sketch::alike("start", 2)).await;
        rig.lab.until_begun("n1:CREATE", 1).await;
        maintain(&rig, Some("n1"), Some("new disks")).await;
        rig.lab.release("n1:CREATE");
        rig.lab.until_ended("n2:START:web", 1).await;
        // What waits there asks for no worker, and nothing of it has begun.
        rig.until_pool(0, 0).await;
        let of_node: Vec<String> =
            rig.lab.begun().into_iter().filter(|label| label.starts_with("n1")).collect();
        assert_eq!(of_node, ["n1:CREATE"], "what ran was not stopped, and nothing began");
        assert_eq!(rig.stored(1).status, ClusterStatus::Pending);
        maintain(&rig, Some("n1"), None).await;
        rig.until(1, 1, ClusterStatus::Active).await;
        rig.assert_quiet().await;
    });
}

#[test]
fn a_cluster_waits_as_a_whole_and_a_delete_with_it() {
    live(Settings::default(), async |rig| {
        rig.create(1, &Sketch::alike("start", 3)).await;
        rig.until(1, 1, ClusterStatus::Active).await;
        maintain(&rig, None, Some("the rack moves")).await;
        let begun = rig.lab.begun().len();
        rig.delete(1).await.unwrap();
        maintain(&rig, Some("n1"), Some("and its disks")).await;
        rig.until_pool(0, 0).await;
        assert_eq!(rig.lab.begun().len(), begun);
        maintain(&rig, None, None).await;
        rig.lab.until_ended("n2:DELETE", 1).await;
        rig.lab.until_ended("n3:DELETE", 1).await;
        rig.until_pool(0, 0).await;
        assert!(!rig.lab.begun().contains(&"n1:DELETE".to_owned()));
        maintain(&rig, Some("n1"), None).await;
        rig.until(1, 1, ClusterStatus::Terminated).await;
        rig.assert_quiet().await;
    });
}

#[test]
fn a_task_that_failed_before_it_is_tried_again_after_it() {
    live(Settings::default(), async |rig| {
        rig.lab.script(|order| match order.attempt {
            1 => crate::lab::Behaviour::Fail(1),
            _ => crate::lab::Behaviour::Succeed,
        });
        rig.create(1, &Sketch::alike("start", 1)).await;
        rig.lab.until_ended("n1:CREATE", 1).await;
        // Its pause of a second ends meanwhile.
        maintain(&rig, None, Some("")).await;
        tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;
        assert_eq!(rig.lab.begun(), ["n1:CREATE"]);
        rig.lab.script(|_| crate::lab::Behaviour::Succeed);
        maintain(&rig, None, None).await;
        rig.until(1, 1, ClusterStatus::Active).await;
        rig.assert_quiet().await;
    });
}
