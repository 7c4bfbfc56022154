//! Leases that end: with a warning, in any state, and in spite of whoever refuses.

use std::time::Duration;

use serde_json::{Value, json};

use crate::lab::wait_for;
use crate::target::{Target, answer};
use crate::world::{LIMIT, World, request};

/// Asks for a cluster with a lease and a lead of its warning, in ms.
fn leased(world: &World, lease: i64, warning: i64) -> String {
    let mut request = request("farm");
    request["initialLeaseDuration"] = lease.into();
    request["leaseWarning"] = warning.into();
    world.admin.create(&request)
}

fn gone(world: &World, id: &str) {
    wait_for("the end of the cluster", LIMIT, || {
        (world.admin.cluster(id)["status"] == "terminated").then_some(())
    });
    assert_eq!(world.machines(), 0);
}

fn extend(world: &World, id: &str, ms: i64) {
    let expires = world.admin.cluster(id)["expireTime"].as_i64().unwrap() + ms;
    world
        .admin
        .post(&format!("/v2/clusters/{id}"), &json!({ "expireTime": expires, "whilePending": true }))
        .ok();
}

#[test]
fn a_warning_is_given_once_for_each_end_over_restarts() {
    let mut world = World::start(&[]);
    let target = Target::start(&[answer(200, "")]);
    world.hook(&json!({"name": "ci", "url": target.url("/"), "events": ["lease-warning"]}));
    let hour = 3_600_000;
    // Its warning is due from the start.
    let id = leased(&world, hour, hour);
    world.admin.active(&id, LIMIT);
    let told = target.until("lease-warning", 1).remove(0).json();
    let expires = world.admin.cluster(&id)["expireTime"].clone();
    assert_eq!((&told["lease"]["expireTime"], &told["cluster"]["id"]), (&expires, &json!(id)));
    assert_eq!(told["job"], Value::Null);
    let listed = world.admin.get("/v2/clusters").ok();
    assert_eq!(listed[0]["expiring"], true, "{listed}");
    assert!((1..=hour).contains(&listed[0]["expiresIn"].as_i64().unwrap()));
    assert_eq!(world.admin.cluster(&id)["expiring"], true);
    world.server.kill();
    world.server.run();
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(target.of("lease-warning").len(), 1, "it is not repeated");
    // Another end has a warning of its own, at its own time: some seconds from now.
    extend(&world, &id, 12_000);
    assert_eq!(world.admin.cluster(&id)["expiring"], false);
    let calls = target.until("lease-warning", 2);
    assert_ne!(calls[1].json()["lease"]["expireTime"], expires);
    world.admin.delete_cluster(&id, LIMIT);
    assert_eq!(world.admin.cluster(&id).get("expiring"), None);
}

#[test]
fn a_warning_that_came_due_while_nobody_was_there_is_given_at_the_start() {
    let mut world = World::start(&[]);
    let target = Target::start(&[answer(200, "")]);
    world.hook(&json!({"name": "ci", "url": target.url("/"), "events": ["lease-warning"]}));
    let id = leased(&world, 3_603_000, 3_600_000);
    world.admin.active(&id, LIMIT);
    assert_eq!(target.calls().len(), 0);
    world.server.kill();
    std::thread::sleep(Duration::from_secs(3));
    world.server.run();
    target.until("lease-warning", 1);
}

#[test]
fn a_lease_ends_while_a_job_is_under_way_or_paused_or_has_stopped_half_way() {
    let world = World::start(&["jobs.max_attempts=1".to_owned()]);
    // Under way: what runs is stopped, and what was made is given back.
    world.tasks_take(1_000);
    let id = leased(&world, 2_500, 0);
    gone(&world, &id);
    // Paused.
    let id = leased(&world, 2_500, 0);
    world.admin.post(&format!("/v2/clusters/{id}/pause"), &json!({})).ok();
    gone(&world, &id);
    // Incomplete.
    world.tasks_take(1);
    let scenario = json!({"seed": 1, "shortest_ms": 1, "longest_ms": 1,
        "faults": [{"task": "INSTALL", "attempts": 9, "code": 1}]});
    let scenario: cooperage_plugins::simulated::Scenario = serde_json::from_value(scenario).unwrap();
    scenario.write(world.machines.path()).unwrap();
    let id = leased(&world, 2_500, 0);
    assert_eq!(world.admin.settled(&id, LIMIT), "incomplete");
    gone(&world, &id);
}

#[test]
fn a_lease_that_is_prolonged_while_a_job_is_under_way_does_not_end() {
    let world = World::start(&[]);
    world.tasks_take(1_000);
    let id = leased(&world, 3_000, 0);
    extend(&world, &id, 3_600_000);
    world.admin.active(&id, LIMIT);
}

#[test]
fn who_refuses_keeps_a_cluster_for_a_while_and_not_for_ever() {
    let world = World::start(&["callbacks.expiry_veto_seconds=4".to_owned()]);
    let target = Target::start(&[answer(403, "still needed")]);
    world.hook(
        &json!({"name": "gate", "url": target.url("/"), "events": ["start"], "actions": ["cluster_delete"]}),
    );
    let id = leased(&world, 1_500, 0);
    world.admin.active(&id, LIMIT);
    target.until("start", 1);
    assert_eq!(world.admin.cluster(&id)["status"], "active");
    gone(&world, &id);
    let cluster = world.admin.cluster(&id);
    let plans = world.admin.get(&format!("/v2/clusters/{id}/plans")).ok();
    let late = plans[0]["startTime"].as_i64().unwrap() - cluster["expireTime"].as_i64().unwrap();
    assert!(late >= 4_000, "it was kept for {late} ms");
}
