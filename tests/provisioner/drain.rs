//! Provisioners that are told to stop, or to be larger or smaller.

use std::time::{Duration, Instant};

use cooperage_plugins::simulated::Scenario;

use crate::lab::wait_for;
use crate::process::{LIMIT, Provisioner, create, known, server, until_brings, want_workers, workers};
use crate::world::World;

#[test]
fn told_to_stop_it_finishes_what_runs_takes_no_more_and_leaves() {
    let world = World::new();
    let server = server(&world, &[]);
    let client = server.admin();
    let mut one = Provisioner::start("one", &server, &world, 2);
    want_workers(&client, 2);
    until_brings(&client, "one", 2);
    world.play(&Scenario { shortest_ms: 2_000, longest_ms: 2_000, ..Scenario::default() });
    let id = create(&client, "shop", 4);
    wait_for("two begin", LIMIT, || (world.log_length() >= 2).then_some(()));

    one.signal("TERM");
    wait_for("word of it", LIMIT, || {
        known(&client, "one").is_some_and(|one| one["draining"] == true).then_some(())
    });
    let status = one.end();
    assert_eq!(status.code(), Some(0), "{}", one.log());
    assert!(known(&client, "one").is_none(), "it is still registered");
    let done = workers(&client, &id);
    assert_eq!(done.len(), 2, "it took more: {done:?}");
    let ended = world.log().iter().filter(|line| line.what == "end").count();
    assert_eq!(ended, 2, "it left before its tasks were done");

    // What is left is for whoever comes.
    world.play(&Scenario::default());
    let _two = Provisioner::start("two", &server, &world, 2);
    client.active(&id, LIMIT);
    assert!(workers(&client, &id).iter().all(|(_, attempt, _)| *attempt == 1));
    world.check_executions();
}

#[test]
fn one_without_tasks_leaves_at_once_although_it_waits_for_some() {
    let world = World::new();
    let server = server(&world, &[]);
    let client = server.admin();
    let mut one = Provisioner::start("one", &server, &world, 2);
    want_workers(&client, 2);
    until_brings(&client, "one", 2);
    let told = Instant::now();
    one.signal("TERM");
    assert_eq!(one.end().code(), Some(0));
    // Far less than its request for tasks would have waited.
    assert!(told.elapsed() < Duration::from_secs(15), "{:?}", told.elapsed());
    assert!(known(&client, "one").is_none());
}

#[test]
fn when_the_time_to_finish_is_over_or_it_is_told_again_it_goes_without() {
    let world = World::new();
    let server = server(&world, &[]);
    let client = server.admin();
    let brief = ["provisioner.drain_timeout_seconds=1"];
    let mut one = Provisioner::with_settings("one", &server, &world, 1, &brief);
    let mut two = Provisioner::start("two", &server, &world, 1);
    want_workers(&client, 2);
    until_brings(&client, "one", 1);
    until_brings(&client, "two", 1);
    world.play(&Scenario { shortest_ms: 8_000, longest_ms: 8_000, ..Scenario::default() });
    let id = create(&client, "shop", 2);
    wait_for("both begin", LIMIT, || (world.log_length() >= 2).then_some(()));
    one.signal("TERM");
    assert_eq!(one.end().code(), Some(1));
    assert!(one.log().contains("left behind"));
    two.signal("TERM");
    two.until_logged("no more tasks are taken", 1);
    two.signal("TERM");
    assert_eq!(two.end().code(), Some(1));

    // They come back and take up what they left.
    world.play(&Scenario::default());
    one.run();
    two.run();
    client.active(&id, LIMIT);
    assert!(workers(&client, &id).iter().all(|(_, attempt, _)| *attempt == 1));
    world.check_executions();
}

#[test]
fn its_capacity_changes_with_its_settings_while_it_runs() {
    let world = World::new();
    let server = server(&world, &[]);
    let client = server.admin();
    let one = Provisioner::start("one", &server, &world, 2);
    want_workers(&client, 2);
    until_brings(&client, "one", 2);
    one.set_capacity(6);
    one.signal("HUP");
    wait_for("the larger capacity", LIMIT, || (known(&client, "one")?["capacityTotal"] == 6).then_some(()));
    want_workers(&client, 6);
    until_brings(&client, "one", 6);
    one.set_capacity(1);
    one.signal("HUP");
    until_brings(&client, "one", 1);
    let id = create(&client, "shop", 2);
    client.active(&id, LIMIT);
    let used: std::collections::BTreeSet<_> =
        workers(&client, &id).into_iter().map(|(_, _, worker)| worker).collect();
    assert_eq!(used.len(), 1, "{used:?}");
}
