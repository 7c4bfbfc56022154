//! The audit log: who did what, also where it was refused, and never a secret.

use serde_json::{Value, json};

use crate::server::Server;
use crate::world::{ADMIN, ANN, SUPERADMIN, create, describe, request, with_tenant};

/// The entry of a request.
async fn entry(server: &Server, request: &str) -> Value {
    let log = server.get(SUPERADMIN, "/v2/audit?limit=1000").await.ok();
    let entries = log["entries"].as_array().unwrap();
    entries.iter().find(|entry| entry["request"] == request).cloned().unwrap_or_default()
}

fn said(entry: &Value) -> Said<'_> {
    let text = |field: &str| entry[field].as_str().unwrap_or("nothing");
    (text("user"), text("action"), text("object"), text("outcome"))
}

/// User, action, object and outcome of an entry.
type Said<'a> = (&'a str, &'a str, &'a str, &'a str);

/// Who asks for what, and what is on record of it then.
const REQUESTS: [(&str, &str, &str, &str, Said<'_>); 8] = [
    (
        ADMIN,
        "POST",
        "/v2/providers",
        r#"{"name": "lab2", "providertype": "cloud", "provisioner": {"password": "pa55word"}}"#,
        ("admin", "POST /v2/providers", "/v2/providers/lab2", "done"),
    ),
    (ANN, "DELETE", LAB, "", ("ann", "DELETE /v2/providers/{name}", LAB, "refused")),
    ("", "DELETE", LAB, "", ("", "DELETE /v2/providers/{name}", LAB, "refused")),
    ("eve@nowhere", "POST", "/v2/apply", "", ("", "POST /v2/apply", "/v2/apply", "refused")),
    (ANN, "POST", "/v2/nothing?password=pa55word", "", ("ann", "POST (no route)", "/v2/nothing", "refused")),
    (ANN, "PATCH", "/v2/providers", "", ("ann", "PATCH /v2/providers", "/v2/providers", "refused")),
    (ADMIN, "GET", "/v2/export?secrets=true", "", ("admin", "GET /v2/export", "/v2/export", "done")),
    (
        ANN,
        "GET",
        "/v2/providers?secrets=tru%65",
        "",
        ("ann", "GET /v2/providers", "/v2/providers", "refused"),
    ),
];
const LAB: &str = "/v2/providers/lab";

#[tokio::test]
async fn every_change_is_on_record_also_where_it_is_refused() {
    let server = with_tenant(5, 50).await;
    describe(&server, &json!([])).await;
    for (who, method, path, body, expected) in REQUESTS {
        let answer = server.ask(who, method, path, body).await;
        let found = entry(&server, &answer.request).await;
        assert_eq!(said(&found), expected, "{who} {method} {path}: {found}");
        assert_eq!(
            (&found["status"], &found["peer"]),
            (&json!(answer.status), &json!("127.0.0.1")),
            "{path}"
        );
        assert_eq!((&found["port"], &found["forwarded"]), (&json!("user"), &json!("")));
    }
    let long = server.ask(ANN, "PUT", &format!("/v2/{}", "x".repeat(2_000)), "").await;
    assert_eq!(entry(&server, &long.request).await["object"].as_str().unwrap().len(), 512);
    let id = create(&server, ANN, &request(1)).await;
    let all = server.get(SUPERADMIN, "/v2/audit?limit=1000").await;
    assert!(!all.text.contains("pa55word"), "no bodies, no queries");
    assert!(all.text.contains(&format!("/v2/clusters/{id}")), "what was made is named");
    let check = server.get(SUPERADMIN, "/v2/audit/verify").await.ok();
    assert_eq!((&check["intact"], &check["broken"]), (&json!(true), &Value::Null), "{check}");
    assert_eq!(check["entries"], check["head"]["sequence"]);
}

#[tokio::test]
async fn what_is_done_for_a_caller_who_hangs_up_is_on_record() {
    let server = with_tenant(5, 50).await;
    // So many that the caller is gone before they are stored.
    let services =
        (0..3_000).map(|n| json!({"kind": "service", "name": format!("s{n}")})).collect::<Vec<_>>();
    server.send_and_hang_up(ADMIN, "/v2/apply", &Value::from(services).to_string()).await;
    for _ in 0..400 {
        let log = server.get(SUPERADMIN, "/v2/audit?user=admin&object=apply&outcome=done").await.ok();
        if log["entries"].as_array().unwrap().len() == 1 {
            assert!(server.get(ADMIN, "/v2/services/s2999").await.status == 200);
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    panic!("it is not on record");
}

#[tokio::test]
async fn what_is_said_all_the_time_and_what_changes_nothing_is_not_on_record() {
    let server = with_tenant(5, 50).await;
    let inside = server.ask_inside("PUT", "/v2/provisioners/p1", "{}").await;
    assert_eq!(entry(&server, &inside.request).await["port"], "tasks");
    for path in ["/v2/tasks/take", "/v2/tasks/finish", "/v2/provisioners/p/heartbeat"] {
        let answer = server.ask_inside("POST", path, "{}").await;
        assert_eq!(entry(&server, &answer.request).await, Value::Null, "{path} is said all the time");
    }
    let read = server.get(ADMIN, "/v2/providers").await;
    assert_eq!(entry(&server, &read.request).await, Value::Null, "it changes and shows nothing");
}

#[tokio::test]
async fn admins_see_their_tenants_entries_page_by_page() {
    let server = with_tenant(5, 50).await;
    describe(&server, &json!([])).await;
    create(&server, ANN, &request(1)).await;
    let tenants = |log: &Value| -> Vec<String> {
        let mut all: Vec<String> = log["entries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["tenant"].as_str().unwrap().to_owned())
            .collect();
        all.sort();
        all.dedup();
        all
    };
    let own = server.get(ADMIN, "/v2/audit?tenant=superadmin").await.ok();
    assert!(tenants(&own).len() == 1 && tenants(&own)[0] != "superadmin", "{own}");
    assert!(tenants(&server.get(SUPERADMIN, "/v2/audit").await.ok()).contains(&"superadmin".to_owned()));
    let anns = server
        .get(ADMIN, "/v2/audit?user=ann&action=post&object=clusters&outcome=done&since=2020-01-01T00:00:00Z")
        .await;
    assert_eq!(anns.ok()["entries"].as_array().unwrap().len(), 1);
    assert_eq!(server.get(ADMIN, "/v2/audit?until=1000").await.ok()["entries"], json!([]));

    let (mut cursor, mut seen) = (String::new(), Vec::new());
    loop {
        let page = server.get(ADMIN, &format!("/v2/audit?limit=2{cursor}")).await.ok();
        seen.extend(page["entries"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_u64() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(&seen, own["entries"].as_array().unwrap());
}
