//! Who may call what, and what is said to the others: every route once for nobody, a user, a tenant's admin and the superadmin.

use crate::server::Server;
use crate::world::{ADMIN, ANN, SUPERADMIN, with_tenant};

/// Statuses for nobody, a user, the tenant's admin and the superadmin, all with an empty body.
type Row = (&'static str, &'static str, [u16; 4]);

/// The kinds of entities that tenants own.
const KINDS: &[&str] =
    &["providers", "hardwaretypes", "imagetypes", "services", "clustertemplates", "partialtemplates"];

/// Routes of each of the kinds.
const ENTITIES: &[Row] = &[
    ("GET", "/v2/KIND", [401, 200, 200, 200]),
    ("POST", "/v2/KIND", [401, 403, 400, 400]),
    ("GET", "/v2/KIND/none", [401, 404, 404, 404]),
    ("PUT", "/v2/KIND/none", [401, 403, 400, 400]),
    ("DELETE", "/v2/KIND/none", [401, 403, 200, 200]),
    ("GET", "/v2/KIND/none/1", [401, 404, 404, 404]),
    ("GET", "/v2/KIND/none/0", [401, 400, 400, 400]),
    ("DELETE", "/v2/KIND/none/1", [401, 403, 200, 200]),
    ("DELETE", "/v2/KIND/none/zero", [401, 403, 400, 400]),
    ("PATCH", "/v2/KIND", [405; 4]),
    ("POST", "/v2/KIND/none", [405; 4]),
];

/// Routes of resources on both sides of plugins; `none` is no plugin.
const PLUGINS: &[Row] = &[
    ("GET", "/v2/plugins/SIDE", [401, 200, 200, 200]),
    ("GET", "/v2/plugins/SIDE/none", [401, 404, 404, 404]),
    ("DELETE", "/v2/plugins/SIDE/none", [401, 403, 403, 200]),
    ("DELETE", "/v2/plugins/SIDE/none/1", [401, 403, 403, 200]),
    ("PUT", "/v2/plugins/SIDE/none", [405; 4]),
    ("GET", "/v2/plugins/SIDE/none/t", [401, 403, 404, 404]),
    ("GET", "/v2/plugins/SIDE/none/t/n", [401, 403, 404, 404]),
    ("POST", "/v2/plugins/SIDE/none/t/n", [401, 403, 404, 404]),
    ("POST", "/v2/plugins/SIDE/none/t/.n", [401, 403, 400, 400]),
    ("DELETE", "/v2/plugins/SIDE/none/t/n", [401, 403, 404, 404]),
    ("DELETE", "/v2/plugins/SIDE/none/t/n/versions/1", [401, 403, 404, 404]),
    ("DELETE", "/v2/plugins/SIDE/none/t/n/versions/x", [401, 403, 400, 400]),
    ("GET", "/v2/plugins/SIDE/none/t/n/versions/1", [401, 403, 404, 404]),
    ("GET", "/v2/plugins/SIDE/none/t/n/versions/x", [401, 403, 400, 400]),
    ("PUT", "/v2/plugins/SIDE/none/t/n/versions/1", [405; 4]),
    ("POST", "/v2/plugins/SIDE/none/t/n/versions/1/stage", [401, 403, 404, 404]),
    ("POST", "/v2/plugins/SIDE/none/t/n/versions/1/recall", [401, 403, 404, 404]),
];

const OTHERS: &[Row] = &[
    ("GET", "/status", [200; 4]),
    ("GET", "/status/", [200; 4]),
    ("POST", "/status", [405; 4]),
    ("GET", "/v2/nothing", [404; 4]),
    ("POST", "/v2/tasks/take", [404; 4]),
    ("GET", "/v2/audit", [401, 403, 200, 200]),
    ("GET", "/v2/audit?since=soon", [401, 403, 400, 400]),
    ("GET", "/v2/audit/verify", [401, 403, 403, 200]),
    ("GET", "/v2/secrets", [401, 403, 403, 200]),
    ("POST", "/v2/secrets/rotate", [401, 403, 403, 200]),
    ("POST", "/v2/resolve", [401, 400, 400, 400]),
    ("GET", "/v2/export", [401, 200, 200, 200]),
    ("GET", "/v2/export?secrets=true", [401, 403, 200, 200]),
    ("GET", "/v2/providers?secrets=true", [401, 403, 200, 200]),
    ("POST", "/v2/import", [401, 403, 400, 400]),
    ("POST", "/v2/apply", [401, 403, 400, 400]),
    ("POST", "/v2/plugins/sync", [401, 403, 200, 200]),
    ("GET", "/v2/tenants", [401, 403, 403, 200]),
    ("POST", "/v2/tenants", [401, 403, 403, 400]),
    ("GET", "/v2/tenants/none", [401, 403, 403, 404]),
    ("PUT", "/v2/tenants/none", [401, 403, 403, 400]),
    ("DELETE", "/v2/tenants/none", [401, 403, 403, 200]),
    ("DELETE", "/v2/tenants/superadmin", [401, 403, 403, 403]),
    ("GET", "/v2/profile", [401, 404, 404, 404]),
    ("PUT", "/v2/profile", [401, 400, 400, 400]),
    ("DELETE", "/v2/profile", [401, 200, 200, 200]),
    ("GET", "/v2/nodes", [401, 200, 200, 200]),
    ("POST", "/v2/nodes", [401, 400, 400, 400]),
    ("GET", "/v2/nodes/none", [401, 404, 404, 404]),
    ("PUT", "/v2/nodes/none", [401, 400, 400, 400]),
    ("DELETE", "/v2/nodes/none", [401, 204, 204, 204]),
    ("POST", "/v2/getNodeProperties", [401, 400, 400, 400]),
    ("POST", "/v2/getClusterStatuses", [401, 200, 200, 200]),
    ("GET", "/v2/metrics/nodes/usage", [401, 200, 200, 200]),
    ("GET", "/v2/metrics/nodes/usage?tenant=other", [401, 405, 405, 200]),
    ("GET", "/v2/metrics/nodes/usage?start=then", [401, 400, 400, 400]),
    ("GET", "/v2/metrics/nodes/usage?cluster=x", [401, 400, 400, 400]),
    ("GET", "/v2/metrics/nodes/usage?groupby=Hour", [401, 400, 400, 400]),
    ("GET", "/v2/metrics/nodes/usage?timeunit=eons", [401, 400, 400, 400]),
    ("GET", "/v2/metrics/nodes/usage?start=0&end=9000000000000&groupby=hour", [401, 400, 400, 400]),
    ("GET", "/v2/clusters", [401, 200, 200, 200]),
    ("POST", "/v2/clusters", [401, 400, 400, 400]),
];

/// Routes of a cluster that is not there; `x` is no cluster's id.
const CLUSTERS: &[(&str, &str, &str)] = &[
    ("GET", "", ""),
    ("POST", "", r#"{"expireTime": 99}"#),
    ("DELETE", "", ""),
    ("GET", "/status", ""),
    ("GET", "/services", ""),
    ("POST", "/services", r#"{"services": ["web"]}"#),
    ("POST", "/services/start", ""),
    ("POST", "/services/stop", ""),
    ("POST", "/services/restart", "{}"),
    ("POST", "/services/web/start", ""),
    ("POST", "/services/web/stop", "null"),
    ("POST", "/services/web/restart", ""),
    ("GET", "/config", ""),
    ("PUT", "/config", r#"{"config": {}}"#),
    ("GET", "/plans", ""),
    ("GET", "/plans/00000042-001", ""),
    ("GET", "/logs", ""),
    ("GET", "/export?format=hosts", ""),
    ("POST", "/clustertemplate/sync", ""),
    ("POST", "/abort", ""),
    ("POST", "/pause", ""),
    ("POST", "/resume", ""),
    ("POST", "/retry", ""),
];

async fn check(server: &Server, method: &str, path: &str, expected: [u16; 4], faults: &mut Vec<String>) {
    for (who, expected) in ["", ANN, ADMIN, SUPERADMIN].into_iter().zip(expected) {
        let answer = server.ask(who, method, path, "").await;
        if answer.status != expected {
            faults.push(format!("{who:?} {method} {path}: {expected} expected, {answer:?}"));
        }
    }
}

#[tokio::test]
async fn every_route_is_for_those_it_is_for() {
    let server = with_tenant(5, 5).await;
    let mut faults = Vec::new();
    for (rows, word, values) in [
        (OTHERS, "/", &["/"][..]),
        (ENTITIES, "KIND", KINDS),
        (PLUGINS, "SIDE", &["providertypes", "automatortypes"]),
    ] {
        for (method, path, expected) in rows {
            for value in values {
                check(&server, method, &path.replace(word, value), *expected, &mut faults).await;
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test]
async fn a_cluster_that_is_not_there_is_not_found_on_any_route() {
    let server = with_tenant(5, 5).await;
    for (method, path, body) in CLUSTERS {
        for id in ["42", "00000042", "x", "99999999999999999999"] {
            let answer = server.ask(ANN, method, &format!("/v2/clusters/{id}{path}"), *body).await;
            assert_eq!(answer.status, 404, "{method} {id}{path}: {answer:?}");
        }
        let answer = server.ask("", method, &format!("/v2/clusters/42{path}"), *body).await;
        assert_eq!(answer.status, 401, "{method} {path}: {answer:?}");
    }
}

#[tokio::test]
async fn refusals_speak_the_callers_language() {
    let server = with_tenant(5, 5).await;
    let text = server.get(ANN, "/v2/providers/none").await;
    assert_eq!(text.content_type, "text/plain; charset=utf-8");
    text.refused(404, "provider none was not found");
    let json = server.ask_json(ANN, "GET", "/v2/providers/none").await;
    assert_eq!((json.status, &*json.content_type), (404, "application/problem+json"));
    assert_eq!(json.json()["detail"], "provider none was not found");

    let silent = server.get(ANN, "/v2/tenants").await;
    assert_eq!((silent.status, &*silent.text), (403, ""));
    let told = server.ask_json(ANN, "GET", "/v2/tenants").await;
    assert!(told.json()["detail"].as_str().unwrap().contains("superadmin"));
    let foreign = "/v2/metrics/nodes/usage?tenant=other";
    assert_eq!(server.ask_json(ANN, "GET", foreign).await.status, 403);

    let method = server.ask_json(ANN, "PATCH", "/v2/profile").await;
    assert_eq!(method.status, 405);
    assert!(method.json()["remedy"].as_str().unwrap().contains("GET"));
    assert_eq!(server.ask_json("", "GET", "/v2/nothing").await.json()["status"], 404);
    server.get("", "/v2/providers").await.refused(401, "Coopr-UserID");
    server.get("ann@nowhere", "/v2/providers").await.refused(404, "does not exist");
    server.post(ANN, "/v2/providers", &serde_json::json!({})).await.refused(403, "admin");
}

#[tokio::test]
async fn the_ports_have_their_own_routes() {
    let server = with_tenant(5, 5).await;
    for (method, path, status) in [
        ("GET", "/v2/providers", 404),
        ("GET", "/status", 404),
        ("GET", "/v2/plugins/providertypes/shell", 405),
        ("PUT", "/v2/plugins/providertypes/shell", 400),
        ("GET", "/v2/tenants/superadmin/automatortypes/shell/scripts/x/versions/1", 404),
        ("GET", "/v2/tenants/superadmin/automatortypes/shell/scripts/x/versions/one", 400),
    ] {
        let answer = server.ask_inside(method, path, "").await;
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
    }
}
