//! Long lists in parts.

use serde_json::{Value, json};

use crate::caller::{Caller, Told};
use crate::lab::{Server, apply};

/// Where the next part is.
fn next(told: &Told) -> Option<String> {
    let link = told.header("link");
    link.strip_prefix('<')?.strip_suffix(">; rel=\"next\"").map(str::to_owned)
}

/// All parts from a path on, with what is done between them.
fn parts(admin: &Caller, path: &str, mut between: impl FnMut()) -> Vec<Vec<Value>> {
    let mut path = Some(path.to_owned());
    let mut parts = Vec::new();
    while let Some(at) = path {
        let told = admin.get(&at).is(200);
        let body = told.json();
        parts.push(body.as_array().or_else(|| body["lines"].as_array()).unwrap().clone());
        path = next(&told);
        between();
        assert!(parts.len() < 100, "it does not end");
    }
    parts
}

fn names(parts: &[Vec<Value>], key: &str) -> Vec<String> {
    parts.iter().flatten().map(|item| item[key].as_str().unwrap().to_owned()).collect()
}

#[test]
fn lists_come_in_parts_that_neither_repeat_nor_hide_anything() {
    let server = Server::start(&[]);
    let admin = Caller::admin(&server);
    let hardware = |name: String| {
        admin.post("/v2/hardwaretypes", &[], &json!({"name": name, "providermap": {}})).is(200);
    };
    (0..7).for_each(|n| hardware(format!("h{n}")));
    (0..5).for_each(|n| {
        admin.post("/v2/nodes", &[], &json!({"id": format!("n{n}"), "services": []})).is(201);
    });
    let whole = admin.get("/v2/hardwaretypes").is(200);
    assert_eq!((whole.json().as_array().unwrap().len(), whole.header("link")), (7, ""));

    let mut inserted = 0;
    let found = parts(&admin, "/v2/hardwaretypes?limit=3", || {
        // Before the place that was reached.
        hardware(format!("a{inserted}"));
        inserted += 1;
    });
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 1]);
    assert_eq!(names(&found, "name"), ["h0", "h1", "h2", "h3", "h4", "h5", "h6"]);
    let found = parts(&admin, "/v2/nodes?limit=2", || ());
    assert_eq!(names(&found, "id"), ["n0", "n1", "n2", "n3", "n4"]);
    // A list that just fits has no next part.
    assert_eq!(parts(&admin, "/v2/nodes?limit=5", || ()).len(), 1);
}

#[test]
fn clusters_nodes_and_lines_come_in_parts_with_what_else_was_asked() {
    let world = tempfile::tempdir().unwrap();
    let server = Server::start(&[format!("simulation.dir={}", world.path().display())]);
    let client = server.admin();
    apply(&client, &crate::keys::catalog());
    let admin = Caller::admin(&server);
    let create = |name: &str| {
        let id = client.create(&crate::keys::request(name));
        client.active(&id, std::time::Duration::from_secs(60));
        id
    };
    let ids: Vec<String> = (0..5).map(|n| create(&format!("c{n}"))).collect();
    let mut more = 0;
    let found = parts(&admin, "/v2/clusters?status=active&limit=2", || {
        client.create(&crate::keys::request(&format!("more{more}")));
        more += 1;
    });
    let expected: Vec<String> = ids.iter().rev().cloned().collect();
    assert_eq!(names(&found, "id"), expected, "newest first, and the new ones are before");
    let whole = admin.get("/v2/nodes").json().as_array().unwrap().clone();
    let found = parts(&admin, "/v2/nodes?limit=3", || ());
    let ids_of = |nodes: &[Value]| nodes.iter().map(|node| node["id"].to_string()).collect::<Vec<_>>();
    assert_eq!(ids_of(&found.concat()), ids_of(&whole));

    let logs = format!("/v2/clusters/{}/logs", ids[0]);
    let whole = admin.get(&logs).json()["lines"].as_array().unwrap().clone();
    let found = parts(&admin, &format!("{logs}?limit=2"), || ());
    // Parts begin with the latest lines; in each they are in order.
    let again: Vec<Value> = found.into_iter().rev().flatten().collect();
    assert_eq!(again, whole);
}

#[test]
fn what_is_no_limit_or_no_cursor_is_named() {
    let server = Server::start(&[]);
    let admin = Caller::admin(&server);
    admin.post("/v2/nodes", &[], &json!({"id": "a", "services": []})).is(201);
    admin.post("/v2/nodes", &[], &json!({"id": "b", "services": []})).is(201);
    let other = next(&admin.get("/v2/nodes?limit=1")).unwrap();
    let cursor = other.rsplit_once("cursor=").unwrap().1;
    for list in ["/v2/clusters", "/v2/hardwaretypes"] {
        admin.get(&format!("{list}?limit=0")).refused(400, "limit", "1 to 1000");
        admin.get(&format!("{list}?limit=many")).refused(400, "limit", "1 to 1000");
        admin.get(&format!("{list}?cursor=nonsense")).refused(400, "cursor", "Link");
        admin.get(&format!("{list}?cursor={cursor}")).refused(400, "cursor", "Link");
    }
}
