//! A node's actor that panics takes its cluster's with it; both are started again from the journal.

use cooperage_domain::cluster::{ClusterStatus, Limits};

use crate::failing::quick;
use crate::rig::{Settings, live};
use crate::sketch::Sketch;

#[test]
fn what_it_executed_is_taken_up_and_nothing_waits_for_ever() {
    live(Settings::default(), async |rig| {
        rig.lab.hold(&["n1:START:web"]);
        // It panics as it says that the time is up, so that this attempt would never end.
        rig.log.trip("attempt timed out");
        let sketch = quick("web: start\nn1 = web\nn2 = web", 1);
        let limits = Limits { task_timeout: 1_500, ..sketch.limits };
        rig.create(1, &Sketch { limits, ..sketch }).await;
        rig.log.until(1, &["a node's actor failed", "n1"]).await;
        rig.log.until(1, &["taking up an attempt", "n1"]).await;
        // The new actor can cancel what the old one began.
        rig.lab.until_cancelled("n1:START:web").await;
        let cluster = rig.until(1, 1, ClusterStatus::Incomplete).await;
        assert!(cluster.latest_job().unwrap().message.as_deref().unwrap().contains("Timed out"));
        assert!(rig.lab.executions().values().all(|&times| times == 1));
        rig.assert_quiet().await;
    });
}
