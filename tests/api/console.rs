//! The actor console over REST and its WebSocket: the actors of a real server, with machines that are directories.

use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::catalog::catalog;
use crate::lab::{Client, Server, apply, wait_for, within};

const LIMIT: Duration = Duration::from_secs(60);

/// A server whose tasks take long enough to be caught at it.
struct House {
    world: tempfile::TempDir,
    server: Server,
}

impl House {
    fn open(settings: &[&str]) -> Self {
        let world = tempfile::tempdir().unwrap();
        std::fs::write(world.path().join("scenario.json"), r#"{"shortest_ms": 100, "longest_ms": 200}"#)
            .unwrap();
        let mut all = vec![format!("simulation.dir={}", world.path().display())];
        all.extend(settings.iter().map(|it| (*it).to_owned()));
        let server = Server::start(&all);
        apply(&server.admin(), &catalog());
        Self { world, server }
    }

    fn admin(&self) -> Client {
        self.server.admin()
    }

    fn create(&self) -> String {
        self.admin().create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": 3}))
    }

    fn order(&self, body: &Value) -> crate::lab::Answer {
        self.admin().post("/console/actions", body)
    }

    fn token(&self) -> String {
        std::fs::read_to_string(self.server.data_dir().join("admin.token")).unwrap().trim().to_owned()
    }

    fn status(&self, id: &str) -> String {
        self.admin().cluster(id)["status"].as_str().unwrap_or_default().to_owned()
    }
}

fn actor<'a>(tree: &'a Value, path: &str) -> Option<&'a Value> {
    tree["actors"].as_array().unwrap().iter().find(|actor| actor["path"] == path)
}

/// Opens the WebSocket with these headers.
async fn open(
    server: &Server,
    headers: &[(&'static str, String)],
) -> Result<WebSocketStream<TcpStream>, u16> {
    let address = server.base().replace("http://", "");
    let mut request = format!("ws://{address}/console").into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    let stream = TcpStream::connect(&address).await.unwrap();
    match tokio_tungstenite::client_async(request, stream).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(refusal)) => Err(refusal.status().as_u16()),
        Err(fault) => panic!("{fault}"),
    }
}

async fn say(socket: &mut WebSocketStream<TcpStream>, what: &Value) {
    socket.send(Message::text(what.to_string())).await.unwrap();
}

/// What comes until `holds` of it.
async fn until(socket: &mut WebSocketStream<TcpStream>, mut holds: impl FnMut(&Value) -> bool) -> Value {
    let wait = async {
        while let Some(frame) = socket.next().await {
            if let Message::Text(text) = frame.unwrap() {
                let said: Value = serde_json::from_str(&text).unwrap();
                if holds(&said) {
                    return said;
                }
            }
        }
        panic!("it ended");
    };
    tokio::time::timeout(LIMIT, wait).await.expect("in time")
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

#[test]
fn the_tree_has_the_cluster_that_was_made_and_its_nodes() {
    let house = House::open(&[]);
    let id = house.create();
    house.admin().active(&id, LIMIT);
    let tree = house.admin().get("/console/actors").ok();
    let cluster = format!("/clusters/{id}");
    let found = actor(&tree, &cluster).unwrap();
    assert_eq!((&found["kind"], &found["state"]), (&json!("Cluster"), &json!("running")), "{found}");
    assert!(found["handled"].as_u64().unwrap() > 10, "{found}");
    let name = house.admin().get(&format!("/v2/clusters/{id}")).ok()["name"].clone();
    assert_eq!(found["name"], name);
    let by_name = house.admin().get(&format!("/console/actors?filter={}", name.as_str().unwrap())).ok();
    assert!(actor(&by_name, &cluster).is_some(), "found by what people call it: {by_name}");
    let nodes = tree["actors"].as_array().unwrap().iter();
    let nodes: Vec<_> = nodes.filter(|actor| actor["parent"] == cluster.as_str()).collect();
    assert_eq!(nodes.len(), 3, "{tree}");
    assert!(nodes.iter().all(|node| node["name"].as_str().unwrap().contains('-')), "host names: {nodes:?}");
    for path in
        ["/registry", "/janitor", "/provisioner", "/fleet", "/health", "/callbacks", "/pools/superadmin"]
    {
        assert!(actor(&tree, path).is_some(), "{path} in {tree}");
    }
    let below = house.admin().get(&format!("/console/actors?under={cluster}&filter=node&limit=2")).ok();
    assert_eq!((below["actors"].as_array().unwrap().len(), &below["total"]), (2, &json!(3)));
    let node = nodes[0]["path"].as_str().unwrap();
    for written in [node.to_owned(), format!("/{}", node[1..].replace('/', "%2F"))] {
        let detail = house.admin().get(&format!("/console/actors{written}")).ok();
        assert_eq!(detail["actor"]["kind"], "Node", "{detail}");
    }
    let missing = house.admin().get("/console/actors/clusters/99999999");
    assert_eq!(missing.status, 404, "{}", missing.body);
}

#[test]
fn a_cluster_that_rests_is_shown_as_passivated() {
    let mut house = House::open(&[]);
    let id = house.create();
    house.admin().active(&id, LIMIT);
    // What has nothing to do is not read when a server starts.
    house.server.stop();
    house.server.run();
    let path = format!("/clusters/{id}");
    let tree = house.admin().get("/console/actors").ok();
    assert_eq!(actor(&tree, &path).unwrap()["state"], "passivated", "{tree}");
    assert_eq!(house.admin().get(&format!("/console/actors{path}")).ok()["actor"]["state"], "passivated");
    let pause = house.order(&json!({"path": path, "action": "pause"}));
    assert_eq!(pause.status, 404, "{}", pause.body);
}

#[test]
fn nobody_but_the_superadmin_sees_it_and_no_other_site_opens_it() {
    let house = House::open(&[]);
    let admin = house.admin();
    admin.post("/v2/users", &json!({"name": "ann", "role": "admin", "password": "correct-horse-battery"}));
    let token = admin.post("/v2/tokens", &json!({"user": "ann", "label": "t"})).ok()["token"].clone();
    let ann = Client::with_token(&house.server.base(), token.as_str().unwrap());
    for (method, path) in
        [("GET", "/console/actors"), ("GET", "/console/actors/registry"), ("POST", "/console/actions")]
    {
        assert_eq!(ann.try_ask(method, path, b"{}".to_vec()).unwrap().status, 403, "{method} {path}");
    }
    run(async {
        let with = |token: &str| [("authorization", format!("Bearer {token}"))];
        assert_eq!(open(&house.server, &with(token.as_str().unwrap())).await.err(), Some(403));
        assert_eq!(open(&house.server, &[]).await.err(), Some(401));
        assert!(open(&house.server, &with(&house.token())).await.is_ok());
    });
    admin.put("/v2/users/admin", &json!({"password": "correct-horse-battery"})).ok();
    let login = json!({"tenant": "superadmin", "user": "admin", "password": "correct-horse-battery"});
    run(async {
        let url = format!("{}/v2/login", house.server.base());
        let client = crate::lab::http().no_proxy().build().unwrap();
        let answer = client.post(url).body(login.to_string()).send().await.unwrap();
        let cookie = answer.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        let from = |origin: &str| [("cookie", cookie.clone()), ("origin", origin.to_owned())];
        assert_eq!(open(&house.server, &from("https://elsewhere.example.com")).await.err(), Some(403));
        assert_eq!(open(&house.server, &[("cookie", cookie.clone())]).await.err(), Some(403));
        assert!(open(&house.server, &from(&house.server.base())).await.is_ok());
    });
}

#[test]
fn a_pause_holds_a_plan_and_a_resume_lets_it_go_on() {
    let house = House::open(&[]);
    let id = house.create();
    let path = format!("/clusters/{id}");
    house.order(&json!({"path": path, "action": "pause", "seconds": 600})).ok();
    let detail = house.admin().get(&format!("/console/actors{path}")).ok();
    assert_eq!(detail["actor"]["state"], "paused", "{detail}");
    // Who asks the paused cluster waits, so that the table is asked.
    let status = || {
        let clusters = house.admin().get("/v2/clusters").ok();
        clusters[0]["status"].as_str().unwrap().to_owned()
    };
    let ended = within(Duration::from_secs(3), || (status() == "active").then_some(()));
    assert!(ended.is_none(), "the plan goes on");
    let waiting = house.admin().get(&format!("/console/actors{path}")).ok();
    assert!(waiting["actor"]["waiting"].as_u64().unwrap() > 0, "what comes waits: {waiting}");
    house.order(&json!({"path": path, "action": "resume"})).ok();
    house.admin().active(&id, LIMIT);
    let again = house.order(&json!({"path": path, "action": "resume"}));
    assert_eq!(again.status, 409, "{}", again.body);
}

#[test]
fn a_restart_loses_nothing_and_is_on_record_as_all_else_is() {
    let house = House::open(&[]);
    let id = house.create();
    let path = format!("/clusters/{id}");
    for _ in 0..3 {
        house.order(&json!({"path": path, "action": "restart"}));
        std::thread::sleep(Duration::from_millis(150));
    }
    house.admin().active(&id, LIMIT);
    assert_eq!(house.status(&id), "active");
    let machines = std::fs::read_dir(house.world.path().join("machines")).unwrap().count();
    assert_eq!(machines, 3, "none was made twice");
    let seen = house.admin().get(&format!("/console/actors{path}")).ok();
    assert!(seen["actor"]["restarts"].as_u64().unwrap() >= 1, "{seen}");
    let refused = house.order(&json!({"path": "/registry", "action": "restart"}));
    assert_eq!(refused.status, 409, "{}", refused.body);
    run(async {
        let mut socket =
            open(&house.server, &[("authorization", format!("Bearer {}", house.token()))]).await.unwrap();
        say(&mut socket, &json!({"do": "follow", "under": path})).await;
        say(&mut socket, &json!({"do": "watch", "under": "/"})).await;
        until(&mut socket, |said| said.get("tree").is_some()).await;
    });
    let log = wait_for("the record", LIMIT, || {
        let log = house.admin().get("/v2/audit?limit=1000").ok()["entries"].to_string();
        log.contains("follow messages").then_some(log)
    });
    for part in ["GET /console", "POST /console/actions", &format!("restart {path}"), &format!("\"{path}\"")]
    {
        assert!(log.contains(part), "{part} in {log}");
    }
}

#[test]
fn faults_are_refused_without_the_setting_and_happen_with_it() {
    let (plain, broken) = (House::open(&[]), House::open(&["console.faults=true"]));
    let order = |path: &str| json!({"path": path, "action": "fault", "fault": "crash"});
    let refused = plain.order(&order("/clusters/00000001"));
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert!(refused.body["detail"].as_str().unwrap().contains("console.faults"), "{}", refused.body);
    assert_eq!(plain.admin().get("/console/actors").ok()["faults"], false);
    let id = broken.create();
    let path = format!("/clusters/{id}");
    assert_eq!(broken.order(&order("/registry")).status, 409, "nobody would start it again");
    let without = broken.order(&json!({"path": path, "action": "fault", "fault": "delay"}));
    assert_eq!((without.status, &without.body["field"]), (400, &json!("delayMs")), "{}", without.body);
    broken.order(&order(&path)).ok();
    broken.admin().active(&id, LIMIT);
    let seen = wait_for("the crash", LIMIT, || {
        // Looking at the cluster is a message to it.
        broken.status(&id);
        let seen = broken.admin().get(&format!("/console/actors{path}")).ok()["actor"].clone();
        (seen["restarts"] == 1).then_some(seen)
    });
    assert!(seen["lastError"].as_str().unwrap().contains("made to break over"), "{seen}");
}

#[test]
fn messages_of_a_request_are_followed_without_what_they_say() {
    let house = House::open(&[]);
    const SECRET: &str = "hunter2-hunter2";
    run(async {
        let header = [("authorization", format!("Bearer {}", house.token()))];
        let mut socket = open(&house.server, &header).await.unwrap();
        say(&mut socket, &json!({"do": "watch"})).await;
        until(&mut socket, |said| said["tree"]["live"].as_u64() > Some(5)).await;
        say(&mut socket, &json!({"do": "follow"})).await;
        // Answered behind what was asked before.
        say(&mut socket, &json!({"do": "nonsense"})).await;
        until(&mut socket, |said| said.get("problem").is_some()).await;
        let (base, token) = (house.server.base(), house.token());
        let asked = tokio::task::spawn_blocking(move || {
            let request = json!({"name": "farm", "clusterTemplate": "farm", "numMachines": 2,
                "config": {"web": {"password": SECRET}}});
            Client::with_token(&base, &token).create(&request)
        });
        let mut said = String::new();
        let mut correlation = None;
        until(&mut socket, |it| {
            said += &it.to_string();
            let messages = it["messages"].as_array().cloned().unwrap_or_default();
            if let Some(create) = messages.iter().find(|it| it["kind"] == "Create") {
                correlation = create["correlation"].as_str().map(str::to_owned);
            }
            messages
                .iter()
                .any(|it| it["kind"] == "Report" && it["correlation"].as_str() == correlation.as_deref())
        })
        .await;
        let id = asked.await.unwrap();
        say(&mut socket, &json!({"do": "follow", "correlation": correlation})).await;
        say(&mut socket, &json!({"do": "examine", "path": format!("/clusters/{id}")})).await;
        let detail = until(&mut socket, |it| {
            said += &it.to_string();
            it["detail"]["latencies"].as_array().is_some_and(|all| !all.is_empty())
        })
        .await;
        assert!(detail["detail"]["latencies"][0]["waited"]["steps"].is_array(), "{detail}");
        assert!(!said.contains(SECRET) && !said.contains("tiny"), "what messages say is not shown");
    });
}
