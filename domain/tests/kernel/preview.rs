//! What is told of a change before it is made.

use std::num::NonZeroUsize;
use std::time::Duration;

use cooperage_domain::cluster::{
    Became, Cluster, Command, Outlook, PlanPreview, Rollout, ServiceChange, Task, create, decide, difference,
    preview,
};
use cooperage_domain::entity::HardwareType;
use cooperage_domain::plan::Length;
use cooperage_domain::task::TaskName;
use serde_json::json;

use crate::sketch::Sketch;
use crate::world::{MORNING, World};

const SHOP: &str =
    "db: install configure start stop\nweb: install configure start stop remove | db\nn1 = db\nn2 = web";

/// Tasks on machines take ten seconds, others one; small machines cost a quarter.
fn look(before: Option<&Cluster>, events: &[cooperage_domain::cluster::Event]) -> PlanPreview {
    let length = |_: &Cluster, task: &Task| {
        let mean = Duration::from_secs(if task.name.is_machine_task() { 10 } else { 1 });
        Length { mean, deviation: mean / 4, is_known: task.name != TaskName::Install }
    };
    let hardware = json!([{"name": "small", "providermap": {"here": {"price": 0.25}}}]);
    let hardware: Vec<HardwareType> = serde_json::from_value(hardware).unwrap();
    let prices = hardware.into_iter().collect();
    let outlook = Outlook { length: &length, prices: &prices, workers: NonZeroUsize::new(8).unwrap() };
    preview(before, events, &outlook).unwrap()
}

fn told(world: &World, command: Command) -> PlanPreview {
    look(Some(&world.cluster), &decide(&world.cluster, command, world.now).unwrap())
}

fn by() -> String {
    "ann".into()
}

#[test]
fn a_create_is_all_new_and_costs_from_then_on() {
    let sketch = Sketch::new(SHOP);
    let shown = look(None, &create(sketch.order(), Ok(sketch.nodes.clone()), MORNING).unwrap());
    assert_eq!((shown.sequence, shown.cluster_id.as_deref()), (0, None));
    let nodes: Vec<_> = shown.changes.nodes.iter().map(|node| (node.host.as_str(), node.what)).collect();
    assert_eq!(nodes, [("n1.local", Became::Added), ("n2.local", Became::Added)]);
    assert!(shown.changes.nodes.iter().all(|node| !node.why.is_empty()));
    let price = shown.price.clone().unwrap();
    assert_eq!((price.before_per_hour, price.after_per_hour), (0.0, 0.5));
    assert_eq!((shown.tasks, shown.planned.len(), shown.unknown_durations), (12, 12, 2));
    assert!(shown.irreversible.is_empty());
    // Machines take 30 s, db 3 s, then web 3 s; what varies makes the slowest count.
    assert_eq!(shown.predicted_ms, 34_000);
    assert!(shown.p50_ms > 30_000 && shown.p50_ms < shown.p90_ms && shown.p90_ms < 60_000, "{shown:?}");
    assert_eq!(shown.critical_path.last().unwrap(), "START web on n2.local");
}

#[test]
fn a_configuration_is_told_by_its_values_and_its_restarts() {
    let world = World::created(&Sketch::new(SHOP));
    let config = json!({"owner": "%cluster.owner%", "web": {"port": 80}}).as_object().cloned().unwrap();
    let shown = told(&world, Command::Configure { config, restart: true, by: by() });
    let paths: Vec<_> = shown.changes.config.iter().map(|value| value.path.as_str()).collect();
    assert_eq!((paths, shown.sequence), (vec!["web"], world.cluster.sequence));
    assert!(shown.changes.nodes.is_empty() && shown.changes.services.is_empty());
    assert!(shown.planned.iter().any(|task| task.task_name == "STOP" && task.service == "web"));
    assert!(shown.irreversible.is_empty() && shown.decisions.len() == 2, "{shown:?}");
    // Nothing was done.
    assert_eq!(world.cluster.config.len(), 1);
}

#[test]
fn a_delete_says_what_goes_for_good() {
    let world = World::created(&Sketch::new(SHOP));
    let shown = told(&world, Command::Delete { now: false, by: by() });
    assert!(
        shown.changes.nodes.iter().all(|node| node.what == Became::Removed && node.why.contains("deleted"))
    );
    assert_eq!(shown.irreversible.len(), 3, "{:?}", shown.irreversible);
    assert!(shown.irreversible[0].contains("n1.local") && shown.irreversible[2].contains("for good"));
    let price = shown.price.clone().unwrap();
    assert_eq!((price.before_per_hour, price.after_per_hour), (0.5, 0.0));
}

#[test]
fn what_rests_is_told_unit_by_unit_and_what_changes_nothing_is_empty() {
    let mut world = World::created(&Sketch::new(SHOP));
    let stop = Command::ChangeServices { change: ServiceChange::Stop, service: Some("db".into()), by: by() };
    let shown = told(&world, stop);
    let units: Vec<_> = shown
        .changes
        .units
        .iter()
        .map(|unit| (unit.service.as_deref().unwrap(), unit.wanted_after.as_deref().unwrap()))
        .collect();
    assert_eq!(units, [("db", "stopped"), ("web", "stopped")]);
    let nothing = told(&world, Command::Resume { by: by() });
    assert!(nothing.changes.is_empty() && nothing.decisions.is_empty() && nothing.tasks == 0);
    assert_eq!((nothing.p90_ms, nothing.action), (0, None));
    let lease = told(&world, Command::Prolong { expires: MORNING * 9, by: by() });
    assert_eq!((lease.changes.cluster[0].path.as_str(), lease.tasks), ("expireTime", 0));
    // What has happened since is told by the same means.
    let before = world.cluster.clone();
    world.change(ServiceChange::Stop, "web").unwrap();
    world.run_all();
    let since = difference(Some(&before), &world.cluster);
    assert_eq!(since.units.len(), 1);
    assert_eq!(since.units[0].observed_after.as_deref(), Some("stopped"));
    assert!(difference(Some(&before), &before).is_empty());
}

#[test]
fn what_was_touched_leaves_out_what_only_happened() {
    let mut world = World::new(&Sketch::new(SHOP));
    let before = world.cluster.clone();
    world.run_all();
    let since = difference(Some(&before), &world.cluster);
    assert!(!since.units.is_empty() && !since.cluster.is_empty());
    assert!(since.touched().is_empty(), "{:?}", since.touched());
}

#[test]
fn a_rollout_takes_as_long_as_its_pauses() {
    let mut sketch = Sketch::alike("install configure start stop", 3);
    let web = sketch.services.get_mut("web").unwrap();
    web.inputs = serde_json::from_value(json!([{"name": "title", "at": "title"}])).unwrap();
    let world = World::created(&sketch);
    let reconfigure = |pause| {
        let config = json!({"title": "two"}).as_object().cloned().unwrap();
        let rollout = Some(Rollout { max_in_flight: 1, pause, ..Rollout::default() });
        told(
            &world,
            Command::Reconfigure { config, nodes: std::collections::BTreeMap::new(), rollout, by: by() },
        )
    };
    let (fast, slow) = (reconfigure(0), reconfigure(60_000));
    assert!(fast.tasks > 0 && fast.tasks == slow.tasks, "{fast:?}");
    assert_eq!(slow.predicted_ms, fast.predicted_ms + 120_000, "two pauses between three nodes");
}
