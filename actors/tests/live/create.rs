//! The way from a request to an active cluster, and back.

use cooperage_domain::cluster::{ClusterStatus, TaskState};

use crate::rig::{Settings, live};
use crate::sketch::Sketch;

pub const SHOP: &str =
    "db: install configure initialize start\nweb: install start | db\nn1 = db\nn2 = web\nn3 = db web";

#[test]
fn a_create_becomes_active_and_a_delete_terminated() {
    live(Settings::default(), async |rig| {
        rig.create(1, &Sketch::new(SHOP)).await;
        let cluster = rig.until(1, 1, ClusterStatus::Active).await;
        assert!(cluster.latest_job().unwrap().tasks.values().all(|task| task.state == TaskState::Done));
        assert!(rig.lab.executions().values().all(|&times| times == 1), "{:?}", rig.lab.executions());
        rig.delete(1).await.unwrap();
        let cluster = rig.until(1, 1, ClusterStatus::Terminated).await;
        assert!(cluster.nodes.values().all(|node| !node.may_have_machine()));
        rig.assert_quiet().await;
    });
}

#[test]
fn a_job_without_tasks_is_done_at_once() {
    live(Settings::default(), async |rig| {
        // No nodes: the job has no tasks, and nothing is left to do.
        rig.create(1, &Sketch::new("web: install")).await;
        rig.until(1, 1, ClusterStatus::Active).await;
        rig.assert_quiet().await;
    });
}
