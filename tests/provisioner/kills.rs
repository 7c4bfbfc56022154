//! Provisioners and servers that are killed while tasks run.

use cooperage_plugins::simulated::Scenario;

use crate::lab::wait_for;
use crate::process::{LIMIT, Provisioner, create, end_runs, server, until_brings, want_workers, workers};
use crate::world::World;

/// Tasks that take so long that something can happen meanwhile.
fn slow() -> Scenario {
    Scenario { shortest_ms: 3_000, longest_ms: 4_000, ..Scenario::default() }
}

#[test]
fn what_a_provisioner_took_to_its_grave_is_done_by_another_one() {
    let world = World::new();
    let server = server(&world, &["jobs.task_timeout_seconds=4", "provisioners.silence_seconds=3"]);
    let client = server.admin();
    let mut one = Provisioner::start("one", &server, &world, 4);
    want_workers(&client, 4);
    until_brings(&client, "one", 4);
    world.play(&Scenario { shortest_ms: 3_600_000, longest_ms: 3_600_000, ..Scenario::default() });
    let id = create(&client, "shop", 2);
    wait_for("both begin", LIMIT, || (world.log_length() >= 2).then_some(()));

    one.kill();
    // The machine dies with it, and with the machine what it was doing.
    end_runs(world.path());
    assert!(workers(&client, &id).iter().all(|(_, _, worker)| worker.starts_with("one.superadmin-")));
    world.play(&Scenario::default());
    let _two = Provisioner::start("two", &server, &world, 4);
    client.active(&id, LIMIT);
    let done = workers(&client, &id);
    let again: Vec<_> = done.iter().filter(|(_, attempt, _)| *attempt == 2).collect();
    assert_eq!(again.len(), 2, "{done:?}");
    assert!(again.iter().all(|(_, _, worker)| worker.starts_with("two.")), "{again:?}");
    world.check_executions();
}

#[test]
fn a_provisioner_that_comes_back_takes_up_what_it_had() {
    let world = World::new();
    let server = server(&world, &[]);
    let client = server.admin();
    let mut one = Provisioner::start("one", &server, &world, 4);
    want_workers(&client, 4);
    until_brings(&client, "one", 4);
    world.play(&slow());
    let id = create(&client, "shop", 2);
    wait_for("both begin", LIMIT, || (world.log_length() >= 2).then_some(()));
    one.kill();
    world.play(&Scenario::default());
    one.run();
    client.active(&id, LIMIT);
    world.check_executions();
    assert!(workers(&client, &id).iter().all(|(_, attempt, _)| *attempt == 1), "nothing was tried again");
    let plans = client.get(&format!("/v2/clusters/{id}/plans")).ok();
    world.check_plans(plans.as_array().unwrap());
}

#[test]
fn tasks_go_on_while_the_server_is_away_and_their_reports_arrive_when_it_is_back() {
    let world = World::new();
    let mut server = server(&world, &[]);
    let client = server.admin();
    let _one = Provisioner::start("one", &server, &world, 3);
    let _two = Provisioner::start("two", &server, &world, 3);
    want_workers(&client, 6);
    until_brings(&client, "one", 3);
    until_brings(&client, "two", 3);
    world.play(&Scenario { shortest_ms: 20, longest_ms: 900, ..Scenario::default() });
    let id = create(&client, "shop", 6);
    // Killed again and again, at times with tasks on their way in both directions.
    for round in 1..=5 {
        wait_for("some more work", LIMIT, || (world.log_length() >= 10 * round).then_some(()));
        server.kill();
        std::thread::sleep(std::time::Duration::from_millis(150 * u64::try_from(round).unwrap()));
        server.run();
    }
    client.active(&id, LIMIT);
    world.check_executions();
    let plans = client.get(&format!("/v2/clusters/{id}/plans")).ok();
    world.check_plans(plans.as_array().unwrap());
    assert!(workers(&client, &id).iter().all(|(_, attempt, _)| *attempt == 1), "nothing was tried again");
    client.delete_cluster(&id, LIMIT);
    assert!(world.machines().is_empty());
}
