//! Every task that waits says why, and what wakes it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::catalog::catalog;
use crate::lab::{Server, apply, wait_for};

const LIMIT: Duration = Duration::from_secs(60);

fn codes(tasks: &Value) -> Vec<(String, String)> {
    let first = |task: &Value| {
        let code = task["waiting"][0]["code"].as_str().unwrap().to_owned();
        (task["taskName"].as_str().unwrap().to_owned(), code)
    };
    tasks.as_array().unwrap().iter().map(first).collect()
}

#[test]
fn tasks_without_workers_say_so_and_the_others_what_comes_before_them() {
    let world = tempfile::tempdir().unwrap();
    let server =
        Server::start(&[format!("simulation.dir={}", world.path().display()), "workers.local=0".to_owned()]);
    let admin = server.admin();
    apply(&admin, &catalog());
    let id = admin.create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": "3"}));
    let path = format!("/v2/clusters/{id}/waiting");
    let asked = wait_for("tasks to wait for workers", LIMIT, || {
        let answer = admin.get(&path).ok();
        (answer["waiting"].as_array().unwrap().len() == 13).then_some(answer)
    });
    assert_eq!((&asked["status"], &asked["straggling"]), (&json!("running"), &json!([])));
    for (task, code) in codes(&asked["waiting"]) {
        assert_eq!(code, if task == "CREATE" { "no_workers" } else { "predecessor" }, "{task}");
    }
    let tasks = asked["waiting"].as_array().unwrap();
    let of = |name: &str| tasks.iter().find(|task| task["taskName"] == name).unwrap();
    let said = of("CREATE")["waiting"][0]["text"].as_str().unwrap();
    assert!(said.contains("the tenant has 0 workers"), "{said}");
    assert!(of("CREATE")["readySince"].as_i64().is_some() && of("CONFIRM")["readySince"].is_null());
    let confirm = &of("CONFIRM")["waiting"][0];
    assert!(confirm["text"].as_str().unwrap().starts_with("for CREATE on "), "{confirm}");
    let plan = admin.get(&format!("/v2/clusters/{id}/plans/{id}-002")).ok();
    let planned = plan["tasks"].as_array().unwrap().iter();
    let awaited = planned.clone().find(|task| task["id"] == confirm["task"]).unwrap();
    assert_eq!(awaited["taskName"], "CREATE");
    assert!(planned.clone().all(|task| !task["waiting"].as_array().unwrap().is_empty()), "{plan}");

    admin.post(&format!("/v2/clusters/{id}/pause"), &json!({})).ok();
    let paused = admin.get(&path).ok();
    assert!(codes(&paused["waiting"]).iter().all(|(_, code)| code == "job_paused"), "{paused}");
    assert_eq!(admin.get("/v2/clusters/00000099/waiting").status, 404);
}

#[test]
fn limits_are_kept_and_a_job_that_is_done_waits_for_nothing() {
    let world = tempfile::tempdir().unwrap();
    let server = Server::start(&[
        format!("simulation.dir={}", world.path().display()),
        "jobs.max_running_tasks=1".to_owned(),
        "workers.max_running_tasks=1".to_owned(),
    ]);
    let admin = server.admin();
    apply(&admin, &catalog());
    let id = admin.create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": "4"}));
    admin.active(&id, LIMIT);
    let plan = admin.get(&format!("/v2/clusters/{id}/plans/{id}-002")).ok();
    let attempts =
        plan["tasks"].as_array().unwrap().iter().flat_map(|task| task["attempts"].as_array().unwrap());
    let mut times: Vec<(i64, i64)> = attempts
        .map(|attempt| (attempt["startTime"].as_i64().unwrap(), attempt["endTime"].as_i64().unwrap()))
        .collect();
    times.sort_unstable();
    assert!(times.windows(2).all(|pair| pair[0].1 <= pair[1].0), "one after the other: {times:?}");
    assert_eq!(admin.get(&format!("/v2/clusters/{id}/waiting")).ok()["waiting"], json!([]));
    assert!(plan["tasks"].as_array().unwrap().iter().all(|task| task.get("waiting").is_none()));
    admin.delete_cluster(&id, LIMIT);
}
