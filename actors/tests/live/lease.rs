//! Clusters whose lease runs out.

use std::time::Duration;

use cooperage_domain::cluster::ClusterStatus;

use crate::rig::{Home, Settings, live};
use crate::sketch::Sketch;

/// Long enough to begin what is to be cut short, in ms.
const LEASE: i64 = 3_000;

#[test]
fn they_are_deleted() {
    live(Settings::default(), async |rig| {
        rig.create_until(1, &Sketch::alike("start", 1), 1).await;
        // It runs out while the create is under way, which is cut short.
        rig.until(1, 1, ClusterStatus::Terminated).await;
        rig.assert_quiet().await;
    });
}

#[test]
fn even_if_no_server_was_there_when_it_ran_out() {
    let home = Home::new();
    home.live(Settings::default(), async |rig| {
        rig.lab.hold(&["n1:START:web"]);
        rig.create_until(1, &Sketch::alike("start", 1), LEASE).await;
        rig.lab.until_begun("n1:START:web", 1).await;
    });
    std::thread::sleep(Duration::from_millis(LEASE.unsigned_abs()));
    home.lab.hold(&[]);
    home.live(Settings::default(), async |rig| {
        rig.until(1, 1, ClusterStatus::Terminated).await;
    });
}

#[test]
fn a_lease_of_a_thousand_years_harms_nobody() {
    live(Settings::default(), async |rig| {
        rig.create_until(1, &Sketch::new("web: start\nn1 = web"), 1_000 * 365 * 86_400_000).await;
        rig.until(1, 1, ClusterStatus::Active).await;
        // The janitor still turns: this one's lease is short.
        rig.create_until(2, &Sketch::new("web: start\nn2 = web"), 1).await;
        rig.until(2, 1, ClusterStatus::Terminated).await;
    });
}
