//! Clusters on clusters, over REST: what is met by a parent, who keeps whom, and whom a change reaches.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::lab::{Answer, Client, Server, apply, wait_for};

const LIMIT: Duration = Duration::from_secs(60);

struct World {
    machines: tempfile::TempDir,
    server: Server,
    admin: Client,
    /// Carries name servers that others take.
    base: String,
}

/// A site with name servers, and a shop that is told of those and of nothing else.
fn catalog() -> Value {
    let actions = json!({"configure": {"type": "simulated", "fields": {}}, "start": {"type": "simulated", "fields": {}}});
    let service = |name: &str, more: Value| {
        let mut service = json!({"kind": "service", "name": name, "provisioner": {"actions": actions}});
        service.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        service
    };
    let template = |name: &str, services: &[&str], config: Value| {
        json!({"kind": "clustertemplate", "name": name,
            "defaults": {"services": services, "provider": "sim", "hardwaretype": "small", "imagetype": "plain",
                "config": config},
            "compatibility": {"hardwaretypes": ["small"], "imagetypes": ["plain"], "services": services},
            "constraints": {"layout": {"cantcoexist": [["app", "log"], ["dns", "mail"]]}},
            "administration": {"leaseduration": {"initial": 0, "max": 0, "step": 0}}})
    };
    json!([
        {"kind": "provider", "name": "sim", "providertype": "simulated", "provisioner": {"account": "lab"}},
        {"kind": "hardwaretype", "name": "small", "providermap": {"sim": {"flavor": "tiny"}}},
        {"kind": "imagetype", "name": "plain", "providermap": {"sim": {"image": "img-1", "sshuser": "root"}}},
        service("dns", json!({"inputs": []})),
        service("mail", json!({"inputs": []})),
        service("app", json!({"inputs": [{"name": "resolvers", "at": "app.resolvers"}],
            "dependencies": {"runtime": {"requires": [{"name": "dns", "scope": "ancestors"}]}}})),
        service("log", json!({"inputs": [{"name": "level", "at": "log.level"}]})),
        template("site", &["dns", "mail"], json!({})),
        template("shop", &["app", "log"], json!({"app": {"resolvers": "%ip.service.dns%"}, "log": {"level": 1}})),
    ])
}

impl World {
    fn new(settings: &[&str]) -> Self {
        let machines = tempfile::tempdir().unwrap();
        let mut all = vec![format!("simulation.dir={}", machines.path().display())];
        all.extend(settings.iter().map(|&setting| setting.to_owned()));
        let server = Server::start(&all);
        let admin = match settings.contains(&"auth.mode=headers") {
            true => Client::with_headers(
                &server.base(),
                &[("Coopr-UserID", "admin"), ("Coopr-TenantID", "superadmin")],
            ),
            false => server.admin(),
        };
        apply(&admin, &catalog());
        let base = admin.create(&json!({"name": "base", "clusterTemplate": "site", "numMachines": 3}));
        admin.active(&base, LIMIT);
        Self { machines, server, admin, base }
    }

    fn shop(&self, name: &str, more: &Value) -> Value {
        let mut request = json!({"name": name, "clusterTemplate": "shop", "numMachines": 2});
        request.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        request
    }

    /// A shop upon the base that has come up; its id.
    fn child(&self) -> String {
        let id = self.admin.create(&self.shop("shop", &json!({"parent": "base"})));
        self.admin.active(&id, LIMIT);
        id
    }

    fn ask(&self, id: &str, what: &str, body: &Value) -> Answer {
        self.admin.post(&format!("/v2/clusters/{id}/{what}"), body)
    }

    /// The addresses of the base's name servers.
    fn resolvers(&self) -> String {
        let base = self.admin.cluster(&self.base);
        let nodes = base["nodes"].as_array().unwrap().iter();
        let carrying = nodes.filter(|node| {
            let services = node["properties"]["services"].as_array().unwrap();
            services.iter().any(|service| service == "dns")
        });
        let address = |node: &Value| {
            node["properties"]["ipaddresses"]["bind_v4"].as_str().unwrap_or_default().to_owned()
        };
        carrying.map(address).collect::<Vec<_>>().join(",")
    }

    /// What the app of a shop was told last, in the order of its tasks.
    fn told(&self, id: &str) -> Option<String> {
        let mut runs: Vec<_> = entries(&self.machines.path().join("runs"))
            .into_iter()
            .filter(|run| run.starts_with(id))
            .filter_map(|run| {
                let file = self.machines.path().join("runs").join(&run).join("inputs");
                let inputs: Value = serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()?;
                Some((run, inputs["resolvers"].as_str()?.to_owned()))
            })
            .collect();
        runs.sort();
        runs.pop().map(|(_, resolvers)| resolvers)
    }

    /// Waits until the app of a shop was told of the base's name servers as they are now, and the shop rests.
    fn in_step(&self, id: &str) {
        wait_for("what the parent publishes to reach its child", LIMIT, || {
            (self.told(id)? == self.resolvers()).then_some(())
        });
        assert_eq!(self.admin.settled(id, LIMIT), "active");
    }

    /// One name server more, or one fewer.
    fn resize_dns(&self, by: i64) {
        self.ask(&self.base, "resize", &json!({"services": {"dns": by}})).ok();
    }
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// The names of the services that the latest job of a cluster brings up, and its action.
fn latest_job(client: &Client, id: &str) -> (String, Vec<String>) {
    let plans = client.get(&format!("/v2/clusters/{id}/plans")).ok();
    let tasks = plans[0]["tasks"].as_array().unwrap().iter();
    let mut services: Vec<String> = tasks.map(|task| task["service"].as_str().unwrap().to_owned()).collect();
    services.sort();
    services.dedup();
    (plans[0]["action"].as_str().unwrap().to_owned(), services)
}

#[test]
fn what_a_parent_has_is_met_by_it_and_what_changes_there_reaches_those_who_take_it() {
    let world = World::new(&[]);
    let alone = world.admin.post("/v2/clusters?strict=true", &world.shop("shop", &json!({})));
    assert_eq!(alone.status, 422, "{}", alone.body);
    assert!(alone.body.to_string().contains("build the cluster on one that has dns"), "{}", alone.body);
    let shown = world
        .admin
        .post("/v2/clusters?dryRun=true", &world.shop("shop", &json!({"parent": world.base})))
        .ok();
    let taken = json!([{"service": "dns", "clusterId": world.base, "cluster": "base", "by": ["app"]}]);
    assert_eq!(shown["fromAncestors"], taken);
    let child = world.child();
    assert_eq!(world.told(&child).unwrap(), world.resolvers());
    let details = world.admin.cluster(&child);
    assert_eq!((&details["parent"], &details["fromAncestors"]), (&json!(world.base), &taken));
    assert!(world.admin.cluster(&world.base).get("parent").is_none(), "nothing is said of what is not");

    let before = world.resolvers();
    world.resize_dns(1);
    world.admin.active(&world.base, LIMIT);
    assert_ne!(world.resolvers(), before);
    world.in_step(&child);
    assert_eq!(latest_job(&world.admin, &child), ("CLUSTER_INHERIT".to_owned(), vec!["app".to_owned()]));

    // What nobody takes of it makes nobody run.
    let jobs = world.admin.get(&format!("/v2/clusters/{child}/plans")).ok().as_array().unwrap().len();
    world.ask(&world.base, "resize", &json!({"services": {"mail": 1}})).ok();
    world.admin.active(&world.base, LIMIT);
    world.resize_dns(-1);
    world.admin.active(&world.base, LIMIT);
    world.in_step(&child);
    assert_eq!(
        world.admin.get(&format!("/v2/clusters/{child}/plans")).ok().as_array().unwrap().len(),
        jobs + 1
    );
}

#[test]
fn a_change_that_a_killed_server_has_not_told_is_told_when_it_starts_again() {
    let mut world = World::new(&[]);
    let child = world.child();
    for by in [1, -1, 1] {
        world.resize_dns(by);
        let base = world.base.clone();
        wait_for("the end of the job", LIMIT, || {
            let status = world.admin.get(&format!("/v2/clusters/{base}/status")).ok();
            (status["status"] != "pending").then_some(())
        });
        world.server.kill();
        world.server.run();
        world.in_step(&child);
    }
}

#[test]
fn a_parent_stays_as_long_as_its_children_and_with_it_what_they_need() {
    let world = World::new(&[]);
    let child = world.child();
    let at = format!("/v2/clusters/{}", world.base);
    for path in [at.clone(), format!("{at}?now=true"), format!("{at}?dryRun=true")] {
        let refused = world.admin.delete(&path);
        let said = refused.body.to_string();
        assert_eq!(refused.status, 409, "{path}: {said}");
        assert!(said.contains(&format!("shop ({child})")) && said.contains("delete those first"), "{said}");
    }
    let refused = world.ask(&world.base, "services/remove", &json!({"services": ["dns"]}));
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.body.to_string().contains(&format!("shop ({child})")), "{}", refused.body);
    world.ask(&world.base, "services/remove", &json!({"services": ["mail"]})).ok();
    world.admin.active(&world.base, LIMIT);

    let children = world.admin.get(&format!("{at}/children")).ok();
    assert_eq!((&children[0]["id"], &children[0]["parent"]), (&json!(child), &json!(world.base)));
    assert_eq!(world.admin.get(&format!("/v2/clusters?parent={}", world.base)).ok(), children);
    assert_eq!(world.admin.get(&format!("/v2/clusters/{child}/children")).ok(), json!([]));

    world.admin.delete_cluster(&child, LIMIT);
    let deleted = wait_for("the parent to let go of its child", LIMIT, || {
        Some(world.admin.delete(&at)).filter(|answer| answer.status == 200)
    });
    deleted.ok();
    assert_eq!(world.admin.settled(&world.base, LIMIT), "terminated");
    let refused =
        world.admin.post("/v2/clusters?strict=true", &world.shop("late", &json!({"parent": world.base})));
    assert_eq!(refused.status, 409, "a cluster that is gone offers nothing: {}", refused.body);
}

#[test]
fn a_lease_that_outlives_the_parent_s_is_warned_of() {
    let world = World::new(&[]);
    let base = format!("/v2/clusters/{}", world.base);
    let now = world.admin.cluster(&world.base)["createTime"].as_i64().unwrap();
    world.admin.post(&base, &json!({"expireTime": now + 3_600_000})).ok();
    let created = world.admin.post("/v2/clusters", &world.shop("shop", &json!({"parent": "base"}))).ok();
    assert!(created["warning"].as_str().unwrap().contains("the parent stays until"), "{created}");
    let short = world.shop("brief", &json!({"parent": "base", "initialLeaseDuration": 60_000}));
    let created = world.admin.post("/v2/clusters", &short).ok();
    assert!(created.get("warning").is_none(), "{created}");
}

#[test]
fn a_foundation_is_the_last_ancestor_of_all_later_clusters() {
    let world = World::new(&[]);
    assert_eq!(world.admin.get("/v2/foundation").ok()["cluster"], Value::Null);
    let named = world.admin.put("/v2/foundation", &json!({"cluster": "base"})).ok();
    assert_eq!((&named["cluster"], &named["name"]), (&json!(world.base), &json!("base")));
    let id = world.admin.create(&world.shop("shop", &json!({})));
    let details = world.admin.active(&id, LIMIT);
    assert_eq!((&details["foundation"], details.get("parent")), (&json!(world.base), None));
    assert_eq!(world.told(&id).unwrap(), world.resolvers());
    assert_eq!(world.admin.delete(&format!("/v2/clusters/{}", world.base)).status, 409);
    world.resize_dns(1);
    world.in_step(&id);
    world.admin.put("/v2/foundation", &json!({"cluster": null})).ok();
    let alone = world.admin.post("/v2/clusters?strict=true", &world.shop("late", &json!({})));
    assert_eq!(alone.status, 422, "{}", alone.body);
    assert_eq!(world.admin.put("/v2/foundation", &json!({"cluster": "nobody"})).status, 404);
}

#[test]
fn another_tenant_s_cluster_is_no_parent() {
    let world = World::new(&["auth.mode=headers"]);
    let as_user = |user: &'static str, tenant: &'static str| {
        Client::with_headers(&world.server.base(), &[("Coopr-UserID", user), ("Coopr-TenantID", tenant)])
    };
    world.admin.post("/v2/tenants", &json!({"tenant": {"name": "other", "workers": 1}})).ok();
    let stranger = as_user("admin", "other");
    apply(&stranger, &catalog());
    let user = as_user("ann", "superadmin");
    for client in [&stranger, &user] {
        for parent in [world.base.as_str(), "base", "00009999", "nobody"] {
            let refused = client.post("/v2/clusters", &world.shop("shop", &json!({"parent": parent})));
            let gone = client.post("/v2/clusters", &world.shop("shop", &json!({"parent": "00009999"})));
            assert_eq!((refused.status, gone.status), (404, 404), "{parent}: {}", refused.body);
        }
        assert_eq!(client.get(&format!("/v2/clusters/{}/children", world.base)).status, 404);
    }
    assert_eq!(stranger.put("/v2/foundation", &json!({"cluster": world.base})).status, 404);
    assert_eq!(user.put("/v2/foundation", &json!({"cluster": null})).status, 403);
    world.admin.put("/v2/foundation", &json!({"cluster": "base"})).ok();
    assert_eq!(stranger.get("/v2/foundation").ok()["cluster"], Value::Null);
}
