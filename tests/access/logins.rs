//! Logins: what a browser keeps, and what it is good for.

use reqwest::header::HeaderMap;
use serde_json::{Value, json};

use crate::world::{PASSWORD, World};

/// An answer with its headers.
struct Told {
    status: u16,
    headers: HeaderMap,
    body: Value,
}

fn ask(world: &World, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Told {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = reqwest::Client::builder().tls_certs_only([]).no_proxy().build().unwrap();
        let url = format!("{}{path}", world.server.base());
        let mut request = client.request(method.parse().unwrap(), url).body(body.to_string());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.header("Accept", "application/json").send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default();
        Told { status, headers, body }
    })
}

fn login(world: &World, user: &str, password: &str) -> Told {
    let who = json!({"tenant": "dept", "user": user, "password": password});
    ask(world, "POST", "/v2/login", &[], &who)
}

/// The cookie of a login that must be a success, as the browser sends it back.
fn cookie(told: &Told) -> String {
    assert_eq!(told.status, 200, "{}", told.body);
    let set = told.headers["set-cookie"].to_str().unwrap();
    set.split(';').next().unwrap().to_owned()
}

#[test]
fn a_session_stands_for_its_user_until_it_ends() {
    let mut world = World::new(&[]);
    world.user("dept", "ann", "user");
    let told = login(&world, "ann", PASSWORD);
    assert_eq!((&told.body["user"], &told.body["role"]), (&json!("ann"), &json!("user")));
    let set = told.headers["set-cookie"].to_str().unwrap();
    for word in ["HttpOnly", "SameSite=Strict", "Path=/", "Expires="] {
        assert!(set.contains(word), "{set}");
    }
    let cookie = cookie(&told);
    let me = |world: &World| ask(world, "GET", "/v2/me", &[("Cookie", &cookie)], &Value::Null);
    assert_eq!(me(&world).body["credential"], "session");
    world.server.kill();
    world.server.run();
    assert_eq!(me(&world).status, 200, "it outlives the server");

    let host = world.server.base().replace("http://", "");
    let logout = |origin: &[(&str, &str)]| {
        let headers: Vec<_> = [("Cookie", cookie.as_str())].iter().chain(origin).copied().collect();
        ask(&world, "POST", "/v2/logout", &headers, &Value::Null)
    };
    let evil = logout(&[("Origin", "http://evil.example")]);
    assert_eq!((evil.status, logout(&[]).status), (403, 403), "from elsewhere, and from who knows where");
    assert_eq!(me(&world).status, 200);
    assert_eq!(logout(&[("Origin", &format!("http://{host}"))]).status, 200);
    let ended = me(&world);
    assert_eq!(ended.status, 401);
    assert!(ended.body["remedy"].as_str().unwrap().contains("log in"));
}

#[test]
fn wrong_passwords_are_told_alike_and_counted() {
    let world = World::new(&[]);
    world.user("dept", "ann", "user");
    world.root.post("/v2/users?tenant=dept", &json!({"name": "robot"})).ok();
    let wrong = login(&world, "ann", "correct horse batterz");
    for other in
        [login(&world, "nobody", PASSWORD), login(&world, "robot", PASSWORD), login(&world, "robot", "")]
    {
        assert_eq!((other.status, &other.body["detail"]), (401, &wrong.body["detail"]));
        assert!(other.headers.get("set-cookie").is_none());
    }
    let tries: Vec<u16> =
        (0..12).map(|n| login(&world, "ann", &format!("guess number {n}")).status).collect();
    assert_eq!(tries[0], 401);
    assert_eq!(tries[11], 429, "{tries:?}");
    let late = login(&world, "ann", PASSWORD);
    assert_eq!(late.status, 429, "even the right one");
    let wait: u64 = late.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait));
}

#[test]
fn a_new_password_ends_what_the_old_one_began() {
    let world = World::new(&[]);
    let ann = world.client("dept", "ann", "user");
    let cookie = cookie(&login(&world, "ann", PASSWORD));
    let wrong = ann.put("/v2/me/password", &json!({"old": "not the old one", "new": "a better password"}));
    assert_eq!((wrong.status, &wrong.body["field"]), (403, &json!("old")));
    let short = ann.put("/v2/me/password", &json!({"old": PASSWORD, "new": "short"}));
    assert_eq!(short.status, 400);
    ann.put("/v2/me/password", &json!({"old": PASSWORD, "new": "a better password"})).ok();
    assert_eq!(ask(&world, "GET", "/v2/me", &[("Cookie", &cookie)], &Value::Null).status, 401);
    assert_eq!(login(&world, "ann", PASSWORD).status, 401);
    assert_eq!(login(&world, "ann", "a better password").status, 200);
}

#[test]
fn clients_of_coopr_are_told_where_to_ask_for_a_token() {
    let world = World::new(&[]);
    world.user("dept", "ann", "user");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = reqwest::Client::builder().tls_certs_only([]).no_proxy().build().unwrap();
        let clusters = format!("{}/v2/clusters", world.server.base());
        let refused = client.get(&clusters).send().await.unwrap();
        assert_eq!(refused.status(), 401);
        assert!(refused.headers()["www-authenticate"].to_str().unwrap().starts_with("Bearer realm="));
        let told: Value = serde_json::from_str(&refused.text().await.unwrap()).unwrap();
        let uri = told["auth_uri"][0].as_str().unwrap().to_owned();

        let ask = |name: &str, password: &str| client.get(&uri).basic_auth(name, Some(password)).send();
        assert_eq!(ask("dept/ann", "not the password").await.unwrap().status(), 401);
        let issued = ask("dept/ann", PASSWORD).await.unwrap();
        assert_eq!(issued.status(), 200);
        let issued: Value = serde_json::from_str(&issued.text().await.unwrap()).unwrap();
        assert_eq!((&issued["token_type"], &issued["expires_in"]), (&json!("Bearer"), &json!(86_400)));
        let token = issued["access_token"].as_str().unwrap();
        let with = |user: &str, tenant: &str| {
            let request = client.get(&clusters).header("Authorization", format!("Bearer: {token}"));
            request.header("Coopr-UserID", user).header("Coopr-TenantID", tenant).send()
        };
        assert_eq!(with("ann", "dept").await.unwrap().status(), 200);
        for (user, tenant) in [("admin", "dept"), ("ann", "superadmin"), ("ann", "nowhere")] {
            assert_eq!(with(user, tenant).await.unwrap().status(), 401, "{user} {tenant}");
        }
    });
}

#[test]
fn a_code_lets_a_browser_in_once() {
    let mut world = World::new(&[]);
    let ann = world.client("dept", "ann", "user");
    let offer = |client: &crate::lab::Client| client.post("/v2/login-codes", &json!({}));
    let offered = offer(&ann).ok();
    let code = json!({"code": offered["code"]});
    let enter = |world: &World, code: &Value| ask(world, "POST", "/v2/login", &[], code);
    let told = enter(&world, &code);
    let cookie = cookie(&told);
    assert_eq!((&told.body["user"], &told.body["tenant"]), (&json!("ann"), &json!("dept")));
    assert_eq!(ask(&world, "GET", "/v2/me", &[("Cookie", &cookie)], &Value::Null).body["user"], "ann");
    let again = enter(&world, &code);
    assert_eq!((again.status, again.headers.get("set-cookie").is_none()), (401, true));
    assert!(again.body["remedy"].as_str().unwrap().contains("cooperage web"));
    assert_eq!(enter(&world, &json!({"code": "coop_guessed"})).status, 401);

    // A token that is less than its user makes no session that is more.
    for less in [json!({"role": "reader"}), json!({"scopes": ["clusters"]}), json!({"scopes": ["access"]})] {
        assert_eq!(offer(&world.with(&world.token("dept", "ann", &less))).status, 403, "{less}");
    }
    // Nobody is let in who was shut out meanwhile, and no code is left after a restart.
    let late = json!({"code": offer(&ann).ok()["code"]});
    let lost = json!({"code": offer(&ann).ok()["code"]});
    world.root.put("/v2/users/ann?tenant=dept", &json!({"disabled": true})).ok();
    assert_eq!(enter(&world, &late).status, 401);
    world.root.put("/v2/users/ann?tenant=dept", &json!({"disabled": false})).ok();
    world.server.kill();
    world.server.run();
    assert_eq!(enter(&world, &lost).status, 401);
}

#[test]
fn where_callers_are_believed_there_are_no_codes() {
    let server = crate::lab::Server::start(&["auth.mode=headers".to_owned()]);
    let root = crate::lab::Client::with_token(&server.base(), "");
    let world = World { server, root };
    let told = ask(
        &world,
        "POST",
        "/v2/login-codes",
        &[("Coopr-UserID", "admin"), ("Coopr-TenantID", "superadmin")],
        &Value::Null,
    );
    assert_eq!(told.status, 409, "{}", told.body);
}
