//! `Idempotency-Key`: what is asked again is not done again, even when the server was killed over it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::caller::{Caller, Told};
use crate::lab::{Server, apply, wait_for};

#[path = "../api/catalog.rs"]
mod things;

pub use things::catalog;

const LIMIT: Duration = Duration::from_secs(60);
const CLUSTERS: &str = "/v2/clusters?strict=true";

/// A request for a cluster of this name.
pub fn request(name: &str) -> Value {
    json!({"name": name, "clusterTemplate": "farm", "numMachines": 2})
}

/// A server with simulated machines, and a catalog for them.
pub fn simulated(more: &[&str]) -> (tempfile::TempDir, Server) {
    let world = tempfile::tempdir().unwrap();
    let mut settings = vec![format!("simulation.dir={}", world.path().display())];
    settings.extend(more.iter().map(|text| (*text).to_owned()));
    let server = Server::start(&settings);
    apply(&server.admin(), &catalog());
    (world, server)
}

fn named(admin: &Caller, name: &str) -> usize {
    let all = admin.get("/v2/clusters").is(200).json();
    all.as_array().unwrap().iter().filter(|cluster| cluster["name"] == name).count()
}

#[test]
fn a_request_that_is_repeated_is_answered_again_and_not_done_again() {
    let (_world, mut server) = simulated(&[]);
    let admin = Caller::admin(&server);
    let ask = |admin: &Caller, key: &str, name: &str| {
        admin.post(CLUSTERS, &[("Idempotency-Key", key)], &request(name))
    };
    let first = ask(&admin, "k1", "shop").is(200);
    assert_eq!(first.header("idempotency-replayed"), "");
    let again = ask(&admin, "k1", "shop").is(200);
    assert_eq!((again.json(), again.header("idempotency-replayed")), (first.json(), "true"));
    assert_eq!(again.header("content-type"), first.header("content-type"));
    ask(&admin, "k1", "other").refused(422, "Idempotency-Key", "new key");
    ask(&admin, "", "shop").refused(400, "Idempotency-Key", "UUID");
    assert_ne!(ask(&admin, "k2", "shop").is(200).json(), first.json());
    assert_eq!(named(&admin, "shop"), 2);

    server.kill();
    server.run();
    assert_eq!(ask(&admin, "k1", "shop").is(200).json(), first.json());

    // What was refused has not happened, and may be corrected under the same key.
    let wrong = json!({"name": "shop", "clusterTemplate": "farm", "numMachines": 1});
    admin.post(CLUSTERS, &[("Idempotency-Key", "k3")], &wrong).is(400);
    ask(&admin, "k3", "shop").is(200);
    // Keys of one user are nobody else's: the same key, and another request.
    let spec = json!({"tenant": {"name": "dept"}});
    let tenant = |key: &str| admin.post("/v2/tenants", &[("Idempotency-Key", key)], &spec);
    tenant("t1").is(200);
    tenant("t1").is(200);
    tenant("t2").is(409);
}

#[test]
fn of_requests_at_the_same_moment_one_is_carried_out() {
    let (_world, server) = simulated(&[]);
    let admin = Caller::admin(&server);
    for round in 0..5 {
        let name = format!("twin{round}");
        let twins: Vec<_> = (0..6)
            .map(|_| {
                let (admin, name) = (admin.clone(), name.clone());
                std::thread::spawn(move || {
                    admin.post(CLUSTERS, &[("Idempotency-Key", &name)], &request(&name))
                })
            })
            .collect();
        let told: Vec<Told> = twins.into_iter().map(|twin| twin.join().unwrap()).collect();
        let done: Vec<_> = told.iter().filter(|told| told.status == 200).map(Told::json).collect();
        assert!(!done.is_empty() && done.iter().all(|one| *one == done[0]), "{told:?}");
        for waits in told.iter().filter(|told| told.status != 200) {
            assert_eq!((waits.status, waits.header("retry-after")), (409, "1"));
        }
        assert_eq!(named(&admin, &name), 1);
    }
}

#[test]
fn a_key_is_forgotten_when_its_time_is_over() {
    let (_world, mut server) = simulated(&["http.idempotency_hours=0"]);
    let admin = Caller::admin(&server);
    let ask = || admin.post(CLUSTERS, &[("Idempotency-Key", "k")], &request("short")).is(200);
    ask();
    ask();
    assert_eq!(named(&admin, "short"), 2);
    server.stop();
    // The sweep is done at the start.
    server.run();
    let database = server.data_dir().join("cooperage.db");
    let open = || {
        let url = database.to_str().unwrap().parse().unwrap();
        let store = cooperage_schema::Store::open(&url, Default::default()).unwrap();
        let left = store.sweep_keys(i64::MAX).unwrap();
        store.close();
        left
    };
    wait_for("the sweep", LIMIT, || (open() == 0).then_some(()));
}

/// The request, sent until it is answered.
fn answered(admin: &Caller, path: &str, key: &str, body: &Value) -> Told {
    wait_for("an answer", LIMIT, || {
        let told = admin.try_ask("POST", path, &[("Idempotency-Key", key)], body.to_string()).ok()?;
        (told.status != 409 || told.header("retry-after").is_empty())
            .then_some(told)
            .filter(|t| t.status != 503)
    })
}

#[test]
fn a_server_that_is_killed_over_requests_does_each_once() {
    let (_world, mut server) = simulated(&[]);
    let admin = Caller::admin(&server);
    // From at once to well behind the answer.
    for round in 0..16_u64 {
        let name = format!("killed{round}");
        let (caller, cluster, hardware) = (admin.clone(), name.clone(), name.clone());
        let clusters = std::thread::spawn(move || answered(&caller, CLUSTERS, &cluster, &request(&cluster)));
        let caller = admin.clone();
        let entities = std::thread::spawn(move || {
            let body = json!({"name": hardware, "providermap": {}});
            answered(&caller, "/v2/hardwaretypes", &format!("h-{hardware}"), &body)
        });
        std::thread::sleep(Duration::from_millis(round * 3));
        server.kill();
        server.run();
        let told = clusters.join().unwrap().is(200);
        // The create is not told that what it created is there already.
        entities.join().unwrap().is(200);
        assert_eq!(named(&admin, &name), 1, "round {round}");
        let id = told.json()["id"].as_str().unwrap().to_owned();
        assert_eq!(admin.get(&format!("/v2/clusters/{id}")).is(200).json()["name"], name);
        assert_eq!(answered(&admin, CLUSTERS, &name, &request(&name)).json()["id"], id);
    }
}

#[test]
fn the_command_line_waits_out_a_restart_and_creates_one_cluster() {
    let (_world, mut server) = simulated(&[]);
    let admin = Caller::admin(&server);
    server.kill();
    let (url, token) = (server.base(), server.data_dir().join("admin.token"));
    let creating = std::thread::spawn(move || {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cooperage"));
        command.args([
            "cluster",
            "create",
            "patient",
            "-t",
            "farm",
            "-n",
            "2",
            "--no-wait",
            "--server",
            &url,
        ]);
        command.arg("--token-file").arg(token).output().unwrap()
    });
    std::thread::sleep(Duration::from_millis(300));
    server.run();
    let done = creating.join().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(named(&admin, "patient"), 1);
}
