//! Clusters with nothing to do.

use std::time::Duration;

use actix::Addr;
use cooperage_actors::cluster::Cluster;
use cooperage_actors::pace::Pace;
use cooperage_actors::registry::{Find, Look};
use cooperage_domain::cluster::ClusterStatus;
use cooperage_domain::id::ClusterId;
use futures::future::join_all;

use crate::lab::eventually;
use crate::rig::{Rig, Settings, live};
use crate::sketch::Sketch;

const ID: ClusterId = ClusterId(1);

fn sleepy() -> Settings {
    let pace = Pace { rest_after: Duration::ZERO, ..Settings::default().pace };
    Settings { pace, ..Settings::default() }
}

async fn look(rig: &Rig) -> Option<Addr<Cluster>> {
    rig.registry.send(Look { id: ID }).await.unwrap()
}

async fn until_at_rest(rig: &Rig) {
    eventually("the cluster to rest", async || look(rig).await.is_none().then_some(())).await;
}

#[test]
fn they_rest_and_come_back_when_told_something() {
    live(sleepy(), async |rig| {
        rig.create(1, &Sketch::alike("start", 2)).await;
        rig.until(1, 1, ClusterStatus::Active).await;
        until_at_rest(&rig).await;
        rig.delete(1).await.unwrap();
        rig.until(1, 1, ClusterStatus::Terminated).await;
        until_at_rest(&rig).await;
        assert_eq!(rig.log.count(&["is started again"]), 0);
        rig.assert_quiet().await;
    });
}

#[test]
fn no_command_is_lost_on_one_that_is_going_to_rest() {
    live(sleepy(), async |rig| {
        rig.create(1, &Sketch::alike("start", 1)).await;
        rig.until(1, 1, ClusterStatus::Active).await;
        for _ in 0..40 {
            // Aborting a cluster without a job is allowed and does nothing.
            let answers = join_all((0..8).map(|_| rig.abort(1))).await;
            assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        }
    });
}

#[test]
fn one_that_is_looked_for_many_times_at_once_is_started_once() {
    live(Settings::default(), async |rig| {
        rig.create(1, &Sketch::alike("start", 1)).await;
        rig.until(1, 1, ClusterStatus::Active).await;
        let idle = cooperage_actors::janitor::TimeUp(cooperage_actors::janitor::Deadline::Idle(ID));
        look(&rig).await.unwrap().send(idle).await.unwrap();
        until_at_rest(&rig).await;
        let before = rig.store.owner(ID).unwrap().unwrap().epoch;
        let found = join_all((0..20).map(|_| rig.registry.send(Find { id: ID }))).await;
        assert!(found.into_iter().all(|found| found.unwrap().is_ok()));
        assert_eq!(rig.store.owner(ID).unwrap().unwrap().epoch, before + 1);
        rig.delete(1).await.unwrap();
        rig.until(1, 1, ClusterStatus::Terminated).await;
    });
}
