//! Clusters whose machines and services fall ill.

use std::time::Duration;

use cooperage_actors::health::{ClusterHealth, GetHealth, HealthSettings};
use cooperage_actors::pace::Pace;
use cooperage_actors::registry::Look;
use cooperage_domain::cluster::{CareChange, ClusterStatus, Command, Event};
use cooperage_domain::health::{Finding, HealMode, Health, Policy};
use cooperage_domain::id::ClusterId;

use crate::lab::eventually;
use crate::rig::{Home, Rig, Settings, live};
use crate::sketch::Sketch;

const WEB: &str = "web: start probe\n";

/// A server that probes all the time.
fn probing(heal: HealMode) -> Settings {
    let policy = Policy {
        heal,
        interval: 20,
        failures_before_down: 2,
        successes_before_up: 2,
        meltdown_percent: 25,
        meltdown_minimum: 2,
        heals_per_hour: 3,
    };
    Settings { health: HealthSettings { policy, max_probes: 8 }, ..Settings::default() }
}

/// A cluster with so many nodes that is up.
async fn cluster(rig: &Rig, id: u64, nodes: u32) {
    let drawn: String = (1..=nodes).map(|node| format!("c{id}n{node} = web\n")).collect();
    rig.create(id, &Sketch::new(&format!("{WEB}{drawn}"))).await;
    let cluster = format!("cluster={}", ClusterId(id));
    rig.log.until(1, &["job ended", "status=active", &cluster]).await;
}

fn off() -> Finding {
    Finding::Down("it is off".to_owned())
}

/// What the journal says of health: the unit and how it is, in order.
fn remembered(rig: &Rig, id: u64) -> Vec<String> {
    let said = |event: &Event| match event {
        Event::CareChanged { change: CareChange::Health { node, service, health, reason }, .. } => {
            let service = service.as_ref().map(|service| format!("/{service}")).unwrap_or_default();
            Some(format!("{node}{service} {} {reason}", health.as_str()).trim().to_owned())
        }
        _ => None,
    };
    rig.events(id).iter().filter_map(said).collect()
}

async fn known(rig: &Rig, id: u64) -> Option<ClusterHealth> {
    rig.health.send(GetHealth { cluster: ClusterId(id) }).await.unwrap()
}

/// What people are told about a cluster.
async fn alarm(rig: &Rig, id: u64) -> String {
    eventually("an alarm", async || known(rig, id).await?.alarm).await
}

#[test]
fn what_changes_is_remembered_and_nothing_else_is() {
    live(probing(HealMode::Alarm), async |rig| {
        cluster(&rig, 1, 2).await;
        rig.lab.until_probed("c1n1/web", 4).await;
        assert_eq!(remembered(&rig, 1), [""; 0], "all is well, which is no news");
        rig.lab.find("c1n1/web", Finding::Down("answers 500".to_owned()));
        rig.log.until(1, &["found down", "c1n1/web", "answers 500"]).await;
        rig.lab.until_probed("c1n1/web", 4).await;
        rig.lab.find("c1n1/web", Finding::Up);
        rig.log.until(1, &["found healthy again", "c1n1/web"]).await;
        rig.lab.find("c1n1/web", Finding::Unknown("the network is away".to_owned()));
        rig.lab.until_probed("c1n1/web", 4).await;
        let down = "c1n1/web down its probe ended with 1: answers 500";
        assert_eq!(remembered(&rig, 1), [down, "c1n1/web healthy"]);
        assert_eq!(known(&rig, 1).await.unwrap().alarm, None);
        let watch = known(&rig, 1).await.unwrap().units[&"c1n1/web".parse().unwrap()].clone();
        assert!(watch.health == Health::Healthy && watch.unknown.contains("network is away"), "{watch:?}");
        rig.assert_quiet().await;
    });
}

#[test]
fn clusters_at_rest_are_probed_and_not_woken() {
    let pace = Pace { rest_after: Duration::ZERO, ..Settings::default().pace };
    live(Settings { pace, ..probing(HealMode::Alarm) }, async |rig| {
        cluster(&rig, 1, 1).await;
        let look = async || rig.registry.send(Look { id: ClusterId(1) }).await.unwrap();
        eventually("the cluster to rest", async || look().await.is_none().then_some(())).await;
        let owner = rig.store.owner(ClusterId(1)).unwrap().unwrap().epoch;
        for _ in 0..10 {
            rig.lab.until_probed("c1n1", 1).await;
            assert!(look().await.is_none());
        }
        assert_eq!(rig.store.owner(ClusterId(1)).unwrap().unwrap().epoch, owner);
        rig.lab.find("c1n1", off());
        rig.log.until(1, &["found down", "c1n1"]).await;
        eventually("it to be remembered", async || (remembered(&rig, 1).len() == 1).then_some(())).await;
    });
}

#[test]
fn a_machine_that_died_is_replaced_by_a_job() {
    live(probing(HealMode::Auto), async |rig| {
        cluster(&rig, 1, 4).await;
        rig.lab.find("c1n2", Finding::Gone("no such machine".to_owned()));
        rig.log.until(2, &["job ended", "status=active"]).await;
        let healed = rig.stored(1);
        let job = healed.latest_job().unwrap();
        assert_eq!((job.action.as_str(), job.by.as_str()), ("cluster_heal", "health"));
        assert!(
            job.tasks.values().all(|task| task.node.as_str() == "c1n2"),
            "only what was lost is done again"
        );
        assert_eq!(rig.lab.begun().iter().filter(|label| *label == "c1n2:CREATE").count(), 2);
        rig.lab.until_probed("c1n2/web", 4).await;
        assert_eq!(remembered(&rig, 1), ["c1n2 down no such machine"]);
        assert_eq!(rig.stored(1).care.health.len(), 0, "the new machine is another one");
        assert_eq!(rig.log.count(&["health alarm"]), 0);
        rig.assert_quiet().await;
    });
}

#[test]
fn when_too_many_ail_nothing_is_replaced_and_people_are_told_once() {
    live(probing(HealMode::Auto), async |rig| {
        cluster(&rig, 1, 4).await;
        for node in ["c1n1", "c1n2", "c1n3"] {
            rig.lab.find(node, off());
        }
        let text = alarm(&rig, 1).await;
        assert!(text.contains("nothing is replaced: 3 of 4 machines of the cluster ail"), "{text}");
        rig.lab.until_probed("c1n4", 6).await;
        assert_eq!(rig.log.count(&["health alarm", "nothing is replaced"]), 1);
        assert_eq!(rig.stored(1).latest_job().unwrap().id.number, 2, "there is no further job");
        for node in ["c1n1", "c1n2", "c1n3"] {
            rig.lab.find(node, Finding::Up);
        }
        rig.log.until(1, &["health alarm is over"]).await;
        rig.assert_quiet().await;
    });
}

#[test]
fn a_provider_in_trouble_stops_healing_in_clusters_that_are_well_off() {
    live(probing(HealMode::Auto), async |rig| {
        for id in 1..=3 {
            cluster(&rig, id, 4).await;
            rig.lab.until_probed(&format!("c{id}n4"), 2).await;
        }
        // Two of four each: bearable for a cluster, too many of the provider.
        for node in ["c1n1", "c1n2", "c2n1", "c2n2"] {
            rig.lab.find(node, off());
        }
        let text = alarm(&rig, 1).await;
        assert!(text.contains("of 12 machines of its provider ail"), "{text}");
        alarm(&rig, 2).await;
        assert!((1..=3).all(|id| rig.stored(id).latest_job().unwrap().id.number == 2));
        rig.assert_quiet().await;
    });
}

#[test]
fn without_leave_to_heal_people_are_told_how() {
    live(probing(HealMode::Alarm), async |rig| {
        cluster(&rig, 1, 2).await;
        rig.lab.find("c1n1", off());
        let text = alarm(&rig, 1).await;
        assert!(text.contains("c1n1 is down") && text.contains("cooperage cluster heal 00000001"), "{text}");
        assert_eq!(rig.stored(1).latest_job().unwrap().id.number, 2);
        // Its own switch changes what its settings say.
        let change = CareChange::Healing { heal: Some(HealMode::Auto) };
        rig.tell(1, Command::Care { changes: vec![change], by: "ann".into() }).await.unwrap();
        rig.log.until(2, &["job ended", "status=active"]).await;
        let change = CareChange::Healing { heal: Some(HealMode::Off) };
        rig.tell(1, Command::Care { changes: vec![change], by: "ann".into() }).await.unwrap();
        eventually("probing to end", async || known(&rig, 1).await?.units.is_empty().then_some(())).await;
        let before = rig.lab.probed().len();
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(rig.lab.probed().len(), before);
    });
}

#[test]
fn what_is_left_alone_is_neither_probed_nor_replaced() {
    live(probing(HealMode::Auto), async |rig| {
        cluster(&rig, 1, 3).await;
        let care = |reason: Option<&str>| {
            let node = Some(crate::sketch::node_id("c1n1"));
            let change = CareChange::Maintenance { node, reason: reason.map(str::to_owned) };
            Command::Care { changes: vec![change], by: "ann".into() }
        };
        rig.tell(1, care(Some("new disks"))).await.unwrap();
        // A probe that was under way may end yet.
        rig.lab.until_probed("c1n2", 2).await;
        rig.lab.find("c1n1", off());
        let before = rig.lab.probed().iter().filter(|unit| *unit == "c1n1").count();
        rig.lab.until_probed("c1n2", 8).await;
        assert_eq!(rig.lab.probed().iter().filter(|unit| *unit == "c1n1").count(), before);
        assert_eq!(rig.stored(1).latest_job().unwrap().id.number, 2);
        rig.tell(1, care(None)).await.unwrap();
        rig.log.until(2, &["job ended", "status=active"]).await;
        assert_eq!(rig.stored(1).latest_job().unwrap().action.as_str(), "cluster_heal");
    });
}

#[test]
fn a_probe_gives_way_to_a_task_and_never_runs_beside_one() {
    live(probing(HealMode::Alarm), async |rig| {
        cluster(&rig, 1, 1).await;
        rig.lab.slow_down("c1n1");
        rig.lab.until_probed("c1n1", 1).await;
        rig.delete(1).await.unwrap();
        rig.until(1, 1, ClusterStatus::Terminated).await;
        rig.assert_quiet().await;
    });
}

#[test]
fn after_a_restart_what_was_down_is_known_and_found_again_before_it_is_replaced() {
    let home = Home::new();
    home.live(probing(HealMode::Alarm), async |rig| {
        cluster(&rig, 1, 3).await;
        rig.lab.find("c1n1", off());
        alarm(&rig, 1).await;
        eventually("it to be remembered", async || (remembered(&rig, 1).len() == 1).then_some(())).await;
    });
    // The machine came back while no server was there.
    home.lab.find("c1n1", Finding::Up);
    home.live(probing(HealMode::Auto), async |rig| {
        rig.log.until(1, &["found healthy again", "c1n1"]).await;
        rig.lab.until_probed("c1n1", 4).await;
        assert_eq!(rig.stored(1).latest_job().unwrap().id.number, 2, "nothing was replaced");
    });
}
