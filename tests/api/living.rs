//! Operations on clusters that live, over REST: what they do, and what is said to bad input.

use std::time::Duration;

use serde_json::{Value, json};

use crate::catalog::catalog;
use crate::lab::{Answer, Client, Server, apply};

const LIMIT: Duration = Duration::from_secs(60);

struct World {
    _machines: tempfile::TempDir,
    _server: Server,
    admin: Client,
    id: String,
}

impl World {
    fn new() -> Self {
        let machines = tempfile::tempdir().unwrap();
        let server = Server::start(&[
            format!("simulation.dir={}", machines.path().display()),
            "limits.max_cluster_size=20".to_owned(),
        ]);
        let admin = server.admin();
        apply(&admin, &catalog());
        let id = admin.create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": 3}));
        admin.active(&id, LIMIT);
        Self { _machines: machines, _server: server, admin, id }
    }

    fn ask(&self, what: &str, body: &Value) -> Answer {
        self.admin.post(&format!("/v2/clusters/{}/{what}", self.id), body)
    }

    fn done(&self, what: &str, body: &Value) -> Value {
        self.ask(what, body).ok();
        self.admin.active(&self.id, LIMIT)
    }

    fn nodes(&self) -> usize {
        self.admin.cluster(&self.id)["nodes"].as_array().unwrap().len()
    }
}

#[test]
fn a_cluster_grows_and_shrinks_and_its_list_and_usage_follow() {
    let world = World::new();
    assert_eq!(world.done("resize", &json!({"machines": 5}))["nodes"].as_array().unwrap().len(), 5);
    let shown = world.ask("resize?dryRun=true", &json!({"machines": 4})).ok();
    assert_eq!(world.nodes(), 5, "{shown:#}");
    let gone = world.admin.cluster(&world.id)["nodes"][1]["id"].as_str().unwrap().to_owned();
    world.done("resize", &json!({"remove": [gone]}));
    assert_eq!(world.nodes(), 4);
    assert_eq!(world.admin.get(&format!("/v2/nodes/{gone}")).status, 404);
    let listed = world.admin.get("/v2/clusters").ok();
    assert_eq!(listed[0]["numNodes"], 4);
    world.done("rollback", &json!({}));
    assert_eq!(world.nodes(), 5);
}

#[test]
fn what_comes_back_keeps_within_the_quota() {
    let world = World::new();
    let quota = |nodes: u64| {
        let tenant = json!({"tenant": {"name": "superadmin", "workers": 4, "maxNodes": nodes}});
        world.admin.put("/v2/tenants/superadmin", &tenant).ok();
    };
    quota(5);
    world.done("resize", &json!({"machines": 5}));
    world.done("resize", &json!({"machines": 3}));
    let other = world.admin.create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": 2}));
    world.admin.active(&other, LIMIT);
    let refused = world.ask("rollback", &json!({}));
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.body["detail"].as_str().unwrap().contains("quota of 5 nodes"), "{}", refused.body);
    assert_eq!(world.nodes(), 3);
    quota(7);
    assert_eq!(world.done("rollback", &json!({}))["nodes"].as_array().unwrap().len(), 5);
}

#[test]
fn what_runs_is_cancelled_and_undone_or_gives_way_to_a_delete() {
    let world = World::new();
    world.ask("resize", &json!({"machines": 9})).ok();
    world.ask("cancel", &json!({"undo": true})).ok();
    assert_eq!(world.admin.settled(&world.id, LIMIT), "active");
    assert_eq!(world.nodes(), 3);
    world.ask("resize", &json!({"machines": 9})).ok();
    let at = format!("/v2/clusters/{}", world.id);
    assert_eq!(world.admin.delete(&at).status, 409, "as in Coopr");
    world.admin.delete(&format!("{at}?now=true")).ok();
    assert_eq!(world.admin.settled(&world.id, LIMIT), "terminated");
}

#[test]
fn bad_input_is_refused_by_name_and_nothing_happens() {
    let world = World::new();
    let before = world.admin.cluster(&world.id);
    let cases = [
        ("resize", json!({}), 400, "machines"),
        ("resize", json!({"machines": 3, "remove": ["1000"]}), 400, "machines"),
        ("resize", json!({"machines": 99}), 400, "2 to 9"),
        ("resize", json!({"machines": "many"}), 400, "machines"),
        ("resize", json!({"remove": ["nobody"]}), 400, "nobody"),
        ("resize", json!({"services": {"web": 1, "worker": -1}}), 400, "services"),
        ("resize", json!({"services": {"none": 1}}), 400, "none"),
        ("replace", json!({"nodes": []}), 400, "nodes"),
        ("heal", json!({"nodes": ["1999"]}), 400, "1999"),
        ("reconfigure", json!({}), 400, "config"),
        ("reconfigure", json!({"config": {}, "patch": {}}), 400, "config"),
        ("reconfigure", json!({"patch": {"x": "%no.such%"}}), 400, "no.such"),
        ("reconfigure", json!({"patch": {"x": 1}, "rollout": {"pause": -1}}), 400, "rollout.pause"),
        ("reconfigure", json!({"patch": {"x": 1}, "rollout": {"canaries": 1}}), 400, "canaries"),
        ("reconfigure", json!({"nodes": {"1999": {"x": 1}}}), 400, "1999"),
        ("reconfigure", json!({"nodes": {"1001": {"x": "%no.such%"}}}), 400, "no.such"),
        ("reconfigure", json!({"nodes": {"1001": 7}}), 400, "nodes"),
        ("upgrade", json!({"services": {"none": null}}), 400, "none"),
        ("upgrade", json!({"services": {"web": 77}}), 404, "77"),
        ("rollback", json!({}), 409, "revision"),
        ("rollback", json!({"to": 1}), 409, "no nodes"),
        ("services/remove", json!({"services": ["none"]}), 404, "none"),
        ("services/remove", json!({"services": []}), 400, "services"),
        ("services/web/errands/none", json!({}), 400, "errand"),
        ("services/none/errands/none", json!({}), 404, "none"),
    ];
    for (what, body, status, says) in cases {
        let answer = world.ask(what, &body);
        assert_eq!(answer.status, status, "{what} {body}: {:#}", answer.body);
        let text = answer.body.to_string();
        assert!(text.contains(says), "{what} {body}: {says:?} is not in {text}");
    }
    assert_eq!(world.ask("cancel", &json!({})).status, 200, "there is nothing to stop");
    let timeless = |mut cluster: Value| {
        cluster.as_object_mut().unwrap().remove("expiresIn");
        cluster
    };
    assert_eq!(timeless(world.admin.cluster(&world.id)), timeless(before));
    for what in ["resize", "replace", "converge", "cancel"] {
        assert_eq!(world.admin.post(&format!("/v2/clusters/99999999/{what}"), &json!({})).status, 404);
    }
}

#[test]
fn a_node_has_values_of_its_own_and_each_value_says_where_it_comes_from() {
    let world = World::new();
    let values = |query: &str| world.admin.get(&format!("/v2/clusters/{}/values{query}", world.id)).ok();
    let layer = |answer: &Value, path: &str| -> Option<(Value, String)> {
        let found = answer["values"].as_array().unwrap().iter().find(|it| it["path"] == path)?;
        Some((found["value"].clone(), found["layer"].as_str().unwrap().to_owned()))
    };
    let config = world.admin.get(&format!("/v2/clusters/{}/config", world.id)).ok();
    let cluster =
        world.done("reconfigure", &json!({"nodes": {"1001": {"own": {"x": 1, "host": "%host.self%"}}}}));
    let nodes = cluster["nodes"].as_array().unwrap();
    let shown: Vec<&Value> = nodes.iter().filter(|node| node["config"].is_object()).collect();
    assert_eq!(shown.len(), 1, "{cluster:#}");
    assert_eq!(
        (&shown[0]["properties"]["nodenum"], &shown[0]["config"]["own"]["x"]),
        (&json!(1001), &json!(1))
    );
    let own = values("?node=1001");
    assert_eq!(layer(&own, "own.x"), Some((json!(1), "node".to_owned())));
    let host = own["values"].as_array().unwrap().iter().find(|it| it["path"] == "own.host").unwrap();
    assert_eq!(host["expanded"], own["node"]["host"]);
    assert_eq!((&own["config"]["own"]["x"], &own["node"]["number"]), (&json!(1), &json!(1001)));
    assert_eq!(layer(&values("?node=1002"), "own.x"), None);
    assert_eq!(layer(&values(""), "own.x"), None);
    // What Coopr's clients read is as it was.
    assert_eq!(world.admin.get(&format!("/v2/clusters/{}/config", world.id)).ok(), config);
    let name = own["node"]["host"].as_str().unwrap();
    world.done("reconfigure", &json!({"nodes": {name: {"own": null}}}));
    assert_eq!(layer(&values("?node=1001"), "own.x"), None);
    let wrong = world.admin.get(&format!("/v2/clusters/{}/values?node=1999", world.id));
    assert_eq!((wrong.status, &wrong.body["field"]), (400, &json!("node")));
}
