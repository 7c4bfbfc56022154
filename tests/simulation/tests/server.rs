//! Runs of many seeds with the whole server.

use std::time::Duration;

use cooperage_simulation::campaign::{Campaign, Level};
use cooperage_simulation::plan::Plan;
use cooperage_simulation::server;

#[test]
fn no_seed_breaks_an_invariant_of_the_server() {
    let time = Some(Duration::from_secs(25));
    let campaign = Campaign { first: 0, seeds: Some(500), time, level: Level::Server, threads: 2 };
    let report = campaign.run();
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
