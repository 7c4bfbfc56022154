//! The audit log through crashes.

use serde_json::json;

use crate::lab::Server;

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
