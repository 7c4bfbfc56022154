//! The shapes of answers about clusters: Coopr's fields, with ours beside them.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::catalog::catalog;
use crate::lab::{Server, apply};

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn a_cluster_is_shown_in_coopr_s_shapes() {
    let world = tempfile::tempdir().unwrap();
    let server = Server::start(&[format!("simulation.dir={}", world.path().display())]);
    let admin = server.admin();
    apply(&admin, &catalog());
    let id =
        admin.create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": "3", "unknown": 1}));
    assert_eq!(id, "00000001");
    let details = admin.active(&id, LIMIT);
    summary(&admin.get("/v2/clusters?status=ACTIVE,nonsense").ok()[0]);
    assert_eq!(admin.get("/v2/clusters?status=terminated").ok(), json!([]));
    assert_eq!(admin.get("/v2/clusters?status=nonsense").ok().as_array().unwrap().len(), 1);
    assert_details(&details);
    nodes(details["nodes"].as_array().unwrap());
    let status = admin.get(&format!("/v2/clusters/{id}/status")).ok();
    let expected = json!({"clusterid": id, "stepstotal": 13, "stepscompleted": 13, "status": "active",
        "actionstatus": "complete", "action": "cluster_create"});
    assert_eq!(status, expected);
    assert_eq!(sorted(&admin.get(&format!("/v2/clusters/{id}/services")).ok()), ["web", "worker"]);
    assert_eq!(admin.get(&format!("/v2/clusters/{id}/config")).ok(), json!({"web": {"port": 80}}));

    let all = admin.get(&format!("/v2/clusters/{id}/plans")).ok();
    let one = admin.get(&format!("/v2/clusters/{id}/plans/{id}-002")).ok();
    assert_eq!(all[0]["id"], one["id"]);
    plan(&one, &details);
    assert_eq!((&all[1]["action"], &all[1]["stages"]), (&json!("SOLVE_LAYOUT"), &json!([])));

    admin.delete_cluster(&id, LIMIT);
    admin.delete(&format!("/v2/clusters/{id}")).ok();
    let gone = admin.get("/v2/clusters").ok()[0].clone();
    assert_eq!(
        (&gone["status"], &gone["progress"]["action"]),
        (&json!("terminated"), &json!("cluster_delete"))
    );
}

/// One line of the list.
fn summary(summary: &Value) {
    let times = ["createTime", "expireTime"].map(|key| summary[key].as_i64().unwrap());
    assert_eq!(times[1] - times[0], 3_600_000, "the template's lease");
    let mut rest = summary.clone();
    assert!(rest["expiresIn"].as_i64().unwrap() <= 3_600_000);
    rest.as_object_mut().unwrap().retain(|key, _| !key.ends_with("Time") && key != "expiresIn");
    let expected = json!({
        "expiring": false, "expiryWarned": false,
        "id": "00000001", "name": "farm", "description": "", "ownerId": "admin", "numNodes": 3, "status": "active",
        "machines": {"small": 3},
        "provider": {"name": "sim", "description": "Simulated", "version": 1},
        "clusterTemplate": {"name": "farm", "description": "Web tier", "version": 1},
        "services": ["web", "worker"],
        "progress": {"action": "cluster_create", "actionstatus": "complete", "stepstotal": 13, "stepscompleted": 13},
    });
    assert_eq!(rest, expected);
}

fn assert_details(details: &Value) {
    assert_eq!(details["account"], json!({"userId": "admin", "tenantId": "superadmin"}));
    assert_eq!(details["description"], "");
    assert_eq!(details["provider"]["providertype"], "simulated");
    assert_eq!(details["provider"]["provisioner"], json!({"account": "lab"}));
    assert_eq!(details["clusterTemplate"]["constraints"]["size"], json!({"min": 2, "max": 9}));
    assert_eq!(details["latestJobId"], "00000001-002");
    let web = host_of(details, "web");
    assert_eq!(details["links"], json!([{"label": "site", "url": format!("http://{web}/")}]));
    assert!(details.get("message").is_none(), "{}", details["message"]);
}

fn nodes(nodes: &[Value]) {
    let numbers: BTreeSet<u64> =
        nodes.iter().map(|node| node["properties"]["nodenum"].as_u64().unwrap()).collect();
    assert_eq!(numbers, BTreeSet::from([1000, 1001, 1002]));
    for node in nodes {
        let properties = &node["properties"];
        assert_eq!(node["clusterId"], "00000001");
        let named = [
            ("hardwaretype", "small"),
            ("imagetype", "plain"),
            ("flavor", "tiny"),
            ("image", "img-1"),
            ("sshuser", "root"),
        ];
        for (key, value) in named {
            assert_eq!(properties[key], value);
        }
        assert_eq!(properties["hostname"], format!("farm1-{}.lab.example.com", properties["nodenum"]));
        assert_eq!(properties["automators"], json!(["simulated"]));
        assert!(properties["ipaddresses"]["access_v4"].is_string());
        let service = &node["services"][0];
        assert_eq!(sorted(&properties["services"]), [service["name"].as_str().unwrap()]);
        assert_eq!(service["version"], 1);
        let first = &node["actions"][0];
        assert_eq!(
            (&first["service"], &first["action"], &first["status"]),
            (&json!(""), &json!("CREATE"), &json!("complete"))
        );
        assert!(first["taskId"].as_str().unwrap().starts_with("00000001-002-"));
        assert!(first["submitTime"].as_i64().unwrap() <= first["statusTime"].as_i64().unwrap());
        assert!(first.get("stderr").is_none());
        let last = node["actions"].as_array().unwrap().last().unwrap();
        assert_eq!(last["service"], service["name"]);
        assert!(node["provisionerResults"]["providerid"].as_str().unwrap().starts_with("simulated-"));
    }
    let web = nodes.iter().find(|node| node["services"][0]["name"] == "web").unwrap();
    let address = web["properties"]["ipaddresses"]["access_v4"].as_str().unwrap();
    assert_eq!(web["links"], json!([{"label": "console", "url": format!("http://{address}:8001")}]));
}

/// Stages are Coopr's; tasks, their order and the critical path are ours.
fn plan(plan: &Value, details: &Value) {
    for (key, value) in [("clusterId", "00000001"), ("action", "CLUSTER_CREATE"), ("status", "complete")] {
        assert_eq!(plan[key], value);
    }
    let stages = plan["stages"].as_array().unwrap();
    let staged: Vec<&Value> = stages.iter().flat_map(|stage| stage.as_array().unwrap()).collect();
    assert_eq!(staged.len(), 13);
    assert_eq!(plan["currentStage"], stages.len() - 1);
    let names: BTreeSet<&str> =
        stages[0].as_array().unwrap().iter().map(|task| task["taskName"].as_str().unwrap()).collect();
    assert_eq!(names, BTreeSet::from(["CREATE"]));
    assert_eq!(stages[0].as_array().unwrap().len(), 3);
    let fields: Vec<&String> = staged[0].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["id", "taskName", "nodeId", "service"]);
    let last = stages.last().unwrap();
    assert_eq!((&last[0]["taskName"], &last[0]["service"]), (&json!("START"), &json!("web")));
    let tasks = plan["tasks"].as_array().unwrap();
    let ids = |tasks: Vec<&Value>| tasks.iter().map(|task| task["id"].to_string()).collect::<BTreeSet<_>>();
    assert_eq!(ids(tasks.iter().collect()), ids(staged));
    assert!(tasks.iter().all(|task| task["status"] == "done" && task["attempts"][0]["code"] == 0));
    let path = plan["criticalPath"].as_array().unwrap();
    // Which one it is depends on how long tasks took; it leads from the beginning to an end.
    let after = |id: &Value| &tasks.iter().find(|task| task["id"] == *id).unwrap()["after"];
    let waits = |task: &Value, id: &Value| task.as_array().unwrap().contains(id);
    assert_eq!(after(path.first().unwrap()), &json!([]));
    assert!(path.windows(2).all(|pair| waits(after(&pair[1]), &pair[0])), "{path:?}");
    assert!(!tasks.iter().any(|task| waits(&task["after"], path.last().unwrap())), "{path:?}");
    let known: BTreeSet<&str> =
        details["nodes"].as_array().unwrap().iter().map(|node| node["id"].as_str().unwrap()).collect();
    assert!(tasks.iter().all(|task| known.contains(task["nodeId"].as_str().unwrap())));
}

fn host_of<'a>(details: &'a Value, service: &str) -> &'a str {
    let nodes = details["nodes"].as_array().unwrap();
    let node = nodes.iter().find(|node| node["services"][0]["name"] == service).unwrap();
    node["properties"]["hostname"].as_str().unwrap()
}

fn sorted(names: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = names.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    names.sort_unstable();
    names
}
