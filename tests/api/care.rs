//! Health and maintenance over REST, with machines that are directories and die when told.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::catalog::catalog;
use crate::lab::{Client, Server, apply, wait_for};

const LIMIT: Duration = Duration::from_secs(60);

struct Farm {
    world: tempfile::TempDir,
    server: Server,
    id: String,
}

impl Farm {
    /// Three nodes that are up, probed each second.
    fn up(heal: &str) -> Self {
        let world = tempfile::tempdir().unwrap();
        let settings = [
            format!("simulation.dir={}", world.path().display()),
            format!("health.heal={heal}"),
            "health.interval_seconds=1".to_owned(),
            "health.failures_before_down=2".to_owned(),
        ];
        let server = Server::start(&settings);
        let admin = server.admin();
        apply(&admin, &catalog());
        let id = admin.create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": 3}));
        admin.active(&id, LIMIT);
        Self { world, server, id }
    }

    fn admin(&self) -> Client {
        self.server.admin()
    }

    fn path(&self, rest: &str) -> String {
        format!("/v2/clusters/{}{rest}", self.id)
    }

    /// From now on probes find a node's machine so.
    fn find(&self, node: &str, what: &str) {
        let machine: &Path = &self.world.path().join("machines").join(node);
        std::fs::write(machine.join("health"), what).unwrap();
    }

    /// The health of the cluster once `holds` of it.
    fn until(&self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let admin = self.admin();
        wait_for(what, LIMIT, || Some(admin.get(&self.path("/health")).ok()).filter(&holds))
    }

    fn nodes(&self) -> Vec<String> {
        let details = self.admin().cluster(&self.id);
        let nodes = details["nodes"].as_array().unwrap();
        nodes.iter().map(|node| node["id"].as_str().unwrap().to_owned()).collect()
    }
}

fn machines_are(health: &Value, word: &str) -> bool {
    health["nodes"].as_array().unwrap().iter().all(|node| node["machine"]["health"] == word)
}

#[test]
fn what_probes_find_is_shown_and_a_machine_that_died_is_replaced() {
    let farm = Farm::up("auto");
    let healthy = farm.until("all to be probed", |health| machines_are(health, "healthy"));
    assert_eq!((&healthy["heal"], &healthy["alarm"]), (&json!("auto"), &Value::Null));
    let lost = farm.nodes()[1].clone();
    farm.find(&lost, "down the power is cut");
    let admin = farm.admin();
    let job = wait_for("a job that heals", LIMIT, || {
        let plans = admin.get(&farm.path("/plans")).ok();
        (plans[0]["action"] == "CLUSTER_HEAL" && plans[0]["status"] == "complete").then(|| plans[0].clone())
    });
    let of = |name: &str| {
        let tasks = job["tasks"].as_array().unwrap().iter().filter(|task| task["taskName"] == name);
        tasks.map(|task| task["nodeId"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((of("DELETE"), of("CREATE")), (vec![lost.clone()], vec![lost]));
    farm.until("all to be well again", |health| machines_are(health, "healthy"));
    let history = admin.get(&farm.path("/history")).ok().to_string();
    assert!(history.contains("found down: the power is cut"), "{history}");
    admin.delete_cluster(&farm.id, LIMIT);
    let gone = admin.get(&farm.path("/health")).ok();
    assert!(machines_are(&gone, "unknown"), "there are none any more: {gone}");
}

#[test]
fn without_leave_an_alarm_is_shown_and_the_cluster_s_own_switch_changes_it() {
    let farm = Farm::up("alarm");
    let admin = farm.admin();
    let ill = farm.nodes()[0].clone();
    farm.find(&ill, "down its disk is full");
    let health = farm.until("an alarm", |health| health["alarm"].is_string());
    assert!(
        health["alarm"].as_str().unwrap().contains(&format!("cooperage cluster heal {}", farm.id)),
        "{health}"
    );
    let node = &admin.get(&format!("/v2/nodes/{ill}")).ok();
    assert_eq!(node["down"][0]["reason"], "its disk is full");
    assert!(farm.server.logged().contains("health alarm"), "it stands in the log");
    farm.find(&ill, "unknown the network is away");
    let health = farm.until("nothing to be found out", |health| {
        health["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|node| node["machine"]["unknown"] == "the network is away")
    });
    assert!(
        health["nodes"].to_string().contains("\"down\""),
        "what is not found out changes nothing: {health}"
    );
    farm.find(&ill, "up");
    farm.until("the end of the alarm", |health| health["alarm"].is_null());
    admin.put(&farm.path("/health"), &json!({"heal": "off"})).ok();
    let off =
        farm.until("probing to end", |health| machines_are(health, "unknown") || health["heal"] == "off");
    assert_eq!(off["heal"], "off");
    admin.put(&farm.path("/health"), &json!({"heal": null})).ok();
    assert_eq!(admin.get(&farm.path("/health")).ok()["heal"], "alarm");
    assert_eq!(admin.put(&farm.path("/health"), &json!({"heal": "always"})).status, 400);
}

#[test]
fn what_is_in_maintenance_waits_and_says_so() {
    let farm = Farm::up("auto");
    let admin = farm.admin();
    let nodes = farm.nodes();
    let of_node = farm.path(&format!("/nodes/{}/maintenance", nodes[0]));
    admin.put(&of_node, &json!({"reason": "new disks"})).ok();
    let known = admin.cluster(&farm.id)["nodes"][0]["maintenance"].clone();
    assert_eq!((&known["by"], &known["reason"]), (&json!("admin"), &json!("new disks")));
    farm.find(&nodes[0], "down no power");
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(admin.get(&farm.path("/plans")).ok().as_array().unwrap().len(), 2, "it is not healed");
    let refused = admin.put(&farm.path("/nodes/none/maintenance"), &json!({}));
    assert_eq!(refused.status, 400);
    admin.delete(&farm.path("")).ok();
    let gone = |node: &str| !farm.world.path().join("machines").join(node).exists();
    wait_for("the other machines to go", LIMIT, || nodes[1..].iter().all(|node| gone(node)).then_some(()));
    assert!(!gone(&nodes[0]), "nothing is done where maintenance is");
    assert_eq!(admin.cluster(&farm.id)["status"], "pending");
    admin.delete(&of_node).ok();
    assert_eq!(admin.settled(&farm.id, LIMIT), "terminated");
    assert_eq!(admin.put(&farm.path("/maintenance"), &json!({})).status, 409);
}
