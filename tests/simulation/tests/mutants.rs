//! Deliberate bugs in the kernel, one at a time: each is found within so many seeds.

use cooperage_domain::mutant::{ALL, with};
use cooperage_simulation::campaign::{Failure, Level};
use cooperage_simulation::kernel;
use cooperage_simulation::plan::Plan;

/// Seeds within which a bug is found.
const SEEDS: u64 = 1_000;

#[test]
fn every_deliberate_bug_is_found() {
    let mut missed = Vec::new();
    for bug in ALL {
        let found =
            with(bug, || (0..SEEDS).find_map(|seed| Some((seed, kernel::run(&Plan::draw(seed)).violation?))));
        match found {
            Some((seed, violation)) => println!("{bug}: seed {seed}, {violation}"),
            None => missed.push(bug),
        }
    }
    assert!(missed.is_empty(), "not found within {SEEDS} seeds: {missed:?}");
}

#[test]
fn a_failure_is_shrunk_and_happens_again() {
    with("deletes-no-doubtful-machines", || {
        let failing = (0..SEEDS).map(Plan::draw).find_map(|plan| Some((kernel::run(&plan).violation?, plan)));
        let (violation, plan) = failing.unwrap();
        let failure = Failure::shrunk(Level::Kernel, &plan, violation.clone());
        assert_eq!(failure.violation.invariant, violation.invariant);
        assert!(failure.plan.faults.len() + failure.plan.steps.len() <= 8, "{failure}");
        // As the command reads it.
        let faults = failure.plan.faults.iter().map(|fault| fault.to_string().parse().unwrap()).collect();
        let steps = failure.plan.steps.iter().map(|step| step.to_string().parse().unwrap()).collect();
        let again = Plan { seed: failure.plan.seed, steps, faults };
        assert_eq!(kernel::run(&again).violation, Some(failure.violation));
    });
}
