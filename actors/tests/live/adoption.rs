//! Attempts that are taken up after a restart hold workers.

use cooperage_domain::cluster::ClusterStatus;

use crate::rig::{Home, Settings};
use crate::sketch::Sketch;

#[test]
fn nothing_new_begins_while_what_was_taken_up_uses_all_workers() {
    let home = Home::new();
    let one = Settings { slots: 1, ..Settings::default() };
    home.lab.hold(&["n1:CREATE"]);
    home.live(one, async |rig| {
        rig.create(1, &Sketch::alike("start", 2)).await;
        rig.lab.until_begun("n1:CREATE", 1).await;
    });
    home.live(one, async |rig| {
        rig.lab.until_begun("n1:CREATE", 2).await;
        rig.until_pool(1, 1).await;
        assert_eq!(rig.lab.running(), 1);
        rig.lab.release("n1:CREATE");
        rig.until(1, 1, ClusterStatus::Active).await;
        assert_eq!(rig.lab.most_at_once(), 1);
        rig.assert_quiet().await;
    });
}
