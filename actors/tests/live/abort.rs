//! Aborting a create.

use cooperage_domain::cluster::{ClusterStatus, JobStatus};

use crate::rig::{Settings, live};
use crate::sketch::Sketch;

#[test]
fn what_runs_ends_what_waits_never_begins_and_what_exists_is_deleted() {
    live(Settings { slots: 1, ..Settings::default() }, async |rig| {
        rig.lab.hold(&["n1:CREATE"]);
        rig.create(1, &Sketch::alike("install start", 3)).await;
        rig.lab.until_begun("n1:CREATE", 1).await;
        rig.until_pool(1, 2).await;
        rig.abort(1).await.unwrap();
        // Requests of nodes that have nothing to do any more are taken back.
        rig.until_pool(1, 0).await;
        assert!(rig.delete(1).await.is_err(), "a job is under way");
        rig.lab.release("n1:CREATE");
        let cluster = rig.until(1, 1, ClusterStatus::Incomplete).await;
        assert_eq!(cluster.latest_job().unwrap().status, JobStatus::Failed);
        assert_eq!(rig.lab.begun(), ["n1:CREATE"]);
        rig.delete(1).await.unwrap();
        rig.until(1, 1, ClusterStatus::Terminated).await;
        assert_eq!(rig.lab.begun(), ["n1:CREATE", "n1:DELETE"]);
        rig.assert_quiet().await;
    });
}
