//! Targets that are asked before jobs begin.

use serde_json::{Value, json};

use crate::target::{Target, answer};
use crate::world::{LIMIT, World, request};

fn clusters(world: &World) -> usize {
    world.admin.get("/v2/clusters").ok().as_array().unwrap().len()
}

fn refused(answer: &crate::lab::Answer, reason: &str) {
    assert_eq!(answer.status, 409, "{}", answer.body);
    assert_eq!((&answer.body["reason"], &answer.body["callback"]), (&json!(reason), &json!("gate")));
    let detail = answer.body["detail"].as_str().unwrap();
    assert!(detail.contains("gate") && detail.contains(reason), "{detail}");
}

#[test]
fn a_refusal_leaves_nothing_behind() {
    let world = World::start(&[]);
    let target = Target::start(&[answer(200, r#"{"veto": "freeze until Monday"}"#)]);
    world.hook(&json!({"name": "gate", "url": target.url("/"), "events": ["start"],
        "actions": ["cluster_create", "cluster_delete"]}));
    refused(&world.admin.post("/v2/clusters", &request("farm")), "freeze until Monday");
    assert_eq!((clusters(&world), world.machines()), (0, 0));
    let asked = target.of("start").remove(0).json();
    assert_eq!(
        (&asked["job"]["action"], &asked["cluster"]["name"], &asked["who"]),
        (&json!("cluster_create"), &json!("farm"), &json!("admin"))
    );
    // What it is not for is not asked of it, and nothing is asked of a preview.
    target.play(&[answer(200, "{}")]);
    world.admin.post("/v2/clusters?dryRun=true", &request("farm")).ok();
    assert_eq!(target.calls().len(), 1);
    let id = world.create("farm");
    world.admin.active(&id, LIMIT);
    target.play(&[answer(403, "not yet")]);
    world.admin.post(&format!("/v2/clusters/{id}/services/stop"), &json!({})).ok();
    world.admin.settled(&id, LIMIT);
    let before = world.admin.get(&format!("/v2/clusters/{id}/plans")).ok();
    refused(&world.admin.delete(&format!("/v2/clusters/{id}")), "not yet");
    assert_eq!(world.admin.get(&format!("/v2/clusters/{id}/plans")).ok(), before);
    target.play(&[answer(200, "")]);
    world.admin.delete_cluster(&id, LIMIT);
    let record: Vec<Value> = world.deliveries("gate").iter().map(|call| call["status"].clone()).collect();
    assert_eq!(record, ["allowed", "vetoed", "allowed", "vetoed"], "newest first");
}

#[test]
fn a_target_that_is_not_there_refuses_only_if_it_is_to() {
    let world = World::start(&[]);
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    world.hook(&json!({"name": "gate", "url": format!("http://{nobody}/"), "events": ["start"], "onError": "refuse"}));
    let answer = world.admin.post("/v2/clusters", &request("farm"));
    assert_eq!((answer.status, clusters(&world)), (409, 0), "{}", answer.body);
    assert!(answer.body["reason"].as_str().unwrap().contains("could not be asked"), "{}", answer.body);
    world.admin.put("/v2/callbacks/gate", &json!({"onError": "allow"})).ok();
    let id = world.create("farm");
    world.admin.active(&id, LIMIT);
}

#[test]
fn the_settings_name_a_target_that_may_refuse() {
    let target = Target::start(&[answer(409, r#"{"message": "no budget"}"#)]);
    let world = World::start(&[format!("callbacks.http.start.url={}", target.url("/"))]);
    let answer = world.admin.post("/v2/clusters", &request("farm"));
    assert_eq!((answer.status, &answer.body["reason"]), (409, &json!("no budget")), "{}", answer.body);
    let asked = target.of("start").remove(0).json();
    assert_eq!(
        (&asked["job"]["clusterAction"], &asked["cluster"]["status"]),
        (&json!("CLUSTER_CREATE"), &json!("PENDING"))
    );
}
