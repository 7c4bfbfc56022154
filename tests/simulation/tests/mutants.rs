//! Deliberate bugs in the kernel, one at a time: each is found within so many seeds.

use cooperage_domain::mutant::{ALL, with};
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
