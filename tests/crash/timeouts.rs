//! Attempts whose time runs out, on servers that are killed meanwhile.

use std::time::Duration;

use cooperage_domain::task::TaskName;
use cooperage_plugins::simulated::Scenario;
use serde_json::json;

use crate::lab::{Server, apply, wait_for};
use crate::world::{World, catalog};

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn an_attempt_that_takes_too_long_is_ended_even_if_the_server_was_killed_in_between() {
    let world = World::new();
    let settings = [
        format!("simulation.dir={}", world.path().display()),
        "jobs.task_timeout_seconds=2".to_owned(),
        "jobs.max_attempts=1".to_owned(),
    ];
    let mut server = Server::start(&settings);
    apply(&server.admin(), &catalog());
    world.play(&Scenario { shortest_ms: 3_600_000, longest_ms: 3_600_000, ..Scenario::default() });
    let request = json!({"name": "slow", "clusterTemplate": "sim", "numMachines": 2});
    let id = server.admin().create(&request);
    wait_for("both machines' begin", LIMIT, || (world.log_length() >= 2).then_some(()));
    server.kill();
    server.run();
    assert_eq!(server.admin().settled(&id, LIMIT), "incomplete");
    let killed = || world.log().iter().filter(|line| line.what == "killed").count();
    wait_for("the end of what was begun", LIMIT, || (killed() == 2).then_some(()));
    assert!(world.log().iter().all(|line| line.name == TaskName::Create.as_str()));

    world.play(&Scenario::default());
    server.admin().delete_cluster(&id, LIMIT);
    assert!(world.machines().is_empty());
    world.check_executions();
}
