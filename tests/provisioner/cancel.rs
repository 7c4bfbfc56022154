//! What comes from tasks while they run, and what they are told.

use cooperage_plugins::simulated::Scenario;
use serde_json::{Value, json};

use crate::lab::{Client, wait_for};
use crate::process::{LIMIT, Provisioner, create, server, until_brings, want_workers, workers};
use crate::world::World;

#[test]
fn an_attempt_the_server_gave_up_is_stopped_where_it_runs() {
    let world = World::new();
    let server = server(&world, &["jobs.task_timeout_seconds=2", "jobs.max_attempts=1"]);
    let client = server.admin();
    let one = Provisioner::start("one", &server, &world, 2);
    want_workers(&client, 2);
    until_brings(&client, "one", 2);
    world.play(&Scenario { shortest_ms: 3_600_000, longest_ms: 3_600_000, ..Scenario::default() });
    let id = create(&client, "slow", 2);
    assert_eq!(client.settled(&id, LIMIT), "incomplete");
    let killed = || world.log().iter().filter(|line| line.what == "killed").count() == 2;
    wait_for("the end of what was begun", LIMIT, || killed().then_some(()));
    one.until_logged("a report is not wanted any more", 2);

    // Its slots are free again.
    world.play(&Scenario::default());
    client.delete_cluster(&id, LIMIT);
    world.check_executions();
}

/// Texts of the lines of a cluster's tasks.
fn lines(client: &Client, id: &str) -> Vec<Value> {
    client.get(&format!("/v2/clusters/{id}/logs")).ok()["lines"].as_array().unwrap().clone()
}

#[test]
fn what_tasks_print_is_in_the_logs_once_whatever_happens_on_the_way() {
    let world = World::new();
    let mut server = server(&world, &[]);
    let client = server.admin();
    let _one = Provisioner::start("one", &server, &world, 4);
    want_workers(&client, 4);
    until_brings(&client, "one", 4);
    let id = create(&client, "shop", 2);
    client.active(&id, LIMIT);
    let tasks = workers(&client, &id).len();
    let done = || {
        let found = lines(&client, &id);
        let texts = found.iter().filter(|line| line["text"].as_str().unwrap().ends_with("is done"));
        (texts.count() >= tasks).then_some(found)
    };
    let found = wait_for("a line of each task", LIMIT, done);
    assert_eq!(found.len(), tasks, "{found:#?}");
    assert!(found.iter().all(|line| line["stream"] == "stdout" && line["attempt"] == 1));
    server.kill();
    server.run();
    assert_eq!(lines(&client, &id), found);
}

#[test]
fn lines_that_come_twice_are_kept_once_and_nobody_else_may_add_any() {
    let world = World::new();
    let server = server(&world, &[]);
    let client = server.admin();
    let tasks = Client::with_headers(&server.tasks_base(), &[]);
    let registration = json!({"id": "me", "host": "127.0.0.1", "port": 1, "capacityTotal": 1,
        "extensions": ["take-batch", "output", "telepathy"]});
    let granted = tasks.put("/v2/provisioners/me", &registration).ok();
    assert_eq!(granted, json!({"extensions": ["take-batch", "output"]}));
    let id = create(&client, "shop", 2);
    let batch =
        json!({"provisionerId": "me", "tenantId": "superadmin", "workerIds": ["w"], "waitSeconds": 20});
    let taken = tasks.post("/v2/tasks/take/batch", &batch).ok();
    let task = &taken["tasks"][0]["task"]["taskId"];
    let send = |worker: &str, first: u64, texts: &[&str]| {
        let lines: Vec<Value> = texts.iter().map(|text| json!({"stream": "stdout", "text": text})).collect();
        let part = json!({"taskId": task, "attempt": 1, "workerId": worker, "first": first, "lines": lines});
        tasks.post("/v2/tasks/output", &json!({"provisionerId": "me", "outputs": [part]})).ok()["taken"]
            .clone()
    };
    assert_eq!(send("w", 0, &["a", "b"]), json!([{"taskId": task, "attempt": 1, "next": 2}]));
    assert_eq!(send("w", 1, &["b", "c"]), json!([{"taskId": task, "attempt": 1, "next": 3}]));
    assert_eq!(send("w", 0, &["a"]), json!([{"taskId": task, "attempt": 1, "next": 3}]));
    assert_eq!(send("other", 3, &["d"]), json!([]));
    wait_for("three lines", LIMIT, || (lines(&client, &id).len() >= 3).then_some(()));
    let texts: Vec<_> = lines(&client, &id).iter().map(|line| line["text"].clone()).collect();
    assert_eq!(texts, ["a", "b", "c"]);
}
