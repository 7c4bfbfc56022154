//! Terminals on nodes over REST: who may open one, what is said where there is none, and what is on record. That one works is
//! shown with real machines (`tests/e2e/`), and with a real SSH server (`plugins/tests/ssh/terminal.rs`).

use std::time::Duration;

use futures::StreamExt;
use serde_json::{Value, json};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::catalog::catalog;
use crate::lab::{Client, Server, apply, http, wait_for};

const LIMIT: Duration = Duration::from_secs(60);
const PASSWORD: &str = "correct horse battery";

struct Rack {
    _world: tempfile::TempDir,
    server: Server,
    path: String,
}

impl Rack {
    /// Nodes that cannot be logged in to.
    fn up(settings: &[&str]) -> Self {
        let world = tempfile::tempdir().unwrap();
        let mut all = vec![format!("simulation.dir={}", world.path().display())];
        all.extend(settings.iter().map(|setting| (*setting).to_owned()));
        let server = Server::start(&all);
        let admin = server.admin();
        apply(&admin, &catalog());
        let id = admin.create(&json!({"name": "rack", "clusterTemplate": "farm", "numMachines": 3}));
        let node = admin.active(&id, LIMIT)["nodes"][0]["id"].as_str().unwrap().to_owned();
        Self { _world: world, server, path: format!("/v2/clusters/{id}/nodes/{node}/terminal") }
    }

    /// A user of the same tenant.
    fn user(&self, name: &str, role: &str) -> String {
        let admin = self.server.admin();
        admin.post("/v2/users", &json!({"name": name, "role": role, "password": PASSWORD})).ok();
        admin.post("/v2/tokens", &json!({"user": name})).ok()["token"].as_str().unwrap().to_owned()
    }

    fn admin_token(&self) -> String {
        std::fs::read_to_string(self.server.data_dir().join("admin.token")).unwrap().trim().to_owned()
    }

    /// What came of opening one: the status, and what the server said.
    fn open(&self, headers: &[(&str, &str)]) -> (u16, Vec<Value>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = http().timeout(LIMIT).no_proxy().build().unwrap();
            let mut request = client.get(format!("{}{}", self.server.base(), self.path));
            for (name, value) in [
                ("Connection", "Upgrade"),
                ("Upgrade", "websocket"),
                ("Sec-WebSocket-Version", "13"),
                ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ] {
                request = request.header(name, value);
            }
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let response = request.send().await.unwrap();
            let status = response.status().as_u16();
            if status != 101 {
                return (status, vec![response.json().await.unwrap_or_default()]);
            }
            let stream = response.upgrade().await.unwrap();
            let mut socket = WebSocketStream::from_raw_socket(stream, Role::Client, None).await;
            let mut said = Vec::new();
            while let Some(Ok(message)) = socket.next().await {
                if let Message::Text(text) = message {
                    said.push(serde_json::from_str(&text).unwrap());
                }
            }
            (status, said)
        })
    }

    fn as_token(&self, token: &str, more: &[(&str, &str)]) -> (u16, Vec<Value>) {
        let bearer = format!("Bearer {token}");
        let headers: Vec<(&str, &str)> =
            [("Authorization", bearer.as_str())].iter().chain(more).copied().collect();
        self.open(&headers)
    }
}

#[test]
fn only_the_owner_and_admins_open_one_and_only_from_pages_of_this_server() {
    let rack = Rack::up(&[]);
    assert_eq!(rack.open(&[]).0, 401, "nobody");
    assert_eq!(rack.as_token(&rack.user("ruth", "reader"), &[]).0, 403, "who may only look");
    assert_eq!(rack.as_token(&rack.user("uma", "user"), &[]).0, 404, "whose cluster it is not");
    assert_eq!(rack.as_token(&rack.user("ada", "admin"), &[]).0, 101, "an admin");
    let token = rack.admin_token();
    let narrow = rack.server.admin().post("/v2/tokens", &json!({"scopes": ["clusters:read"]})).ok();
    assert_eq!(rack.as_token(narrow["token"].as_str().unwrap(), &[]).0, 403, "a token for looking");
    assert_eq!(rack.as_token(&token, &[("Origin", "http://evil.example")]).0, 403, "a page of others");
    let own = rack.server.base();
    assert_eq!(rack.as_token(&token, &[("Origin", &own)]).0, 101, "the owner, from a page");
    let plain = Client::with_token(&own, &token).get(&rack.path);
    assert_eq!(plain.status, 426, "{plain:?}");
    let other = rack.path.replace("/nodes/", "/nodes/no-");
    assert_eq!(Client::with_token(&own, &token).get(&other).status, 404);

    let who = json!({"tenant": "superadmin", "user": "ada", "password": PASSWORD});
    let cookie = {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = http().no_proxy().build().unwrap();
            let login = client.post(format!("{own}/v2/login")).body(who.to_string()).send().await.unwrap();
            login.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned()
        })
    };
    let with = |origin: &[(&str, &str)]| {
        let headers: Vec<(&str, &str)> =
            [("Cookie", cookie.as_str())].iter().chain(origin).copied().collect();
        rack.open(&headers).0
    };
    assert_eq!(with(&[("Origin", &own)]), 101, "a session, from a page");
    assert_eq!(with(&[("Origin", "http://evil.example")]), 403, "a session, from a page of others");
    assert_eq!(with(&[]), 403, "a session, from who knows where");
}

#[test]
fn why_there_is_none_is_told_and_recorded() {
    let rack = Rack::up(&[]);
    let (status, said) = rack.as_token(&rack.admin_token(), &[]);
    assert_eq!((status, said.len()), (101, 1), "{said:?}");
    let problem = &said[0]["problem"];
    assert_eq!((&said[0]["end"], &problem["status"]), (&json!("failed"), &json!(409)), "{said:?}");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("ssh_host_keys.ed25519"), "{detail}");
    let admin = rack.server.admin();
    let entries = wait_for("the records", LIMIT, || {
        let log = admin.get("/v2/audit?object=terminal").ok();
        let entries = log["entries"].as_array().unwrap().clone();
        (entries.len() == 2).then_some(entries)
    });
    let of = |at: usize, key: &str| entries[at][key].clone();
    assert_eq!(of(1, "action"), "GET /v2/clusters/{id}/nodes/{node}/terminal");
    assert_eq!(of(0, "action"), "CLOSE /v2/clusters/{id}/nodes/{node}/terminal");
    assert_eq!((of(0, "status"), of(1, "status")), (json!(409), json!(101)));
    for key in ["user", "tenant", "credential", "request", "peer"] {
        assert_eq!(of(0, key), of(1, key), "{key}");
    }
    let object = of(0, "object");
    assert!(object.as_str().unwrap().ends_with("(failed, after 0 s, 0 bytes typed, 0 shown)"), "{object}");
}

#[test]
fn they_can_be_switched_off() {
    let rack = Rack::up(&["terminal.max_open=0"]);
    let (_, said) = rack.as_token(&rack.admin_token(), &[]);
    assert_eq!(said[0]["problem"]["status"], 503, "{said:?}");
    assert!(said[0]["problem"]["remedy"].to_string().contains("terminal.max_open"), "{said:?}");
}
