//! Servers that do not know a provisioner any more.

use cooperage_plugins::simulated::Scenario;

use crate::lab::{apply, wait_for};
use crate::process::{LIMIT, Provisioner, create, known, server, until_brings, want_workers};
use crate::world::{World, catalog};

#[test]
fn a_server_that_forgot_it_learns_of_it_again() {
    let world = World::new();
    let server = server(&world, &[]);
    let client = server.admin();
    let one = Provisioner::start("one", &server, &world, 2);
    want_workers(&client, 2);
    until_brings(&client, "one", 2);
    world.play(&Scenario { shortest_ms: 1_500, longest_ms: 1_500, ..Scenario::default() });
    let id = create(&client, "shop", 2);
    wait_for("both begin", LIMIT, || (world.log_length() >= 2).then_some(()));
    // As when it was silent for too long.
    let tasks = crate::lab::Client::with_headers(&server.tasks_base(), &[]);
    tasks.delete("/v2/provisioners/one").ok();
    one.until_logged("does not know this provisioner", 1);
    until_brings(&client, "one", 2);
    client.active(&id, LIMIT);
    world.check_executions();
}

#[test]
fn a_server_that_begins_anew_learns_of_it_and_what_it_does_not_know_is_stopped() {
    let world = World::new();
    let mut server = server(&world, &[]);
    let client = server.admin();
    let one = Provisioner::start("one", &server, &world, 2);
    want_workers(&client, 2);
    until_brings(&client, "one", 2);
    world.play(&Scenario { shortest_ms: 3_600_000, longest_ms: 3_600_000, ..Scenario::default() });
    create(&client, "lost", 2);
    wait_for("both begin", LIMIT, || (world.log_length() >= 2).then_some(()));

    server.kill();
    std::fs::remove_dir_all(server.data_dir()).unwrap();
    server.run();
    let client = server.admin();
    wait_for("its return", LIMIT, || known(&client, "one"));
    one.until_logged("a task is cancelled", 2);
    world.play(&Scenario::default());
    let killed = || world.log().iter().filter(|line| line.what == "killed").count() == 2;
    wait_for("the end of what nobody knows", LIMIT, || killed().then_some(()));

    apply(&client, &catalog());
    // Clusters of the new server have the numbers of the old one's: another world is for them.
    std::fs::remove_dir_all(world.path().join("runs")).unwrap();
    std::fs::remove_file(world.path().join("log")).unwrap();
    want_workers(&client, 2);
    let id = create(&client, "shop", 2);
    client.active(&id, LIMIT);
    world.check_executions();
}
