//! Changes that are shown, saved, drafted and made; and clusters as they were.

use std::time::Duration;

use cooperage_domain::id::ClusterId;
use cooperage_schema::{Append, Projection, Store, StoreOptions, StoredEvent};
use serde_json::{Value, json};

use crate::catalog::catalog;
use crate::lab::{Answer, Client, Server, apply};

const LIMIT: Duration = Duration::from_secs(60);

/// A server with an active cluster of three simulated machines; small ones cost a quarter per hour.
struct World {
    _machines: tempfile::TempDir,
    server: Server,
    admin: Client,
    at: String,
}

impl World {
    fn new() -> Self {
        let machines = tempfile::tempdir().unwrap();
        let server = Server::start(&[format!("simulation.dir={}", machines.path().display())]);
        let admin = server.admin();
        let mut catalog = catalog();
        catalog[1]["providermap"]["sim"]["price"] = json!(0.25);
        apply(&admin, &catalog);
        let id = admin.create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": 3}));
        admin.active(&id, LIMIT);
        Self { _machines: machines, server, admin, at: format!("/v2/clusters/{id}") }
    }

    fn id(&self) -> &str {
        self.at.rsplit('/').next().unwrap()
    }

    fn path(&self, rest: &str) -> String {
        format!("{}{rest}", self.at)
    }

    fn get(&self, rest: &str) -> Value {
        self.admin.get(&self.path(rest)).ok()
    }

    fn post(&self, rest: &str, body: &Value) -> Answer {
        self.admin.post(&self.path(rest), body)
    }

    fn revision(&self) -> u64 {
        self.get("")["revision"].as_u64().unwrap()
    }

    /// Gives it another configuration, and waits for the end.
    fn configure(&self, config: &Value) {
        self.admin.put(&self.path("/config"), &json!({"config": config, "restart": false})).ok();
        assert_eq!(self.admin.settled(self.id(), LIMIT), "active");
    }

    fn restarted(&self) {
        self.post("/services/restart", &json!({})).ok();
        assert_eq!(self.admin.settled(self.id(), LIMIT), "active");
    }

    /// Another user of the same tenant.
    fn ben(&self) -> Client {
        self.admin.post("/v2/users", &json!({"name": "ben", "role": "admin"})).ok();
        let token = self.admin.post("/v2/tokens", &json!({"user": "ben", "label": "test"})).ok();
        Client::with_token(&self.server.base(), token["token"].as_str().unwrap())
    }
}

fn refused(answer: &Answer, status: u16, says: &[&str]) {
    assert_eq!(answer.status, status, "{:#}", answer.body);
    let text = answer.body.to_string();
    for part in says {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert!(
        answer.body["remedy"].is_string() || answer.body["detail"].as_str().unwrap().contains(';'),
        "{text}"
    );
}

fn is_shown(preview: &Value, revision: u64) {
    assert_eq!(preview["sequence"], revision, "{preview:#}");
    let times = ["p50Ms", "p90Ms", "predictedMs", "lowerBoundMs"].map(|key| preview[key].as_u64().unwrap());
    assert!(times[0] <= times[1], "{times:?}");
    let tasks = preview["tasks"].as_u64().unwrap();
    assert_eq!(preview["planned"].as_array().unwrap().len() as u64, tasks);
    assert_eq!(tasks > 0, times[1] > 0, "{times:?}");
}

#[test]
fn every_change_is_shown_and_nothing_is_done() {
    let world = World::new();
    let before = world.revision();
    let post = |rest: &str| world.post(&format!("{rest}?dryRun=true"), &json!({})).ok();
    for rest in [
        "/services/start",
        "/services/stop",
        "/services/restart",
        "/services/web/stop",
        "/clustertemplate/sync",
        "/pause",
        "/resume",
        "/abort",
    ] {
        is_shown(&post(rest), before);
    }
    let config = json!({"config": {"web": {"port": 81}}});
    let shown = world.admin.put(&world.path("/config?dryRun=true"), &config).ok();
    is_shown(&shown, before);
    assert_eq!(shown["changes"]["config"], json!([{"path": "web.port", "before": 80, "after": 81}]));
    let later = world.get("")["expireTime"].as_i64().unwrap() + 60_000;
    let lease = world.post("?dryRun=true", &json!({"expireTime": later})).ok();
    assert_eq!(lease["changes"]["cluster"][0]["after"], later);
    let gone = world.admin.delete(&world.path("?dryRun=true")).ok();
    is_shown(&gone, before);
    assert_eq!(gone["changes"]["nodes"].as_array().unwrap().len(), 3);
    assert_eq!(
        (&gone["price"]["beforePerHour"], &gone["price"]["afterPerHour"]),
        (&json!(0.75), &json!(0.0))
    );
    assert_eq!(gone["irreversible"].as_array().unwrap().len(), 4, "three machines and the cluster");
    // Learned from the create: what was done three times is no rule of thumb.
    assert!(shown["criticalPath"].as_array().unwrap().len() > 1);
    refused(&world.post("/retry?dryRun=true", &json!({})), 409, &["cannot be retried"]);
    refused(&world.post("/services/restart?save=true", &json!({})), 400, &["dryRun"]);
    refused(&world.post("/services/restart?dryRun=perhaps", &json!({})), 400, &["query"]);
    assert_eq!(world.revision(), before, "nothing was recorded");
    assert_eq!(world.get("/config"), json!({"web": {"port": 80}}));
    let create = json!({"name": "x", "clusterTemplate": "farm", "numMachines": 4});
    let create = world.admin.post("/v2/clusters?dryRun=true", &create).ok();
    is_shown(&create, 0);
    assert_eq!(
        (&create["price"]["afterPerHour"], create["nodes"].as_array().unwrap().len()),
        (&json!(1.0), 4)
    );
    assert_eq!(create["unknownDurations"], 0, "all that it takes was done before");
}

#[test]
fn what_was_foreseen_of_a_job_stays_as_it_was_said() {
    let world = World::new();
    let shown = world.post("/services/restart?dryRun=true", &json!({})).ok();
    world.post("/services/restart", &json!({})).ok();
    assert_eq!(world.admin.settled(world.id(), LIMIT), "active");
    let plans = || world.get("/plans");
    let newest = plans()[0].clone();
    assert_eq!(newest["predictedMs"], shown["predictedMs"], "as it was shown");
    let create =
        plans().as_array().unwrap().iter().find(|plan| plan["action"] == "CLUSTER_CREATE").unwrap().clone();
    assert!(create["predictedMs"].as_u64().unwrap() > 10_000, "by rules of thumb: nothing was known");
    // What is learned later changes what is said of later jobs only.
    world.post("/services/restart", &json!({})).ok();
    assert_eq!(world.admin.settled(world.id(), LIMIT), "active");
    let after = plans();
    let same = |plan: &Value| after.as_array().unwrap().contains(plan);
    assert!(same(&newest) && same(&create), "{after:#}");
    let alone = world.get(&format!("/plans/{}", create["id"].as_str().unwrap()));
    assert_eq!((&alone["predictedMs"], &alone["tasks"]), (&create["predictedMs"], &create["tasks"]));
}

#[test]
fn operations_on_living_clusters_are_shown_saved_and_drafted_too() {
    let world = World::new();
    let before = world.revision();
    let grown = world.post("/resize?dryRun=true&save=true", &json!({"machines": 4})).ok();
    is_shown(&grown, before);
    let node = &grown["changes"]["nodes"][0];
    assert_eq!((&node["what"], &node["servicesAdded"]), (&json!("added"), &json!(["worker"])), "{grown:#}");
    assert!(node["why"].as_str().unwrap().contains("wanted") && grown["price"]["afterPerHour"] == 1.0);
    let shrunk = world.post("/resize?dryRun=true", &json!({"machines": 2})).ok();
    is_shown(&shrunk, before);
    let node = &shrunk["changes"]["nodes"][0];
    assert_eq!(node["what"], "removed");
    assert!(!node["why"].as_str().unwrap().is_empty(), "the solver says why it is this one: {node}");
    assert!(shrunk["irreversible"][0].as_str().unwrap().contains("disks"), "{shrunk:#}");
    let anew = world.post("/replace?dryRun=true", &json!({"nodes": ["1001"]})).ok();
    is_shown(&anew, before);
    assert_eq!(anew["changes"]["nodes"][0]["why"], "it gets another machine");
    assert!(anew["irreversible"][0].as_str().unwrap().contains("another one takes its place"), "{anew:#}");
    is_shown(&world.post("/reconfigure?dryRun=true", &json!({"patch": {"web": {"port": 81}}})).ok(), before);
    is_shown(&world.post("/converge?dryRun=true", &json!({})).ok(), before);
    is_shown(&world.post("/cancel?dryRun=true", &json!({})).ok(), before);
    assert_eq!(world.revision(), before, "nothing was recorded");
    // A plan that was saved keeps within the quota of the day on which it is carried out.
    let quota = |nodes: u64| {
        let tenant = json!({"tenant": {"name": "superadmin", "workers": 4, "maxNodes": nodes}});
        world.admin.put("/v2/tenants/superadmin", &tenant).ok();
    };
    quota(3);
    refused(&world.post("/saved-plans/1/apply", &json!({})), 409, &["quota"]);
    quota(4);
    let other = world.post("/drafts", &json!({"operation": "resize", "machines": 5})).ok();
    world.post("/saved-plans/1/apply", &json!({})).ok();
    assert_eq!(world.admin.settled(world.id(), LIMIT), "active");
    assert_eq!(world.get("")["nodes"].as_array().unwrap().len(), 4);
    let late = world.post(&format!("/drafts/{}/commit", other["id"]), &json!({}));
    assert_eq!(late.status, 409, "{}", late.body);
    let gone = world.post("/drafts", &json!({"operation": "resize", "machines": 3})).ok();
    world.post(&format!("/drafts/{}/commit", gone["id"]), &json!({})).ok();
    assert_eq!(world.admin.settled(world.id(), LIMIT), "active");
    assert_eq!(world.get("")["nodes"].as_array().unwrap().len(), 3);
    let report = world.get("/replay");
    assert_eq!((&report["same"], &report["takenAsTheyAre"]), (&json!(true), &json!(0)), "{report:#}");
}

#[test]
fn a_saved_plan_does_exactly_what_it_showed_or_nothing() {
    let world = World::new();
    let plan = |rest: &str| world.post(&format!("{rest}?dryRun=true&save=true"), &json!({})).ok();
    let restart = plan("/services/restart");
    let (stop, number) = (plan("/services/stop")["plan"].clone(), restart["plan"].clone());
    assert_eq!((&number, &stop), (&json!(1), &json!(2)));
    let kept = world.get("/saved-plans/1");
    let mut shown = restart.clone();
    shown.as_object_mut().unwrap().remove("plan");
    assert_eq!(
        (&kept["preview"], &kept["createdBy"], &kept["doneBy"]),
        (&shown, &json!("admin"), &Value::Null)
    );
    let made = world.post("/saved-plans/1/apply", &json!({})).ok();
    assert_eq!(made["latestJobId"], format!("{}-003", world.id()));
    assert_eq!(world.admin.settled(world.id(), LIMIT), "active");
    let job = world.get("/plans/3".replace("/3", &format!("/{}-003", world.id())).as_str());
    let names = |tasks: &Value| -> Vec<String> {
        let mut names: Vec<_> = tasks
            .as_array()
            .unwrap()
            .iter()
            .map(|task| format!("{} {} {}", task["taskName"], task["service"], task["nodeId"]))
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(&job["tasks"]), names(&shown["planned"]));
    // Twice, and after something else has happened.
    refused(&world.post("/saved-plans/1/apply", &json!({})), 409, &["carried out by admin"]);
    let late = world.post("/saved-plans/2/apply", &json!({}));
    refused(&late, 409, &["plan 2 was made on state", "plan anew", "came in between"]);
    assert!(late.body["meanwhile"][0].as_str().unwrap().contains("wanted to run"), "{}", late.body);
    refused(&world.post("/saved-plans/9/apply", &json!({})), 404, &[]);
    assert_eq!(world.admin.delete(&world.path("/saved-plans/1")).status, 409);
    world.admin.delete(&world.path("/saved-plans/2")).ok();
    assert_eq!(world.get("/saved-plans").as_array().unwrap().len(), 1);
}

#[test]
fn drafts_are_reviewed_carried_over_and_committed_once() {
    let world = World::new();
    world.configure(&json!({"web": {"port": 80}, "a": 1, "b": 1}));
    let draft = |config: Value| {
        let operation =
            json!({"operation": "configure", "title": "ports", "config": config, "restart": false});
        world.post("/drafts", &operation).ok()
    };
    let mine = draft(json!({"web": {"port": 81}, "a": 1, "b": 1}));
    let theirs = draft(json!({"web": {"port": 82}, "a": 1, "b": 1}));
    assert_eq!((&mine["id"], &mine["createdBy"]), (&json!(1), &json!("admin")));
    assert_eq!(mine["preview"]["changes"]["config"][0]["after"], 81);
    // Somebody changes something else meanwhile.
    world.configure(&json!({"web": {"port": 80}, "a": 7, "b": 1}));
    world.restarted();
    let ben = world.ben();
    let made = ben.post(&world.path("/drafts/1/commit"), &json!({})).ok();
    assert_eq!((&made["rebased"], &made["meanwhile"]), (&json!(true), &json!(["config a"])));
    assert_eq!(world.admin.settled(world.id(), LIMIT), "active");
    assert_eq!(world.get("/config"), json!({"web": {"port": 81}, "a": 7, "b": 1}));
    let done = world.get("/drafts/1");
    assert_eq!((&done["createdBy"], &done["doneBy"]), (&json!("admin"), &json!("ben")));
    refused(&world.post("/drafts/1/commit", &json!({})), 409, &["carried out by ben"]);
    refused(
        &world.admin.put(&world.path("/drafts/1"), &json!({"operation": "delete"})),
        409,
        &["carried out"],
    );
    // The other one touches the same value.
    let late = world.post("/drafts/2/commit", &json!({}));
    refused(&late, 409, &["config web.port", "draft edit"]);
    assert_eq!(late.body["overlaps"], json!(["config web.port"]));
    let again = json!({"operation": "configure", "config": {"web": {"port": 82}}, "restart": false});
    let edited = ben.put(&world.path("/drafts/2"), &again).ok();
    assert_eq!(
        (&edited["edition"], &edited["changedBy"], &edited["id"]),
        (&json!(2), &json!("ben"), &theirs["id"])
    );
    let stale = Client::with_headers(&world.server.base(), &[]);
    assert_eq!(stale.get(&world.path("/drafts/2")).status, 401);
    world.post("/drafts/2/commit", &json!({})).ok();
    assert_eq!(world.admin.settled(world.id(), LIMIT), "active");
    assert_eq!(world.get("/config"), json!({"web": {"port": 82}}));
    // Who drafted and who committed is on record.
    let audit = world.admin.get("/v2/audit?limit=200").ok();
    let entries = audit["entries"].as_array().unwrap();
    let by = |user: &str, action: &str| {
        entries.iter().any(|entry| {
            entry["user"] == user
                && entry["action"].as_str().unwrap().contains(action)
                && entry["outcome"] == "done"
        })
    };
    assert!(by("admin", "drafts") && by("ben", "commit"), "{audit:#}");
}

#[test]
fn drafts_that_cannot_be_done_are_kept_or_refused_with_a_reason() {
    let world = World::new();
    for (operation, status, says) in [
        (json!({"operation": "explode"}), 400, "operation"),
        (json!({"operation": "configure"}), 400, "config"),
        (json!({"operation": "stop_services", "service": "nothing"}), 404, "nothing"),
        (json!({"operation": "delete", "title": "x".repeat(300)}), 400, "title"),
    ] {
        let answer = world.post("/drafts", &operation);
        assert_eq!(answer.status, status, "{}", answer.body);
        assert!(answer.body.to_string().contains(says), "{}", answer.body);
    }
    // It may be possible by the time it is committed.
    let retry = world.post("/drafts", &json!({"operation": "retry", "title": "when it failed"})).ok();
    assert!(retry["refusal"].as_str().unwrap().contains("cannot be retried"), "{retry:#}");
    refused(&world.post("/drafts/1/commit", &json!({})), 409, &["cannot be retried"]);
    assert_eq!(world.get("/drafts/1")["doneBy"], Value::Null, "a commit that is refused leaves it open");
    assert_eq!(world.get("/drafts").as_array().unwrap().len(), 1);
    world.admin.delete(&world.path("/drafts/1")).ok();
    assert_eq!(world.admin.get(&world.path("/drafts/1")).status, 404);
}

#[test]
fn a_cluster_is_shown_as_it_was_at_any_moment() {
    let world = World::new();
    let created = world.revision();
    let first_job = format!("{}-002", world.id());
    let between = world.get("/history?limit=1")[0]["time"].as_i64().unwrap() + 1;
    std::thread::sleep(Duration::from_millis(20));
    world.configure(&json!({"web": {"port": 90}}));
    world.restarted();
    for at in [created.to_string(), between.to_string(), first_job.clone()] {
        let then = world.get(&format!("?at={at}"));
        assert_eq!(
            (&then["revision"], &then["config"]["web"]["port"]),
            (&json!(created), &json!(80)),
            "{at}"
        );
        assert_eq!((&then["status"], &then["latestJobId"]), (&json!("active"), &json!(first_job)));
    }
    let early = world.get("?at=3");
    assert_eq!((&early["status"], early["nodes"].as_array().unwrap().len()), (&json!("pending"), 3));
    let timeless = |mut cluster: Value| {
        cluster.as_object_mut().unwrap().remove("expiresIn");
        cluster
    };
    assert_eq!(timeless(world.get(&format!("?at={}", world.revision()))), timeless(world.get("")));
    for (at, status) in
        [("0", 404), ("99999", 404), ("1970-02-01T00:00:00Z", 404), ("yesterday", 400), ("00000007-001", 400)]
    {
        let answer = world.admin.get(&world.path(&format!("?at={at}")));
        refused(&answer, status, &["at"]);
    }
    let different = world.get(&format!("/diff?from={created}"));
    assert_eq!(different["changes"]["config"], json!([{"path": "web.port", "before": 80, "after": 90}]));
    assert_eq!(different["changes"]["units"], json!([]), "all runs as it did");
    let back = world.get(&format!("/diff?from={}&to={created}", world.revision()));
    assert_eq!(back["changes"]["config"][0]["after"], 80);
    let start = world.get(&format!("/diff?from=3&to={created}"));
    assert!(
        start["changes"]["units"].as_array().unwrap().len() > 5 && start["changes"]["nodes"] == json!([])
    );
}

#[test]
fn the_history_says_who_did_what_in_pages() {
    let world = World::new();
    world.configure(&json!({"web": {"port": 90}}));
    let all = world.get("/history?limit=1000");
    let all = all.as_array().unwrap();
    assert_eq!(all.len() as u64, world.revision());
    let revisions: Vec<u64> = all.iter().map(|event| event["revision"].as_u64().unwrap()).collect();
    assert!(revisions.windows(2).all(|pair| pair[0] == pair[1] + 1), "newest first, without gaps");
    let text = |event: &Value| event["text"].as_str().unwrap().to_owned();
    assert!(text(&all[all.len() - 1]).contains("farm was asked for"));
    assert!(all.iter().all(|event| !text(event).is_empty() && event["who"].is_string()));
    assert!(all.iter().any(|event| text(event).contains("INSTALL worker on farm1-")), "{all:#?}");
    let page = world.get("/history?limit=2&before=10");
    assert_eq!((&page[0]["revision"], &page[1]["revision"]), (&json!(9), &json!(8)));
    let replaced = world.get("/history?kind=config_replaced");
    assert_eq!((replaced.as_array().unwrap().len(), &replaced[0]["who"]), (1, &json!("admin")));
    assert_eq!(replaced[0]["job"], format!("{}-003", world.id()));
    let of_job = world.get("/history?job=3&limit=1000");
    let job = format!("{}-003", world.id());
    assert!(of_job.as_array().unwrap().iter().all(|event| event["job"] == job.as_str()));
    assert!(of_job.as_array().unwrap().len() > 3);
    refused(&world.admin.get(&world.path("/history?job=x")), 400, &["job"]);
}

#[test]
fn a_replay_finds_what_is_not_as_it_was_decided() {
    let mut world = World::new();
    world.configure(&json!({"web": {"port": 90}}));
    world.post("/services/web/restart", &json!({})).ok();
    assert_eq!(world.admin.settled(world.id(), LIMIT), "active");
    let report = world.get("/replay");
    assert_eq!((&report["same"], &report["events"]), (&json!(true), &json!(world.revision())), "{report:#}");
    assert_eq!(
        (&report["redecided"], &report["takenAsTheyAre"]),
        (&report["events"], &json!(0)),
        "{report:#}"
    );
    let last = world.revision();
    world.server.stop();
    // Somebody writes into the table, then into the journal.
    let data = world.server.data_dir();
    let tamper = |change: &dyn Fn(&Store, u64)| {
        let url = data.join("cooperage.db").to_str().unwrap().parse().unwrap();
        let key = Some(data.join("secrets.key"));
        let options =
            StoreOptions { server: "other".to_owned(), secrets_key: key, ..StoreOptions::default() };
        let store = Store::open(&url, options).unwrap();
        let epoch = store.claim(ClusterId(1)).unwrap();
        change(&store, epoch);
        store.close();
    };
    let append = |epoch, events: Vec<StoredEvent>, projection| Append {
        cluster: ClusterId(1),
        epoch,
        expected_sequence: last,
        at_ms: 1,
        actor: "tamper".to_owned(),
        who: "eve".to_owned(),
        events,
        projection,
        snapshot: None,
    };
    tamper(&|store, epoch| {
        let mut row = store.cluster(ClusterId(1)).unwrap().unwrap();
        row.nodes = 7;
        let projection = Projection { cluster: Some(row), ..Projection::default() };
        store.journal().append_blocking(append(epoch, Vec::new(), projection)).unwrap();
    });
    world.server.run();
    let report = world.get("/replay");
    assert_eq!(
        (&report["same"], &report["difference"]["what"]),
        (&json!(false), &json!("table")),
        "{report:#}"
    );
    world.server.stop();
    tamper(&|store, epoch| {
        let json =
            json!({"event": "attempt_started", "at": 1, "task": 1, "attempt": 9, "worker": "w"}).to_string();
        let event = StoredEvent { version: 1, json };
        store.journal().append_blocking(append(epoch, vec![event], Projection::default())).unwrap();
    });
    world.server.run();
    let found = world.get("/replay")["difference"].clone();
    assert_eq!((&found["what"], &found["revision"]), (&json!("decision"), &json!(last + 1)), "{found:#}");
}
