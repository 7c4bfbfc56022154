//! A plugin that panics.

use cooperage_domain::cluster::ClusterStatus;

use crate::failing::quick;
use crate::lab::{Behaviour, label};
use crate::rig::{Settings, live};

#[test]
fn a_panic_is_a_failure_of_the_attempt_and_the_node_goes_on() {
    live(Settings { slots: 1, ..Settings::default() }, async |rig| {
        rig.lab.script(|order| match (label(order).as_str(), order.attempt) {
            ("n1:START:web", 1) => Behaviour::Panic,
            _ => Behaviour::Succeed,
        });
        rig.create(1, &quick("web: start\nn1 = web", 2)).await;
        let cluster = rig.until(1, 1, ClusterStatus::Active).await;
        let attempts = cluster.latest_job().unwrap().tasks.values().flat_map(|task| &task.attempts);
        let broken: Vec<_> =
            attempts.filter_map(|it| it.outcome.as_ref()).filter(|it| it.code != 0).collect();
        assert_eq!(broken.len(), 1);
        assert!(broken[0].stderr.contains("The plugin broke off"), "{}", broken[0].stderr);
        rig.assert_quiet().await;
    });
}
