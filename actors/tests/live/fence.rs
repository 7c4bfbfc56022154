//! Another server takes a cluster over.

use cooperage_actors::janitor::{Deadline, TimeUp};
use cooperage_actors::registry::Look;
use cooperage_domain::cluster::ClusterStatus;
use cooperage_domain::id::ClusterId;

use crate::lab::eventually;
use crate::rig::{Settings, live};
use crate::sketch::Sketch;

/// An hour, in ms.
const HOUR: i64 = 3_600_000;

#[test]
fn the_old_owner_stops_writing_and_executing() {
    live(Settings::default(), async |rig| {
        rig.lab.hold(&["n1:CREATE", "n2:CREATE"]);
        rig.create(1, &Sketch::alike("start", 2)).await;
        rig.lab.until_begun("n1:CREATE", 1).await;
        rig.lab.until_begun("n2:CREATE", 1).await;
        let before = rig.events(1);
        rig.store.claim(ClusterId(1)).unwrap();
        rig.lab.release("n1:CREATE");
        // What the new owner takes up must not run here as well.
        rig.lab.until_cancelled("n2:CREATE").await;
        eventually("the actor to be gone", async || {
            rig.registry.send(Look { id: ClusterId(1) }).await.unwrap().is_none().then_some(())
        })
        .await;
        assert_eq!(rig.events(1), before);
        assert_eq!(rig.log.count(&["is started again"]), 0, "it is another's now");
        rig.assert_quiet().await;

        // This server takes it over again when it is asked to.
        rig.lab.release("n2:CREATE");
        rig.abort(1).await.unwrap();
        rig.until(1, 1, ClusterStatus::Incomplete).await;
        rig.assert_quiet().await;
    });
}

#[test]
fn what_time_makes_due_is_left_to_the_server_that_has_taken_over() {
    live(Settings::default(), async |rig| {
        let id = ClusterId(1);
        rig.lab.hold(&["n1:CREATE"]);
        rig.create_until(1, &Sketch::alike("start", 1), HOUR).await;
        rig.lab.until_begun("n1:CREATE", 1).await;
        let taken = rig.store.claim(id).unwrap();
        rig.lab.release("n1:CREATE");
        eventually("the actor to be gone", async || {
            rig.registry.send(Look { id }).await.unwrap().is_none().then_some(())
        })
        .await;
        for deadline in [Deadline::Lease(id), Deadline::LeaseWarning(id)] {
            rig.registry.send(TimeUp(deadline)).await.unwrap();
        }
        // Whatever had been begun by that is written before this one is through.
        rig.create(2, &Sketch::alike("start", 1)).await;
        rig.until(2, 1, ClusterStatus::Active).await;
        assert_eq!(rig.store.owner(id).unwrap().unwrap().epoch, taken);
        assert!(rig.registry.send(Look { id }).await.unwrap().is_none());

        // Whoever asks here gets an answer from here.
        rig.abort(1).await.unwrap();
        assert!(rig.store.owner(id).unwrap().unwrap().epoch > taken);
        rig.until(1, 1, ClusterStatus::Incomplete).await;
        rig.assert_quiet().await;
    });
}
