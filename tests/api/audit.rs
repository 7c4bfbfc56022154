//! The audit log through crashes.

use std::time::Duration;

use serde_json::json;

use crate::catalog::catalog;
use crate::lab::{Server, apply};

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn what_is_only_shown_leaves_no_entry() {
    let machines = tempfile::tempdir().unwrap();
    let server = Server::start(&[format!("simulation.dir={}", machines.path().display())]);
    let admin = server.admin();
    apply(&admin, &catalog());
    let request = json!({"name": "farm", "clusterTemplate": "farm", "numMachines": 3});
    let id = admin.create(&request);
    admin.active(&id, LIMIT);
    let entries = || {
        let log = admin.get("/v2/audit").ok();
        let entries = log["entries"].as_array().unwrap().iter();
        entries.map(|entry| format!("{} {}", entry["action"], entry["outcome"])).collect::<Vec<_>>()
    };
    let before = entries();
    admin.post("/v2/clusters?dryRun=true", &request).ok();
    admin.post(&format!("/v2/clusters/{id}/services/restart?dryRun=true"), &json!({})).ok();
    admin.post("/v2/apply?dryRun=true", &json!([{"kind": "service", "name": "new"}])).ok();
    admin.delete(&format!("/v2/clusters/{id}?dryRun=true")).ok();
    assert_eq!(entries(), before);
    admin.post("/v2/clusters?dryRun=true", &json!({"name": "farm", "clusterTemplate": "none"}));
    let saved = format!("/v2/clusters/{id}/services/restart?dryRun=true&save=true");
    admin.post(&saved, &json!({})).ok();
    let after = entries();
    assert_eq!(after.len(), before.len() + 2, "what is refused, and what is kept: {after:?}");
}

#[test]
fn what_was_acknowledged_is_on_record_after_a_kill() {
    let mut server = Server::start(&[]);
    let admin = server.admin();
    for round in 1..=8 {
        let provider = json!({"name": "p", "providertype": "local", "provisioner": {"round": round}});
        admin.put("/v2/providers/p", &provider).ok();
        server.kill();
        server.run();
        let log = admin.get("/v2/audit?object=providers&outcome=done").ok();
        assert_eq!(log["entries"].as_array().unwrap().len(), round, "{log}");
        let newest = &log["entries"][0];
        let credential = newest["credential"].as_str().unwrap();
        assert!(credential.starts_with("token ") && credential.len() > 30, "its id: {credential}");
        assert_eq!((&newest["user"], &newest["tenant"]), (&json!("admin"), &json!("superadmin")));
    }
    let check = admin.get("/v2/audit/verify").ok();
    assert_eq!((&check["intact"], &check["entries"]), (&json!(true), &json!(8)), "{check}");
}
