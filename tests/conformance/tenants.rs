//! Tenants: what they begin with, and what goes with them.

use serde_json::{Value, json};

use crate::server::Server;
use crate::world::{ADMIN, ANN, SUPERADMIN, create, describe, request, with_templates, with_tenant};

#[tokio::test]
async fn a_specification_says_what_was_said() {
    let server = Server::start();
    let tenants = "/v2/tenants";
    let made = json!({"tenant": {"name": "a", "description": "A", "maxClusters": "5"}, "bootstrap": "false"});
    server.post(SUPERADMIN, tenants, &made).await.ok();
    let expected =
        json!({"name": "a", "description": "A", "workers": 0, "maxClusters": 5, "maxNodes": 2_147_483_647});
    assert_eq!(server.get(SUPERADMIN, "/v2/tenants/a").await.ok(), expected);
    server.post(SUPERADMIN, tenants, &made).await.refused(409, "already exists");
    server.put(SUPERADMIN, "/v2/tenants/b", &made).await.refused(400, "mismatch");
    server.put(SUPERADMIN, "/v2/tenants/b", &json!({"tenant": {"name": "b"}})).await.ok();
    let all = server.get(SUPERADMIN, tenants).await.ok();
    let names: Vec<_> = all.as_array().unwrap().iter().map(|tenant| tenant["name"].clone()).collect();
    assert_eq!(names, ["a", "b", "superadmin"]);
    for (body, words) in [
        (json!({}), "tenant"),
        (json!({"tenant": {}}), "name"),
        (json!({"tenant": {"name": "no good"}}), "name"),
        (json!({"tenant": {"name": "c", "workers": -1}}), "workers"),
        (json!({"tenant": {"name": "c", "maxNodes": "many"}}), "maxNodes"),
    ] {
        server.post(SUPERADMIN, tenants, &body).await.refused(400, words);
    }
    let greedy = json!({"tenant": {"name": "c", "workers": 1}});
    server.post(SUPERADMIN, tenants, &greedy).await.refused(409, "capacity");
    server.put(SUPERADMIN, "/v2/tenants/c", &greedy).await.refused(409, "capacity");
}

#[tokio::test]
async fn a_tenant_may_begin_with_what_the_superadmin_has() {
    let server = Server::start();
    let partial = json!({"name": "p", "immutable": false});
    server.post(SUPERADMIN, "/v2/partialtemplates", &partial).await.ok();
    server.put(SUPERADMIN, "/v2/partialtemplates/p", &partial).await.ok();
    let scripts = "/v2/plugins/automatortypes/shell/scripts";
    server.ask(SUPERADMIN, "POST", &format!("{scripts}/web.sh"), "echo 1").await.ok();
    server.ask(SUPERADMIN, "POST", &format!("{scripts}/web.sh"), "echo 2").await.ok();
    server.post(SUPERADMIN, &format!("{scripts}/web.sh/versions/2/stage"), &Value::Null).await.ok();

    server
        .post(SUPERADMIN, "/v2/tenants", &json!({"tenant": {"name": "dept"}, "bootstrap": true}))
        .await
        .ok();
    assert_eq!(server.get(ANN, "/v2/partialtemplates/p").await.ok()["version"], 1);
    let copied = server.get(ADMIN, &format!("{scripts}/web.sh")).await.ok();
    let shown: Vec<_> =
        copied.as_array().unwrap().iter().map(|v| (v["version"].clone(), v["status"].clone())).collect();
    assert_eq!(
        shown,
        [(json!(1), json!("inactive")), (json!(2), json!("active"))],
        "synced for the new tenant"
    );
    let own = server.get(SUPERADMIN, &format!("{scripts}/web.sh?status=staged")).await.ok();
    assert_eq!(own.as_array().unwrap().len(), 1, "and not for the old one");
    let next = server.ask(ADMIN, "POST", &format!("{scripts}/web.sh"), "echo 3").await.ok();
    assert_eq!(next["version"], 3);

    describe(&server, &json!([])).await;
    let id = create(&server, ANN, &request(1)).await;
    let tenant = server.get(ANN, &format!("/v2/clusters/{id}")).await.ok()["account"]["tenantId"].clone();
    let path =
        format!("/v2/tenants/{}/automatortypes/shell/scripts/web.sh/versions/2", tenant.as_str().unwrap());
    assert_eq!(server.ask_inside("GET", &path, "").await.text, "echo 2", "the bytes are there");
}

#[tokio::test]
async fn a_tenant_goes_with_all_it_has_but_not_with_clusters() {
    let server = with_templates().await;
    let id = create(&server, ANN, &request(1)).await;
    server.put(ANN, "/v2/profile", &json!({"a": 1})).await.ok();
    server.delete(SUPERADMIN, "/v2/tenants/dept").await.refused(409, "cluster");
    server.post(ANN, &format!("/v2/clusters/{id}/abort"), &json!({})).await.ok();
    server.delete(SUPERADMIN, "/v2/tenants/dept").await.ok();
    server.get(ANN, "/v2/providers").await.refused(404, "does not exist");
    server.delete(SUPERADMIN, "/v2/tenants/dept").await.ok();
    server.put(SUPERADMIN, "/v2/tenants/dept", &json!({"tenant": {"name": "dept"}})).await.ok();
    assert_eq!(server.get(ANN, "/v2/providers").await.ok(), json!([]));
    assert_eq!(
        server.get(ANN, "/v2/clusters").await.ok(),
        json!([]),
        "a new tenant of the name is another one"
    );
    assert_eq!(server.get(ANN, "/v2/profile").await.status, 404);
}

#[tokio::test]
async fn profiles_are_each_users_own() {
    let server = with_tenant(1, 1).await;
    let profile = json!({"mail": "ann@example.com", "n": 5, "deep": {"list": [1, null]}});
    server.put(ANN, "/v2/profile", &profile).await.ok();
    assert_eq!(server.get(ANN, "/v2/profile").await.ok(), profile);
    assert_eq!(server.get(ADMIN, "/v2/profile").await.status, 404);
    server.put(ANN, "/v2/profile", &json!({})).await.ok();
    assert_eq!(server.get(ANN, "/v2/profile").await.ok(), json!({}));
    server.delete(ANN, "/v2/profile").await.ok();
    let none = server.get(ANN, "/v2/profile").await;
    assert_eq!((none.status, &*none.text), (404, ""));
}
