//! Every route for every role: who is let in is what `rules.txt` says, which a person has looked at.

use std::path::Path;

use serde_json::{Value, json};

use crate::lab::Client;
use crate::world::World;

const RULES: &str = "tests/access/rules.txt";
const PORT: &str = "/tasks-port";

/// All routes of a port, as the server describes them, with `none` for what varies.
fn routes(description: &Value, tasks: bool) -> Vec<(String, String)> {
    let mut routes = Vec::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        if path.starts_with(PORT) != tasks {
            continue;
        }
        for method in methods.as_object().unwrap().keys() {
            routes.push((method.to_uppercase(), path.clone()));
        }
    }
    routes
}

/// With something in each place that varies.
fn concrete(path: &str) -> String {
    let parts = path.trim_start_matches(PORT).split('/');
    let parts: Vec<&str> = parts.map(|part| if part.starts_with('{') { "none" } else { part }).collect();
    parts.join("/")
}

/// Whether a caller gets past the door, whatever is said behind it.
fn is_let_in(client: &Client, method: &str, path: &str) -> bool {
    let answer = client.try_ask(method, path, Vec::new()).unwrap();
    assert!(answer.status < 500, "{method} {path}: {answer:?}");
    // Who logs in without a body is told of the body.
    !matches!(answer.status, 401 | 403)
}

#[test]
fn every_route_lets_in_exactly_the_roles_of_its_rule() {
    let world = World::new(&["auth.provisioners=token"]);
    let description = world.root.get("/v2/openapi.json").ok();
    let worker = world.token("dept", "rack-1", &json!({"role": "provisioner"}));
    let mut told = String::new();
    for tasks in [false, true] {
        let base = if tasks { world.server.tasks_base() } else { world.server.base() };
        let with = |token: String| Client::with_token(&base, &token);
        let suffix = if tasks { "2" } else { "1" };
        let user = |role: &str| {
            let name = format!("{role}{suffix}");
            world.user("dept", &name, role);
            with(world.token("dept", &name, &json!({})))
        };
        let token = std::fs::read_to_string(world.server.data_dir().join("admin.token")).unwrap();
        let callers = [
            (
                "nobody",
                Client::with_headers(&base, &[("Coopr-UserID", "admin"), ("Coopr-TenantID", "superadmin")]),
            ),
            ("provisioner", with(worker.clone())),
            ("reader", user("reader")),
            ("user", user("user")),
            ("admin", user("admin")),
            ("superadmin", with(token.trim().to_owned())),
        ];
        for (method, path) in routes(&description, tasks) {
            let asked = concrete(&path);
            let let_in: Vec<&str> = callers
                .iter()
                .filter(|(_, client)| is_let_in(client, &method, &asked))
                .map(|(name, _)| *name)
                .collect();
            told += &format!("{method} {path}: {}\n", let_in.join(" "));
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(RULES);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &told).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    for (is, should_be) in told.lines().zip(kept.lines()) {
        assert_eq!(is, should_be, "UPDATE_GOLDEN=1 writes {RULES}");
    }
    assert_eq!(told.lines().count(), kept.lines().count(), "UPDATE_GOLDEN=1 writes {RULES}");
}

#[test]
fn nobody_sees_or_changes_what_is_another_tenants() {
    let world = World::new(&[]);
    let (ours, theirs) = (world.client("dept", "ann", "admin"), world.client("other", "olga", "admin"));
    let hardware = json!({"name": "huge", "providermap": {"lab": {"flavor": "m9"}}});
    theirs.post("/v2/hardwaretypes", &hardware).ok();
    assert_eq!(theirs.post("/v2/nodes", &json!({"id": "n-1", "services": []})).status, 201);
    let token = theirs.post("/v2/tokens", &json!({"label": "olgas"})).ok()["id"].clone();
    for path in [
        "/v2/hardwaretypes/huge".to_owned(),
        "/v2/hardwaretypes/huge/1".to_owned(),
        "/v2/nodes/n-1".to_owned(),
        "/v2/users/olga".to_owned(),
    ] {
        assert_eq!(theirs.get(&path).status, 200, "{path}");
        assert_eq!(ours.get(&path).status, 404, "{path}");
    }
    for path in ["/v2/users", "/v2/tokens", "/v2/nodes", "/v2/hardwaretypes", "/v2/export"] {
        let seen = ours.get(path).ok().to_string();
        assert!(!seen.contains("olga") && !seen.contains("n-1") && !seen.contains("huge"), "{path}: {seen}");
    }
    for (method, path) in [
        ("GET", "/v2/users?tenant=other"),
        ("POST", "/v2/users?tenant=other"),
        ("PUT", "/v2/users/olga?tenant=other"),
        ("DELETE", "/v2/users/olga?tenant=other"),
        ("GET", "/v2/tokens?tenant=other"),
        ("POST", "/v2/tokens?tenant=other"),
    ] {
        let body = json!({"name": "mole", "user": "olga"}).to_string().into_bytes();
        let answer = ours.try_ask(method, path, body).unwrap();
        assert_eq!(answer.status, 403, "{method} {path}: {answer:?}");
        assert_eq!((&answer.body["field"], &answer.body["value"]), (&json!("tenant"), &json!("other")));
    }
    assert_eq!(ours.delete(&format!("/v2/tokens/{}", token.as_str().unwrap())).status, 404);
    ours.delete("/v2/hardwaretypes/huge").ok();
    assert_eq!(theirs.get("/v2/hardwaretypes/huge").status, 200, "only the own one is deleted");
}
