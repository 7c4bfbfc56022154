//! Runs of many seeds with the whole server.

use cooperage_simulation::campaign::{Campaign, Level, bounds};
use cooperage_simulation::plan::Plan;
use cooperage_simulation::server;

#[test]
fn no_seed_breaks_an_invariant_of_the_server() {
    let (first, seeds, time) = bounds(500);
    let report = Campaign { first, seeds, time, level: Level::Server, threads: 2 }.run();
    println!("{report}");
    assert!(report.failure.is_none());
}

#[test]
fn a_run_of_the_server_is_the_same_every_time() {
    for seed in 0..6 {
        let plan = Plan::draw(seed);
        assert_eq!(server::run(&plan), server::run(&plan), "seed {seed}");
    }
}
