//! A real machine dies, and the cluster is whole again without anybody doing anything.

use std::time::Duration;

use serde_json::{Value, json};

use crate::check;
use crate::lab::wait_for;
use crate::machines::{LIMIT, Machines, nodes_with};

/// Longest time until a machine that died is noticed and its replacement begun.
const NOTICED: Duration = Duration::from_secs(60);

/// The number of the first process of a node's machine as the host sees it: the child of its `systemd-nspawn`.
fn init_of(node: &Value) -> String {
    let machine = node["provisionerResults"]["providerid"].as_str().unwrap();
    let text = |number: &str, file: &str| {
        std::fs::read_to_string(format!("/proc/{number}/{file}")).unwrap_or_default()
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let nspawn = numbers.iter().find(|number| {
        let line = text(number, "cmdline");
        line.starts_with("systemd-nspawn") && line.contains(machine)
    });
    let parent = format!("PPid:\t{}", nspawn.expect("the machine runs"));
    let first = |number: &&String| {
        text(number, "status").lines().any(|line| line == parent) && text(number, "comm").trim() == "systemd"
    };
    numbers.iter().find(first).expect("the machine has a first process").clone()
}

#[test]
fn a_machine_whose_init_is_killed_is_replaced_and_its_cluster_does_what_it_is_for_again() {
    let settings = ["health.heal=auto", "health.interval_seconds=2"];
    let Some(machines) = Machines::start(&["base", "web"], &settings) else { return };
    let admin = machines.server.admin();
    let id = admin.create(&json!({"name": "shop", "clusterTemplate": "web", "numMachines": 4}));
    let cluster = admin.active(&id, LIMIT);
    check::web(&cluster);
    let health = format!("/v2/clusters/{id}/health");
    let all = |word: &str| {
        let found = admin.get(&health).ok();
        let nodes = found["nodes"].as_array().unwrap();
        nodes.iter().all(|node| node["machine"]["health"] == word).then_some(found.clone())
    };
    wait_for("all machines to be probed", NOTICED, || all("healthy"));

    let doomed = nodes_with(&cluster, "nginx")[0].clone();
    let killed = std::process::Command::new("kill").args(["-9", &init_of(&doomed)]).status().unwrap();
    assert!(killed.success());
    let begun = wait_for("a job that heals", NOTICED, || {
        let plans = admin.get(&format!("/v2/clusters/{id}/plans")).ok();
        (plans[0]["action"] == "CLUSTER_HEAL").then(|| plans[0].clone())
    });
    let creates = begun["tasks"].as_array().unwrap().iter().filter(|task| task["taskName"] == "CREATE");
    assert_eq!(
        creates.map(|task| &task["nodeId"]).collect::<Vec<_>>(),
        [&doomed["id"]],
        "only that one is replaced"
    );
    let healed = admin.active(&id, LIMIT);
    // The load balancer sends nothing to a server that came back before it has seen it answer for a while.
    wait_for("all web nodes to answer", NOTICED, || std::panic::catch_unwind(|| check::web(&healed)).ok());
    wait_for("all machines to be well", NOTICED, || all("healthy"));
    assert_eq!(machines.nodes().len(), 4);
    admin.delete_cluster(&id, LIMIT);
    assert_eq!(machines.nodes(), [""; 0]);
}
