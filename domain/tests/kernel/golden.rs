//! Whole journals in files below `golden/`. `UPDATE_GOLDEN=1` writes them anew.

use std::fs;
use std::path::Path;

use cooperage_domain::cluster::{
    Account, Asking, Catalog, ClusterRequest, ClusterStatus, Limits, Origins, create,
};
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_domain::task::TaskName;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::journal::lines;
use crate::world::{MORNING, World};

/// From which the nodes' ids are derived.
const SEED: Uuid = Uuid::from_u128(7);

/// A load balancer in front of web nodes, and one store for all of them.
fn web() -> Catalog {
    let service = |name: &str, needs: &[&str]| {
        let actions = ["install", "configure", "start", "stop", "remove"].map(|action| {
            (action.to_owned(), json!({"type": "shell", "fields": {"script": name, "args": action}}))
        });
        json!({
            "name": name,
            "dependencies": {"runtime": {"requires": needs}},
            "provisioner": {"actions": Value::Object(actions.into_iter().collect())}
        })
    };
    let one = json!({"quantities": {"min": 1, "max": 1}});
    let template = json!({
        "name": "web",
        "defaults": {
            "provider": "local", "hardwaretype": "small", "imagetype": "debian-12",
            "services": ["haproxy", "nginx", "redis"],
            "config": {"backends": "%join(map(host.service.nginx,'$:80'),',')%"}
        },
        "compatibility": {"services": ["haproxy", "nginx", "redis"]},
        "constraints": {
            "layout": {"cantcoexist": [["haproxy", "nginx"], ["redis", "nginx"]]},
            "services": {"haproxy": one, "redis": one, "nginx": {"quantities": {"min": 1}}}
        }
    });
    Catalog {
        provider_types: from(json!([{"name": "local", "parameters": {}}])),
        providers: from(json!([{"name": "local", "providertype": "local", "provisioner": {}}])),
        hardware: from(json!([{"name": "small", "providermap": {"local": {"flavor": "1cpu-512m"}}}])),
        images: from(json!([{"name": "debian-12", "providermap": {"local": {"image": "debian-12"}}}])),
        services: from(json!([
            service("haproxy", &["nginx"]),
            service("nginx", &["redis"]),
            service("redis", &[])
        ])),
        templates: from(json!([template])),
        partials: Vec::new(),
    }
}

fn from<T: serde::de::DeserializeOwned>(document: Value) -> T {
    serde_json::from_value(document).unwrap()
}

/// A cluster of three nodes, as a user would ask for it.
fn asked_for() -> World {
    let request: ClusterRequest =
        from(json!({"name": "shop", "clusterTemplate": "web", "numMachines": 3, "initialLeaseDuration": 0}));
    request.check(100).unwrap();
    let asking = Asking {
        account: Account { user_id: "ann".into(), tenant_id: "t1".into() },
        id: ClusterId(42),
        seed: SEED,
        now: MORNING,
        limits: Limits::default(),
        origins: Origins::default(),
    };
    let catalog = web();
    let accepted = request.accept(&catalog, asking).unwrap();
    let nodes = accepted.lay_out(&catalog);
    World::of(create(accepted.order, nodes, MORNING).unwrap())
}

fn matches_file(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "{}: UPDATE_GOLDEN=1 writes it anew; now it is\n{text}", path.display());
}

#[test]
fn the_journal_of_a_create_with_one_machine_made_anew() {
    let mut world = asked_for();
    let second = NodeId::derive(SEED, 1001);
    world.run_in_rounds(|task| {
        i64::from(task.node == second && task.name == TaskName::Confirm && task.attempts.len() == 1)
    });
    assert_eq!(world.cluster.status, ClusterStatus::Active);
    matches_file("create.txt", &lines(&world, 0));
}

#[test]
fn the_journal_of_a_delete() {
    let mut world = asked_for();
    world.run_all();
    let before = world.journal.len();
    world.now = MORNING + 60_000;
    world.delete().unwrap();
    world.run_in_rounds(|_| 0);
    matches_file("delete.txt", &lines(&world, before));
}
