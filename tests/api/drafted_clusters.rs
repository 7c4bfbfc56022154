//! Clusters that are thought up before they are created.

use std::time::Duration;

use serde_json::{Value, json};

use crate::catalog::catalog;
use crate::lab::{Client, Server, apply};

const LIMIT: Duration = Duration::from_secs(60);

fn farm(machines: u32) -> Value {
    json!({"name": "farm", "clusterTemplate": "farm", "numMachines": machines, "title": "for the fair"})
}

fn clusters(admin: &Client) -> usize {
    admin.get("/v2/clusters").ok().as_array().unwrap().len()
}

#[test]
fn a_cluster_is_drafted_edited_and_created_once() {
    let machines = tempfile::tempdir().unwrap();
    let server = Server::start(&[format!("simulation.dir={}", machines.path().display())]);
    let admin = server.admin();
    apply(&admin, &catalog());
    let draft = admin.post("/v2/drafts", &farm(3)).ok();
    assert_eq!(draft["preview"]["nodes"].as_array().unwrap().len(), 3, "{draft:#}");
    let at = format!("/v2/drafts/{}", draft["id"].as_str().unwrap());
    assert_eq!(clusters(&admin), 0, "nothing is created by a draft");

    let edited = admin.put(&at, &farm(4)).ok();
    assert_eq!((&edited["edition"], &edited["request"]["numMachines"]), (&json!(2), &json!(4)));
    let token = std::fs::read_to_string(server.data_dir().join("admin.token")).unwrap();
    let bearer = format!("Bearer {}", token.trim());
    let first =
        Client::with_headers(&server.base(), &[("Authorization", &bearer), ("If-Match", "\"1-seen\"")]);
    let late = first.put(&at, &farm(5));
    assert_eq!(late.status, 412, "{}", late.body);
    let listed = admin.get("/v2/drafts").ok();
    assert_eq!((&listed[0]["id"], &listed[0]["doneBy"]), (&draft["id"], &Value::Null));

    // A request with a fault leaves the draft as it is.
    let wrong = admin.post(&format!("{at}/commit"), &json!({"providerFields": []}));
    assert_eq!(wrong.status, 400, "{}", wrong.body);
    let made = admin.post(&format!("{at}/commit"), &json!({})).ok();
    assert_eq!(made["id"], draft["id"], "it has the id that it was promised");
    let id = made["id"].as_str().unwrap();
    assert_eq!(admin.active(id, LIMIT)["nodes"].as_array().unwrap().len(), 4);
    for again in
        [admin.post(&format!("{at}/commit"), &json!({})), admin.delete(&at), admin.put(&at, &farm(2))]
    {
        assert_eq!(again.status, 409, "{}", again.body);
    }
    assert_eq!(clusters(&admin), 1);
    assert_ne!(admin.create(&json!({"name": "other", "clusterTemplate": "farm", "numMachines": 2})), id);
}

#[test]
fn what_cannot_be_created_now_is_kept_and_what_is_wrong_is_not() {
    let machines = tempfile::tempdir().unwrap();
    let server = Server::start(&[
        format!("simulation.dir={}", machines.path().display()),
        "limits.max_cluster_size=20".to_owned(),
    ]);
    let admin = server.admin();
    apply(&admin, &catalog());
    let mut lonely = farm(3);
    lonely["services"] = json!(["web"]);
    let kept = admin.post("/v2/drafts", &lonely).ok();
    assert!(kept["refusal"].as_str().unwrap().contains("web"), "{kept:#}");
    let at = format!("/v2/drafts/{}", kept["id"].as_str().unwrap());
    assert_eq!(admin.post(&format!("{at}/commit"), &json!({})).status, 422);
    assert_eq!(admin.get(&at).ok()["doneBy"], Value::Null, "it may be committed later");
    admin.put(&at, &farm(2)).ok();
    let quota = json!({"tenant": {"name": "superadmin", "workers": 4, "maxNodes": 1}});
    admin.put("/v2/tenants/superadmin", &quota).ok();
    assert_eq!(admin.post(&format!("{at}/commit"), &json!({})).status, 409, "it is above the quota");
    admin.delete(&at).ok();
    assert_eq!(admin.get(&at).status, 404);

    let cases = [
        (json!({"clusterTemplate": "farm", "numMachines": 3}), 400, "name"),
        (json!({"name": "x", "clusterTemplate": "none", "numMachines": 3}), 404, "none"),
        (json!({"name": "x", "clusterTemplate": "farm", "numMachines": "many"}), 400, "numMachines"),
        (json!({"name": "x", "clusterTemplate": "farm", "numMachines": 99}), 400, "99"),
        (json!({"name": "x", "clusterTemplate": "farm", "numMachines": 12}), 400, "2 to 9"),
        (
            json!({"name": "x", "clusterTemplate": "farm", "numMachines": 3, "title": "two\nlines"}),
            400,
            "title",
        ),
    ];
    for (body, status, word) in cases {
        let answer = admin.post("/v2/drafts", &body);
        assert_eq!(answer.status, status, "{body}: {}", answer.body);
        assert!(answer.body["detail"].as_str().unwrap().contains(word), "{}", answer.body);
    }
    assert_eq!(admin.get("/v2/drafts").ok(), json!([]));
    assert_eq!(admin.get("/v2/drafts/17").status, 404);
}
