//! Plugin types and plugin resources.

use serde_json::{Value, json};

use crate::server::Server;
use crate::world::{ADMIN, ANN, SUPERADMIN, provider_type, with_tenant};

#[tokio::test]
async fn types_are_told_inside_and_removed_by_the_superadmin() {
    let server = with_tenant(1, 1).await;
    let told = provider_type(&json!([["keyname"]]));
    let path = "/v2/plugins/providertypes/cloud";
    let put = |body: Value| server.ask_inside("PUT", path, body.to_string());
    assert_eq!(put(told.clone()).await.status, 200);
    assert_eq!(put(told.clone()).await.status, 200);
    let shown = server.get(ANN, path).await.ok();
    assert_eq!(shown["version"], 1, "telling the same again makes no version");
    assert_eq!(shown["parameters"]["user"]["required"], json!([["keyname"]]));
    assert!(server.get(ANN, "/v2/plugins/providertypes").await.ok().as_array().unwrap().contains(&shown));
    for (change, value, words) in [
        ("/name", json!("other"), "mismatch"),
        ("/parameters/user/required", json!([["nothing"]]), "nothing"),
        ("/parameters/user/fields/keyname/label", Value::Null, "label"),
        ("/resourceTypes/keys/format", json!("tar"), "format"),
        ("/resourceTypes/keys/permissions", json!("rwx"), "permissions"),
    ] {
        let mut bad = told.clone();
        *bad.pointer_mut(change).unwrap() = value;
        put(bad).await.refused(400, words);
    }
    server.delete(SUPERADMIN, &format!("{path}/2")).await.ok();
    assert_eq!(server.get(ANN, path).await.status, 200);
    server.delete(SUPERADMIN, &format!("{path}/1")).await.ok();
    server.get(ANN, path).await.refused(404, "not found");
}

const SCRIPTS: &str = "/v2/plugins/automatortypes/shell/scripts";

async fn versions(server: &Server, query: &str) -> Vec<(i64, String)> {
    let all = server.get(ADMIN, &format!("{SCRIPTS}/a.sh{query}")).await.ok();
    let one = |v: &Value| (v["version"].as_i64().unwrap(), v["status"].as_str().unwrap().to_owned());
    all.as_array().unwrap().iter().map(one).collect()
}

#[tokio::test]
async fn a_resource_is_published_in_two_steps() {
    let server = with_tenant(1, 1).await;
    let one = format!("{SCRIPTS}/a.sh");
    for version in 1..=2 {
        let stored = server.ask(ADMIN, "POST", &one, format!("echo {version}")).await.ok();
        assert_eq!((&stored["version"], &stored["status"]), (&json!(version), &json!("inactive")));
    }
    let turn = |version: u32, word: &str| {
        let path = format!("{one}/versions/{version}/{word}");
        let server = &server;
        async move { server.post(ADMIN, &path, &Value::Null).await.ok() }
    };
    let sync = || server.post(ADMIN, "/v2/plugins/sync", &Value::Null);
    turn(1, "stage").await;
    sync().await.ok();
    turn(2, "stage").await;
    assert_eq!(versions(&server, "").await, [(1, "recalled".to_owned()), (2, "staged".to_owned())]);
    assert_eq!(versions(&server, "?status=STAGED").await, [(2, "staged".to_owned())]);
    for version in [1, 2] {
        server.delete(ADMIN, &format!("{one}/versions/{version}")).await.refused(409, "cannot be deleted");
    }
    server.delete(ADMIN, &one).await.refused(409, "cannot be deleted");
    turn(2, "recall").await;
    sync().await.ok();
    assert!(versions(&server, "").await.iter().all(|(_, status)| status == "inactive"));
    server.delete(ADMIN, &format!("{one}/versions/2")).await.ok();
    server.delete(ADMIN, &format!("{one}/versions/2")).await.ok();
    server.delete(ADMIN, &one).await.ok();
    assert_eq!(server.get(ADMIN, SCRIPTS).await.ok(), json!({}));
    assert_eq!(server.ask(ADMIN, "POST", &one, "again").await.ok()["version"], 3);
    server.get(ADMIN, &format!("{SCRIPTS}?status=live")).await.refused(400, "status");
    server.get(ADMIN, "/v2/plugins/automatortypes/shell/none").await.refused(404, "not found");
}

#[tokio::test]
async fn bytes_arrive_and_leave_as_they_are() {
    let server = Server::start();
    let bytes: Vec<u8> = (0..3_000_000_u32).flat_map(|n| [b'a' + (n % 26) as u8]).collect();
    let one = format!("{SCRIPTS}/big.sh");
    let stored = server.ask(SUPERADMIN, "POST", &one, bytes.clone()).await.ok();
    assert_eq!(stored["size"], 3_000_000);
    let inside = "/v2/tenants/superadmin/automatortypes/shell/scripts/big.sh/versions";
    let answer = server.ask_inside("GET", &format!("{inside}/1"), "").await;
    assert!(answer.status == 200 && answer.text.as_bytes() == bytes, "{} bytes", answer.text.len());
    server.ask_inside("GET", &format!("{inside}/2"), "").await.refused(404, "not found");
    let kept = server.data().join("resources/superadmin/automatortypes/shell/scripts/big.sh/1");
    std::fs::write(kept, &bytes[1..]).unwrap();
    let harmed = server.ask_inside("GET", &format!("{inside}/1"), "").await;
    harmed.refused(500, "version 1 of resource shell/scripts/big.sh came to harm");
    let empty = server.ask(SUPERADMIN, "POST", &format!("{SCRIPTS}/empty"), "").await.ok();
    assert_eq!(empty["size"], 0);
    let drafts: Vec<_> = std::fs::read_dir(server.data().join("resources/.drafts")).unwrap().collect();
    assert!(drafts.is_empty(), "nothing is left of what came in");
}
