//! Targets that are told when jobs end.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::lab::wait_for;
use crate::target::{Script, Target, answer};
use crate::world::{LIMIT, World};

const SECRET: &str = "a-secret-of-4711-characters";

fn contents(folder: &Path) -> Vec<u8> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| if path.is_dir() { contents(&path) } else { std::fs::read(path).unwrap() })
        .collect()
}

#[test]
fn they_are_told_what_they_are_for_and_calls_are_signed() {
    let world = World::start(&[]);
    let (all, deletes) = (Target::start(&[answer(200, "thanks")]), Target::start(&[answer(200, "")]));
    let made = world.hook(&json!({"name": "all", "url": all.url("/a?b=c"), "events": ["success", "failure"],
        "secret": SECRET}));
    assert_eq!(made.get("secret"), None, "a secret that was given is not shown");
    let events = ["success", "failure"];
    let made = world.hook(&json!({"name": "deletes", "url": deletes.url("/"), "events": events,
        "actions": ["cluster_delete"]}));
    let secret = made["secret"].as_str().unwrap().to_owned();
    let id = world.create("farm");
    world.admin.active(&id, LIMIT);
    let call = all.until("success", 1).remove(0);
    assert_eq!(call.path, "/a?b=c");
    assert!(call.is_signed_with(SECRET) && !call.is_signed_with("another"), "{call:?}");
    let body = call.json();
    assert_eq!(body["id"], *call.header("x-cooperage-delivery"));
    assert_eq!(
        (&body["event"], &body["callback"], &body["who"]),
        (&json!("success"), &json!("all"), &json!("admin"))
    );
    assert_eq!((&body["cluster"]["id"], &body["cluster"]["status"]), (&json!(id), &json!("active")));
    assert_eq!(
        (&body["job"]["id"], &body["job"]["action"], &body["job"]["status"]),
        (&json!(format!("{id}-002")), &json!("cluster_create"), &json!("complete"))
    );
    world.admin.delete_cluster(&id, LIMIT);
    let call = deletes.until("success", 1).remove(0);
    assert!(call.is_signed_with(&secret));
    assert_eq!(call.json()["job"]["action"], "cluster_delete");
    all.until("success", 2);
    assert_eq!(deletes.calls().len(), 1, "the create was not for it");
    // A request without a layout is a failure of the solver.
    let mut nothing = crate::world::request("nothing");
    nothing["services"] = json!(["web", "none"]);
    world.admin.post("/v2/clusters", &nothing).ok();
    let failed = all.until("failure", 1).remove(0).json();
    assert_eq!(
        (&failed["job"]["action"], &failed["job"]["status"]),
        (&json!("solve_layout"), &json!("failed"))
    );
    assert!(failed["job"]["message"].as_str().unwrap().contains("none"), "{failed}");
    // Secrets are nowhere but where they were given or made.
    let shown = [world.admin.get("/v2/callbacks").ok(), world.admin.get("/v2/callbacks/all").ok()];
    let stored = contents(world.server.folder());
    for secret in [SECRET, &secret] {
        assert!(shown.iter().all(|shown| !shown.to_string().contains(secret)), "{shown:?}");
        assert!(!stored.windows(secret.len()).any(|part| part == secret.as_bytes()), "a file holds a secret");
    }
}

#[test]
fn calls_that_are_not_taken_are_made_again_and_are_on_record() {
    let world = World::start(&["callbacks.max_attempts=3".to_owned()]);
    let scripts = [answer(500, "out of order"), answer(302, ""), answer(204, "")];
    let target = Target::start(&scripts);
    world.hook(&json!({"name": "ci", "url": target.url("/"), "events": ["success"]}));
    let id = world.create("farm");
    world.admin.active(&id, LIMIT);
    let calls = target.until("success", 3);
    let ids: Vec<&str> = calls.iter().map(|call| call.header("x-cooperage-delivery")).collect();
    assert!(ids.iter().all(|id| id == &ids[0]), "the same call has the same id: {ids:?}");
    assert!(
        calls.iter().all(|call| call.body == calls[0].body && call.path == "/"),
        "it follows no redirection"
    );
    let delivered = |status: &str| {
        wait_for("the record", LIMIT, || {
            Some(world.deliveries("ci")).filter(|all| all.iter().all(|call| call["status"] == status))
        })
    };
    let record = delivered("delivered");
    assert_eq!((record.len(), &record[0]["attempts"], &record[0]["next"]), (1, &json!(3), &json!(null)));
    let path = format!("/v2/callbacks/ci/deliveries/{}", ids[0]);
    let whole = world.admin.get(&path).ok();
    let codes: Vec<u64> =
        whole["tries"].as_array().unwrap().iter().map(|one| one["code"].as_u64().unwrap()).collect();
    assert_eq!((codes, &whole["tries"][0]["answer"]), (vec![500, 302, 204], &json!("out of order")));
    assert_eq!(whole["body"], calls[0].json());
    // Again, because somebody wants it; and given up when it is never taken.
    target.play(&[answer(200, "")]);
    world.admin.post(&format!("{path}/redeliver"), &json!(null)).ok();
    target.until("success", 4);
    delivered("delivered");
    target.play(&[answer(503, "")]);
    world.admin.post(&format!("{path}/redeliver"), &json!(null)).ok();
    target.until("success", 7);
    assert_eq!(delivered("failed")[0]["attempts"], 7);
    assert_eq!(world.admin.post("/v2/callbacks/ci/deliveries/none/redeliver", &json!(null)).status, 404);
    world.admin.delete("/v2/callbacks/ci").ok();
    assert_eq!(world.admin.get(&path).status, 404);
}

#[test]
fn a_slow_target_keeps_nobody_waiting() {
    let world = World::start(&["callbacks.at_once=2".to_owned()]);
    let pause = Duration::from_secs(20);
    let slow = Target::start(&[Script { pause, ..answer(200, "") }]);
    let quick = Target::start(&[answer(200, "")]);
    for (name, target) in [("slow", &slow), ("quick", &quick)] {
        let hook = json!({"name": name, "url": target.url("/"), "events": ["success"], "timeoutMs": 30_000});
        world.hook(&hook);
    }
    let ids: Vec<String> = (0..4).map(|n| world.create(&format!("farm{n}"))).collect();
    for id in &ids {
        world.admin.active(id, pause);
    }
    quick.until("success", 4);
    assert_eq!(slow.calls().len(), 2, "it gets two at a time");
}

#[test]
fn a_callback_can_be_tried_and_goes_only_where_it_may() {
    let world = World::start(&[]);
    let target = Target::start(&[answer(418, "a teapot")]);
    world.hook(&json!({"name": "ci", "url": target.url("/"), "events": ["success"]}));
    let tried = world.admin.post("/v2/callbacks/ci/test", &json!(null)).ok();
    assert_eq!(
        (&tried["status"], &tried["tries"][0]["code"], &tried["tries"][0]["answer"]),
        (&json!("failed"), &json!(418), &json!("a teapot"))
    );
    assert_eq!(target.of("test").len(), 1);
    let refused = |url: &str| {
        let hook = json!({"name": "x", "url": url, "events": ["success"]});
        let answer = world.admin.post("/v2/callbacks", &hook);
        assert_eq!((answer.status, &answer.body["field"]), (400, &json!("url")), "{url}: {}", answer.body);
        answer.body["detail"].to_string()
    };
    for url in ["http://169.254.169.254/latest/meta-data", "http://[::1]/", "http://127.0.0.2/"] {
        assert!(refused(url).contains("deny_networks"), "{url}");
    }
    refused("file:///etc/passwd");
    // What a name stands for is looked at when it is called.
    let by_name = format!("http://localhost:{}/", target.url("").rsplit(':').next().unwrap());
    world.admin.put("/v2/callbacks/ci", &json!({"url": by_name})).ok();
    // 127.0.0.1 is allowed in these tests; ::1 is not, and is passed over.
    assert_eq!(world.admin.post("/v2/callbacks/ci/test", &json!(null)).ok()["tries"][0]["code"], 418);
    let closed = World::start(&["callbacks.allow_networks=10.99.0.0/16".to_owned()]);
    closed.hook(&json!({"name": "ci", "url": by_name, "events": ["success"]}));
    let fault =
        closed.admin.post("/v2/callbacks/ci/test", &json!(null)).ok()["tries"][0]["fault"].to_string();
    assert!(fault.contains("deny_networks"), "{fault}");
}

#[test]
fn those_of_the_settings_are_told_in_coopr_s_form() {
    let target = Target::start(&[answer(200, "")]);
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "of-the-operator\n").unwrap();
    let world = World::start(&[
        format!("server.callback.http.success.url={}", target.url("/old")),
        "server.callback.http.success.triggers=CLUSTER_CREATE".to_owned(),
        format!("callbacks.http.secret_file={}", secret.display()),
        "callbacks.allow_networks=10.99.0.0/16".to_owned(),
    ]);
    let id = world.create("farm");
    world.admin.active(&id, LIMIT);
    let call = target.until("success", 1).remove(0);
    assert!(call.is_signed_with("of-the-operator"));
    let body = call.json();
    assert_eq!(
        (&body["cluster"]["id"], &body["cluster"]["status"], &body["job"]["clusterAction"]),
        (&json!(id), &json!("ACTIVE"), &json!("CLUSTER_CREATE"))
    );
    assert_eq!((&body["job"]["jobStatus"], body["nodes"].as_array().unwrap().len()), (&json!("COMPLETE"), 1));
    world.admin.delete_cluster(&id, LIMIT);
    assert_eq!(target.calls().len(), 1, "deletes are not among the triggers");
    let listed = world.admin.get("/v2/callbacks").ok();
    assert_eq!((&listed[0]["name"], &listed[0]["source"]), (&json!("settings-success"), &json!("settings")));
    assert_eq!(world.admin.delete("/v2/callbacks/settings-success").status, 409);
    assert_eq!(world.deliveries("settings-success").len(), 1);
}
