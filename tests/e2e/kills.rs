//! The server is killed while real machines are made and deleted.

use std::time::Duration;

use serde_json::{Value, json};

use crate::check;
use crate::lab::wait_for;
use crate::machines::{LIMIT, Machines};

#[test]
fn killed_three_times_a_cluster_still_comes_up_and_goes_and_the_next_one_too() {
    let Some(mut machines) = Machines::start(&["base", "etcd"], &[]) else { return };
    let request = json!({"name": "etcd", "clusterTemplate": "etcd", "numMachines": 3});
    let id = machines.server.admin().create(&request);
    // While machines are made, while packages come, and while members look for each other.
    for done in [1, 10, 20] {
        kill_when_done(&mut machines, &id, done);
    }
    let cluster = machines.server.admin().active(&id, LIMIT);
    assert_each_attempt_is_the_first(&machines, &id);
    check::etcd(&machines, &cluster);

    machines.server.admin().delete(&format!("/v2/clusters/{id}")).ok();
    for done in [0, 1, 2] {
        kill_when_done(&mut machines, &id, done);
    }
    assert_eq!(machines.server.admin().settled(&id, LIMIT), "terminated");
    assert_eq!(machines.nodes(), [""; 0]);
    assert_eq!(machines.footprint.now(), [""; 0]);

    let admin = machines.server.admin();
    let again = admin.create(&request);
    admin.active(&again, LIMIT);
    admin.delete_cluster(&again, LIMIT);
    assert_eq!(machines.nodes(), [""; 0]);
}

/// Kills the server when so many tasks are done and some run, or the job has ended, and starts it again.
fn kill_when_done(machines: &mut Machines, id: &str, done: u64) {
    let admin = machines.server.admin();
    wait_for("the moment to kill", LIMIT, || {
        let status = admin.get(&format!("/v2/clusters/{id}/status")).ok();
        (status["stepscompleted"].as_u64() >= Some(done) || status["status"] != "pending").then_some(())
    });
    machines.server.kill();
    // What the machines do meanwhile goes on without a server.
    std::thread::sleep(Duration::from_millis(300));
    machines.server.run();
}

/// A kill is no failure: nothing was given up and tried again because of it.
fn assert_each_attempt_is_the_first(machines: &Machines, id: &str) {
    let plans = machines.server.admin().get(&format!("/v2/clusters/{id}/plans")).ok();
    let tasks = plans[0]["tasks"].as_array().unwrap();
    let again: Vec<&Value> =
        tasks.iter().filter(|task| task["attempts"].as_array().unwrap().len() != 1).collect();
    assert!(again.is_empty(), "{again:#?}");
}
