//! A script that fails, is repaired, and is taken up again.

use serde_json::{Value, json};

use crate::lab::{Client, apply, upload};
use crate::machines::{LIMIT, Machines};

const FAILING: &str = "#!/bin/sh\necho \"looking for the part on $NODE_HOSTNAME\"\n\
    for n in 1 2 3; do echo \"reason $n\" >&2; done\nexit 42\n";
const REPAIRED: &str = "#!/bin/sh\necho \"installed by attempt $ATTEMPT\" >>/root/installed\n";

#[test]
fn what_a_failed_script_said_is_seen_and_after_its_repair_a_retry_completes_the_cluster() {
    let settings = ["jobs.retry_delay_ms=50", "jobs.max_retry_delay_ms=50"];
    let Some(machines) = Machines::start(&["base"], &settings) else { return };
    let admin = machines.server.admin();
    apply(&admin, &catalog());
    upload(&admin, "part.sh", FAILING.as_bytes());
    let id = admin.create(&json!({"name": "part", "clusterTemplate": "part", "numMachines": 2}));

    assert_eq!(admin.settled(&id, LIMIT), "incomplete");
    let cluster = admin.cluster(&id);
    assert_eq!(cluster["progress"]["actionstatus"], "failed");
    let message = cluster["message"].as_str().unwrap();
    assert!(message.contains("INSTALL part failed on") && message.contains("3 attempts"), "{message}");
    see_the_failure(&admin, &id, &cluster);
    let before = machines.nodes();
    assert_eq!(before.len(), 2, "the machines are kept");

    upload(&admin, "part.sh", REPAIRED.as_bytes());
    admin.post_bytes(&format!("/v2/clusters/{id}/retry"), b"").ok();
    let cluster = admin.active(&id, LIMIT);
    assert_eq!(machines.nodes(), before, "the same machines");
    for node in cluster["nodes"].as_array().unwrap() {
        assert_eq!(machines.run(node, "cat /root/installed").unwrap(), "installed by attempt 1");
        assert_eq!(node["status"], "ready");
    }
    admin.delete_cluster(&id, LIMIT);
    assert_eq!(machines.nodes(), [""; 0]);
}

/// At the node and in the logs.
fn see_the_failure(admin: &Client, id: &str, cluster: &Value) {
    let nodes = cluster["nodes"].as_array().unwrap();
    // The other node's attempts end with the job, however many it had.
    let message = cluster["message"].as_str().unwrap();
    let named = |node: &&Value| message.contains(node["properties"]["hostname"].as_str().unwrap());
    let given_up = nodes.iter().find(named).unwrap();
    assert_eq!(given_up["status"], "failed");
    let actions = given_up["actions"].as_array().unwrap();
    let failed: Vec<&Value> = actions.iter().filter(|action| action["status"] == "failed").collect();
    assert_eq!(failed.len(), 3, "{actions:#?}");
    for action in &failed {
        assert_eq!((&action["service"], &action["action"]), (&json!("part"), &json!("INSTALL")));
        let stderr = action["stderr"].as_str().unwrap();
        assert!(stderr.starts_with("reason 1\nreason 2\nreason 3\n"), "{stderr}");
        assert!(stderr.contains("42"), "{stderr}");
        assert!(action["stdout"].as_str().unwrap().contains("looking for the part on"));
    }
    let task = failed[0]["taskId"].as_str().unwrap();
    let logs = admin.get(&format!("/v2/clusters/{id}/logs?task={task}")).ok();
    let lines = logs["lines"].as_array().unwrap();
    let errors: Vec<&Value> = lines
        .iter()
        .filter(|line| line["attempt"] == 1 && line["stream"] == "stderr")
        .map(|line| &line["text"])
        .collect();
    assert_eq!(errors, ["reason 1", "reason 2", "reason 3"]);
    let all = admin.get(&format!("/v2/clusters/{id}/logs")).ok();
    assert!(all["lines"].as_array().unwrap().len() >= lines.len());
}

fn catalog() -> Value {
    json!([
        {"kind": "service", "name": "part", "dependencies": {"provides": [], "conflicts": []},
         "provisioner": {"actions": {"install": {"type": "shell", "fields": {"script": "part.sh", "args": "install"}}}}},
        {"kind": "clustertemplate", "name": "part",
         "defaults": {"services": ["part"], "provider": "local", "hardwaretype": "small", "imagetype": "debian-12"},
         "compatibility": {"hardwaretypes": ["small"], "imagetypes": ["debian-12"], "services": ["part"]},
         "constraints": {"layout": {}, "services": {}, "size": {"min": 1, "max": 3}}},
    ])
}
