//! Runs of many seeds, as many as there is time for.

use std::time::{Duration, Instant};

use cooperage_simulation::coverage::Coverage;
use cooperage_simulation::outcome::Outcome;
use cooperage_simulation::plan::Plan;
use cooperage_simulation::{kernel, server, shrink};

#[test]
fn no_seed_breaks_an_invariant_of_the_kernel() {
    let begun = Instant::now();
    let mut coverage = Coverage::default();
    let mut seed = 0;
    while begun.elapsed() < Duration::from_secs(15) {
        let plan = Plan::draw(seed);
        let outcome: Outcome = kernel::run(&plan);
        if let Some(violation) = &outcome.violation {
            let short = shrink::plan(&plan, &violation.invariant, &mut kernel::run);
            let what = kernel::run(&short).violation;
            panic!("seed {seed}: {violation}\nshort: {what:?}\n{}", serde_json::to_string(&short).unwrap());
        }
        coverage.add(&outcome.coverage);
        seed += 1;
    }
    println!("{coverage}");
}

#[test]
fn no_seed_breaks_an_invariant_of_the_server() {
    let begun = Instant::now();
    let mut coverage = Coverage::default();
    let mut seed = 0;
    while begun.elapsed() < Duration::from_secs(15) {
        let plan = Plan::draw(seed);
        let outcome: Outcome = server::run(&plan);
        if let Some(violation) = &outcome.violation {
            panic!("seed {seed}: {violation}\n{}", serde_json::to_string(&plan).unwrap());
        }
        assert_eq!(server::run(&plan), outcome, "seed {seed}");
        coverage.add(&outcome.coverage);
        seed += 1;
    }
    println!("{coverage}");
}
