//! Tokens: what they reach, and when they stop.

use std::time::Duration;

use serde_json::json;

use crate::lab::{Client, wait_for};
use crate::world::World;

#[test]
fn a_secret_is_shown_once_and_kept_nowhere() {
    let mut world = World::new(&[]);
    world.user("dept", "ann", "user");
    let made = world.root.post("/v2/tokens?tenant=dept", &json!({"user": "ann", "label": "CI"})).ok();
    let secret = made["token"].as_str().unwrap().to_owned();
    let ann = world.with(&secret);
    assert_eq!(
        ann.get("/v2/me").ok(),
        json!({"user": "ann", "tenant": "dept", "role": "user", "visiting": false, "scopes": [], "credential": "token"})
    );
    let listed = ann.get("/v2/tokens").ok();
    assert_eq!((listed[0]["label"].as_str(), listed[0].get("token")), (Some("CI"), None));
    world.server.kill();
    for file in std::fs::read_dir(world.server.data_dir()).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            let kept = std::fs::read(&path).unwrap();
            let found = kept.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
    world.server.run();
    ann.get("/v2/me").ok();
}

#[test]
fn scopes_limit_what_a_token_reaches_and_cannot_be_widened() {
    let world = World::new(&[]);
    world.user("dept", "ann", "admin");
    let limited = world.with(&world.token("dept", "ann", &json!({"scopes": ["catalog", "access", "read"]})));
    limited.get("/v2/clusters").ok();
    limited.get("/v2/services").ok();
    let hardware = json!({"name": "small", "providermap": {"lab": {"flavor": "m1"}}});
    limited.post("/v2/hardwaretypes", &hardware).ok();
    let refused = limited.post("/v2/clusters", &json!({}));
    assert_eq!(refused.status, 403);
    assert!(refused.body["detail"].as_str().unwrap().contains("it needs clusters"), "{refused:?}");

    for scopes in [json!([]), json!(["*"]), json!(["clusters"]), json!(["read", "own"])] {
        let refused = limited.post("/v2/tokens", &json!({ "scopes": scopes }));
        assert_eq!((refused.status, &refused.body["field"]), (403, &json!("scopes")), "{scopes}");
    }
    limited.post("/v2/tokens", &json!({"scopes": ["catalog:read", "clusters:read"]})).ok();
    let unknown = limited.post("/v2/tokens", &json!({"scopes": ["everything"]}));
    assert_eq!((unknown.status, &unknown.body["field"]), (400, &json!("scopes")));
}

#[test]
fn a_token_ends_when_revoked_or_expired_and_follows_its_user() {
    let world = World::new(&[]);
    let admin = world.client("dept", "ann", "admin");
    let ben = world.client("dept", "ben", "user");
    let second = ben.post("/v2/tokens", &json!({"label": "second"})).ok();
    let other = world.with(second["token"].as_str().unwrap());
    other.get("/v2/me").ok();
    ben.delete(&format!("/v2/tokens/{}", second["id"].as_str().unwrap())).ok();
    let refused = other.get("/v2/me");
    assert_eq!(refused.status, 401);
    assert!(refused.body["detail"].as_str().unwrap().contains("revoked"));

    let short = ben.post("/v2/tokens", &json!({"expiresInSeconds": 1})).ok();
    let short = world.with(short["token"].as_str().unwrap());
    wait_for("the end of a token", Duration::from_secs(20), || {
        (short.get("/v2/me").status == 401).then_some(())
    });
    for seconds in [0, -5, 1_000_000_000] {
        let refused = ben.post("/v2/tokens", &json!({ "expiresInSeconds": seconds }));
        assert_eq!((refused.status, &refused.body["field"]), (400, &json!("expiresInSeconds")));
    }

    assert_eq!(ben.post("/v2/tokens", &json!({"role": "admin"})).status, 403, "more than ben is");
    assert_eq!(ben.post("/v2/tokens", &json!({"user": "ann"})).status, 403, "somebody else");
    assert_eq!(admin.post("/v2/tokens", &json!({"user": "rack", "role": "provisioner"})).status, 404);
    admin.put("/v2/users/ben", &json!({"role": "reader"})).ok();
    assert_eq!(ben.get("/v2/me").ok()["role"], "reader");
    assert_eq!(ben.post("/v2/clusters", &json!({})).status, 403);
    admin.put("/v2/users/ben", &json!({"disabled": true})).ok();
    assert_eq!(ben.get("/v2/me").status, 401);
    admin.put("/v2/users/ben", &json!({"disabled": false})).ok();
    ben.get("/v2/me").ok();
    admin.delete("/v2/users/ben").ok();
    assert_eq!(ben.get("/v2/me").status, 401);
}

#[test]
fn an_admin_takes_no_token_from_a_superadmin() {
    let world = World::new(&[]);
    let admin = world.client("superadmin", "ann", "admin");
    let made = world.root.post("/v2/tokens", &json!({"label": "kept"})).ok();
    let path = format!("/v2/tokens/{}", made["id"].as_str().unwrap());
    assert_eq!(admin.delete(&path).status, 403);
    world.with(made["token"].as_str().unwrap()).get("/v2/me").ok();
    world.root.delete(&path).ok();
    assert_eq!(world.with(made["token"].as_str().unwrap()).get("/v2/me").status, 401);
}

#[test]
fn users_are_checked_and_nobody_rises_above_who_lifts_them() {
    let world = World::new(&[]);
    let admin = world.client("dept", "ann", "admin");
    for (body, status, field) in [
        (json!({"role": "user"}), 400, "name"),
        (json!({"name": "no good"}), 400, "name"),
        (json!({"name": "eve", "role": "root"}), 400, "role"),
        (json!({"name": "eve", "role": "superadmin"}), 400, "role"),
        (json!({"name": "eve", "role": "provisioner"}), 400, "role"),
        (json!({"name": "eve", "password": "short"}), 400, "password"),
        (json!({"name": "ann"}), 409, "name"),
    ] {
        let refused = admin.post("/v2/users", &body);
        assert_eq!((refused.status, refused.body["field"].as_str()), (status, Some(field)), "{refused:?}");
        assert!(
            refused.body["remedy"].is_string() && !refused.body.to_string().contains("short"),
            "{refused:?}"
        );
    }
    world.user("superadmin", "helper", "admin");
    let helper = world.with(&world.token("superadmin", "helper", &json!({})));
    assert_eq!(helper.put("/v2/users/admin", &json!({"password": "taken over now"})).status, 403);
    assert_eq!(helper.delete("/v2/users/admin").status, 403);
    assert_eq!(helper.post("/v2/tokens", &json!({"user": "admin"})).status, 403);
    assert_eq!(helper.put("/v2/users/helper", &json!({"role": "superadmin"})).status, 403);
    let last = world.root.delete("/v2/users/admin");
    assert_eq!(last.status, 409, "{last:?}");
}

#[test]
fn provisioners_show_a_token_where_they_must() {
    let world = World::new(&["auth.provisioners=token"]);
    let base = world.server.tasks_base();
    let register = json!({"id": "p1", "host": "127.0.0.1", "port": 1, "capacityTotal": 3});
    let nobody = Client::with_headers(&base, &[]);
    assert_eq!(nobody.put("/v2/provisioners/p1", &register).status, 401);
    let ann = Client::with_token(&base, &world.token("superadmin", "admin", &json!({"role": "admin"})));
    assert_eq!(ann.put("/v2/provisioners/p1", &register).status, 403);
    let token = world.token("superadmin", "rack-1", &json!({"role": "provisioner"}));
    Client::with_token(&base, &token).put("/v2/provisioners/p1", &register).ok();
    assert_eq!(world.with(&token).get("/v2/clusters").status, 403, "nothing else");
    assert_eq!(world.root.get("/v2/provisioners/p1").ok()["capacityTotal"], 3);
}

#[test]
fn a_superadmin_looks_after_another_tenant_by_naming_it() {
    let world = World::new(&[]);
    let ann = world.client("dept", "ann", "admin");
    let token = world.token("superadmin", "admin", &json!({}));
    let named = |token: &str, tenant: &str| {
        let bearer = format!("Bearer {token}");
        Client::with_headers(
            &world.server.base(),
            &[("Authorization", bearer.as_str()), ("Coopr-TenantID", tenant)],
        )
    };
    let visitor = named(&token, "dept");
    assert_eq!(
        visitor.get("/v2/me").ok(),
        json!({"user": "superadmin/admin", "tenant": "dept", "role": "superadmin", "visiting": true, "scopes": [], "credential": "token"})
    );

    // What is made there is the tenant's, and on its record as the visitor's.
    visitor.post("/v2/hardwaretypes", &json!({"name": "visited", "providermap": {}})).ok();
    assert_eq!(ann.get("/v2/hardwaretypes/visited").ok()["name"], "visited");
    assert_eq!(world.root.get("/v2/hardwaretypes/visited").status, 404);
    let recorded = || ann.get("/v2/audit?user=superadmin%2Fadmin").ok();
    wait_for("the record", Duration::from_secs(10), || {
        recorded().to_string().contains("hardwaretypes").then_some(())
    });

    // A visitor has no account there, a tenant that is not there has no visitors, and others do not visit.
    let secret = json!({"old": "x", "new": "a password for nobody"});
    assert_eq!(visitor.put("/v2/me/password", &secret).status, 403);
    assert_eq!(visitor.post("/v2/tokens", &json!({})).status, 404);
    assert_eq!(visitor.post("/v2/login-codes", &json!({})).status, 403);
    assert_eq!(named(&token, "nowhere").get("/v2/me").status, 404);
    assert_eq!(named(&token, "superadmin").get("/v2/me").ok()["visiting"], false);
    let of_ann = world.token("dept", "ann", &json!({}));
    assert_eq!(named(&of_ann, "other").get("/v2/clusters").status, 401);
    assert_eq!(named(&of_ann, "dept").get("/v2/me").ok()["user"], "ann");
    // A token that is less stays less.
    let reader = world.token("superadmin", "admin", &json!({"role": "reader"}));
    assert_eq!(named(&reader, "dept").get("/v2/clusters").status, 401);
}
