//! Clusters that nobody works on: asked for, seen by those who may, and what is refused in their states.

use serde_json::{Value, json};

use crate::server::Server;
use crate::world::{ADMIN, ANN, BEN, SUPERADMIN, create, request, with_templates};

/// A request with one more field.
fn with(field: &str, value: Value) -> Value {
    let mut asked = request(1);
    asked[field] = value;
    asked
}

#[tokio::test]
async fn a_request_is_checked_in_order() {
    let server = with_templates().await;
    for (asked, status, words) in [
        (json!({}), 400, "name"),
        (json!({"name": "a"}), 400, "template"),
        (with("numMachines", json!(0)), 400, "numMachines"),
        (with("numMachines", json!(10_001)), 400, "max cluster size"),
        (with("numMachines", json!(5)), 400, "size must be"),
        (with("clusterTemplate", json!("none")), 404, "none"),
        (with("provider", json!("none")), 404, "none"),
        (with("name", json!("no good")), 400, "name"),
        (with("initialLeaseDuration", json!(60_001)), 400, "lease"),
        (with("initialLeaseDuration", json!(0)), 400, "lease"),
        (with("dnsSuffix", json!("a..b")), 400, "dns"),
        (with("config", json!([])), 400, "config"),
        (with("config", json!({"a": "%host.service.%"})), 400, "macro"),
    ] {
        server.post(ANN, "/v2/clusters", &asked).await.refused(status, words);
    }
    assert_eq!(server.get(ANN, "/v2/clusters").await.ok(), json!([]));
    assert_eq!(create(&server, ANN, &request(1)).await, "00000001", "refusals use up no numbers");
}

#[tokio::test]
async fn clusters_are_seen_by_their_owner_and_the_admin() {
    let server = with_templates().await;
    let id = create(&server, ANN, &request(2)).await;
    for (who, status) in [(ANN, 200), (ADMIN, 200), (BEN, 404), (SUPERADMIN, 404)] {
        assert_eq!(server.get(who, &format!("/v2/clusters/{id}")).await.status, status, "{who}");
        let listed = server.get(who, "/v2/clusters").await.ok().as_array().unwrap().len();
        assert_eq!(listed, usize::from(status == 200), "{who}");
        let statuses = server.post(who, "/v2/getClusterStatuses", &json!({})).await.ok();
        assert_eq!(statuses.as_array().unwrap().len(), listed, "{who}");
        let asked = json!({"clusterId": id});
        let properties = server.post(who, "/v2/getNodeProperties", &asked).await.ok();
        assert_eq!(properties.as_object().unwrap().len(), listed * 2, "{who}");
        let nodes = server.get(who, "/v2/nodes").await.ok();
        assert_eq!(nodes.as_array().unwrap().len(), listed * 2, "{who}");
    }
    assert_eq!(
        server.get(ANN, &format!("/v2/clusters/{}", id.trim_start_matches('0'))).await.ok()["id"],
        *id
    );
    let details = server.get(ANN, &format!("/v2/clusters/{id}")).await.ok();
    let node = details["nodes"][0]["id"].as_str().unwrap();
    let shown = server.get(ANN, &format!("/v2/nodes/{node}")).await.ok();
    assert_eq!((&shown["id"], &shown["clusterId"]), (&json!(node), &json!(id)));
    server.get(BEN, &format!("/v2/nodes/{node}")).await.refused(404, "not found");
    for (properties, expected) in
        [(json!(["hostname"]), 1), (json!(["hostname", "none"]), 1), (json!([]), 10)]
    {
        let asked = json!({"clusterId": id, "services": ["web"], "properties": properties});
        let answer = server.post(ANN, "/v2/getNodeProperties", &asked).await.ok();
        assert_eq!(answer[node].as_object().unwrap().len(), expected, "{answer}");
    }
    let asked = json!({"clusterId": id, "services": ["web", "other"]});
    assert_eq!(server.post(ANN, "/v2/getNodeProperties", &asked).await.ok(), json!({}));
    server.post(ANN, "/v2/getNodeProperties", &json!({"clusterId": 1})).await.refused(400, "clusterId");
}

/// What is said to each change of a cluster that is `pending`, or `terminated`.
const CHANGES: &[(&str, &str, &str, u16, u16)] = &[
    ("PUT", "/config", r#"{"config": {}}"#, 409, 409),
    ("PUT", "/config", r#"{"restart": true}"#, 400, 400),
    ("POST", "", r#"{"expireTime": 99999999999999}"#, 400, 400),
    ("POST", "", "{}", 400, 400),
    ("POST", "/services", r#"{"services": ["web"]}"#, 409, 409),
    ("POST", "/services", r#"{"services": []}"#, 400, 400),
    ("POST", "/services", "{}", 400, 400),
    ("POST", "/services/start", "", 409, 409),
    ("POST", "/services/stop", "{}", 409, 409),
    ("POST", "/services/restart", "null", 409, 409),
    ("POST", "/services/restart", "[", 400, 400),
    ("POST", "/services/web/start", "", 409, 409),
    ("POST", "/services/none/start", "", 404, 404),
    ("POST", "/services/start/start", "", 404, 404),
    ("POST", "/clustertemplate/sync", "", 409, 409),
    ("POST", "/pause", "", 200, 200),
    ("POST", "/resume", "", 200, 200),
    ("GET", "/plans/00000001-009", "", 404, 400),
    ("GET", "/plans/00000002-009", "", 400, 404),
    ("GET", "/plans/x", "", 400, 400),
    ("DELETE", "", "", 409, 200),
];

async fn check_changes(server: &Server, id: &str, terminated: bool) {
    for (method, path, body, when_pending, when_terminated) in CHANGES {
        let answer = server.ask(ANN, method, &format!("/v2/clusters/{id}{path}"), *body).await;
        let expected = if terminated { *when_terminated } else { *when_pending };
        assert_eq!(answer.status, expected, "terminated: {terminated}, {method} {path} {body}: {answer:?}");
    }
}

#[tokio::test]
async fn a_cluster_that_is_not_active_refuses_changes() {
    let server = with_templates().await;
    let id = create(&server, ANN, &request(1)).await;
    check_changes(&server, &id, false).await;
    server.post(ANN, &format!("/v2/clusters/{id}/pause"), &json!({})).await.ok();
    let status = server.get(ANN, &format!("/v2/clusters/{id}/status")).await.ok();
    assert_eq!(status["actionstatus"], "paused");
    server.post(ANN, &format!("/v2/clusters/{id}/resume"), &json!({})).await.ok();
    server.post(ANN, &format!("/v2/clusters/{id}/abort"), &json!({})).await.ok();
    let details = server.get(ANN, &format!("/v2/clusters/{id}")).await.ok();
    assert_eq!((&details["status"], &details["message"]), (&json!("terminated"), &json!("Aborted by user.")));

    let mut impossible = request(1);
    impossible["services"] = json!(["web", "unknown"]);
    let id = create(&server, ANN, &impossible).await;
    let details = server.get(ANN, &format!("/v2/clusters/{id}")).await.ok();
    assert_eq!((&details["status"], &details["nodes"]), (&json!("terminated"), &json!([])));
    assert!(details["message"].as_str().unwrap().contains("unknown"));
    check_changes(&server, &id, true).await;
    let listed = |query: &'static str| {
        let server = &server;
        async move { server.get(ANN, &format!("/v2/clusters{query}")).await.ok().as_array().unwrap().len() }
    };
    assert_eq!(listed("?status=TERMINATED,active").await, 2);
    assert_eq!(listed("?status=active").await, 0);
    assert_eq!(listed("?status=bogus").await, 2, "unknown words do not filter");
}

#[tokio::test]
async fn a_template_is_merged_when_a_cluster_is_made_from_it() {
    let server = with_templates().await;
    let child = json!({"name": "child", "extends": {"name": "solo"}, "defaults": {"config": {"n": 4}}});
    server.post(ADMIN, "/v2/clustertemplates", &child).await.ok();
    let mut asked = request(1);
    asked["clusterTemplate"] = "child".into();
    let id = create(&server, ANN, &asked).await;
    let details = server.get(ANN, &format!("/v2/clusters/{id}")).await.ok();
    assert_eq!(details["config"], json!({"color": "blue", "n": 4}));
    assert_eq!(
        (&details["services"], &details["clusterTemplate"]["name"]),
        (&json!(["web"]), &json!("child"))
    );
    server.delete(ADMIN, "/v2/clustertemplates/solo").await.ok();
    server.post(ANN, "/v2/clusters", &asked).await.refused(404, "solo");
}

#[tokio::test]
async fn machine_time_of_no_machines_is_nothing() {
    let server = with_templates().await;
    create(&server, ANN, &request(1)).await;
    let usage = server.get(ANN, "/v2/metrics/nodes/usage?start=100&end=8000&groupby=hour").await.ok();
    let data: Vec<i64> =
        usage["data"].as_array().unwrap().iter().map(|it| it["time"].as_i64().unwrap()).collect();
    assert_eq!((data, &usage["start"], &usage["end"]), (vec![100, 3_600, 7_200], &json!(100), &json!(8000)));
    let all = server.get(SUPERADMIN, "/v2/metrics/nodes/usage?timeunit=DAYS").await.ok();
    assert_eq!(all["data"][0]["value"], 0);
}
