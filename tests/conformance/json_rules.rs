//! How leniently JSON is read, and how it is written.

use serde_json::{Value, json};

use crate::world::{ADMIN, ANN, create, request, with_templates, with_tenant};

#[tokio::test]
async fn what_old_clients_write_is_understood() {
    let server = with_tenant(5, 5).await;
    for (name, body) in [
        ("single", "{'name': 'single', 'providertype': 'x'}"),
        ("bare", "{name: \"bare\", providertype: 'x', // why\n}"),
        ("typed", r#"{"name": "typed", "providertype": "x", "label": 7, "surplus": [1], "icon": null}"#),
        ("ümlaut", r#"{"name": "umlaut", "providertype": "x", "description": "ümlaut <&'>"}"#),
    ] {
        assert_eq!(server.ask(ADMIN, "POST", "/v2/providers", body).await.status, 200, "{name}");
    }
    let typed = server.get(ANN, "/v2/providers/typed").await.ok();
    assert_eq!(
        typed,
        json!({"name": "typed", "label": "7", "version": 1, "providertype": "x", "provisioner": {}})
    );
    assert_eq!(server.get(ANN, "/v2/providers/umlaut/").await.ok()["description"], "ümlaut <&'>");
}

#[tokio::test]
async fn what_is_no_json_is_refused_with_its_place() {
    let server = with_tenant(5, 5).await;
    for (body, words) in [
        ("", "empty"),
        ("null", "empty"),
        (" \n ", "empty"),
        ("{\"name\": \"a\",\n \"x\" 5}", "line 2"),
        ("[1, 2", "line 1"),
        ("{} {}", "line 1"),
        ("[]", ""),
        ("5", "invalid input"),
    ] {
        for (method, path) in [
            ("POST", "/v2/providers"),
            ("PUT", "/v2/providers/a"),
            ("POST", "/v2/clusters"),
            ("POST", "/v2/import"),
            ("POST", "/v2/resolve"),
            ("PUT", "/v2/profile"),
            ("POST", "/v2/nodes"),
            ("POST", "/v2/getNodeProperties"),
        ] {
            server.ask(ADMIN, method, path, body).await.refused(400, words);
        }
    }
    let deep = "[".repeat(1_000_000);
    assert_eq!(server.ask(ADMIN, "POST", "/v2/providers", deep).await.status, 400);
    assert_eq!(server.ask(ADMIN, "POST", "/v2/providers", vec![b'{', 0xff, b'}']).await.status, 400);
    let huge = vec![b' '; 17 << 20];
    assert_eq!(server.ask(ADMIN, "POST", "/v2/providers", huge).await.status, 413);
    assert_eq!(server.get(ADMIN, "/v2/providers").await.ok(), json!([]));
}

#[tokio::test]
async fn numbers_and_truths_may_be_text() {
    let server = with_templates().await;
    let mut asked = request(1);
    asked["numMachines"] = "2".into();
    asked["initialLeaseDuration"] = "1000".into();
    let id = create(&server, ANN, &asked).await;
    let details = server.get(ANN, &format!("/v2/clusters/{id}")).await.ok();
    assert_eq!(details["nodes"].as_array().unwrap().len(), 2);
    let life = details["expireTime"].as_i64().unwrap() - details["createTime"].as_i64().unwrap();
    assert_eq!(life, 1_000);
    assert_eq!(details["config"], json!({"color": "blue", "n": 3}));
    assert_eq!(details["description"], "");
    assert_eq!(details.get("message"), None);
    let config = json!({"config": {}, "restart": "false"});
    server.put(ANN, &format!("/v2/clusters/{id}/config"), &config).await.refused(409, "pending");
    let words: Vec<Value> = vec!["pending".into(), "cluster_create".into(), "running".into()];
    let status = server.get(ANN, &format!("/v2/clusters/{id}/status")).await.ok();
    assert_eq!(
        [&status["status"], &status["action"], &status["actionstatus"]],
        [&words[0], &words[1], &words[2]]
    );
    let plans = server.get(ANN, &format!("/v2/clusters/{id}/plans")).await.ok();
    assert_eq!(plans[0]["action"], "CLUSTER_CREATE");
}
