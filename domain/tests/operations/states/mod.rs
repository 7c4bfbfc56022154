//! Every state that small clusters can reach, to the last one: whatever is asked of them in whatever order, however tasks
//! begin and end, also without a word, and whatever time passes.
//!
//! Each row is a cluster and what is asked of it. Its states are a graph with moves as edges, which is looked at until there
//! is no state left that was not; a test fails that stops before. In every state and on every edge all that must hold is
//! checked:
//!
//! - a delete is possible, and leads to nothing left when nothing else happens, once nobody is built upon the cluster;
//! - a cluster at rest that stopped half-way can go on or be deleted;
//! - each refusal says what would make possible what was asked;
//! - each task that waits says why, and it is true;
//! - what comes too late or twice is refused;
//! - machines are there when the cluster counts on them, and the cluster knows of each that is there;
//! - what was stored is read back as it was, and is decided again as it was decided.
//!
//! Nothing is cut off: tasks of different nodes run in any order, and any move is made from any state. What makes the graphs
//! finite is that states count as one which cannot be told apart by what comes of them: see [`state::Keys::of`].

mod explorer;
mod moves;
mod rows;
mod state;

use std::collections::{BTreeMap, BTreeSet};

use crate::shapes::commands;
use explorer::{Found, explore};
use rows::{LARGE, Row, SMALL};

/// Looks at all states of a row, and says what was found.
fn closed(row: &Row, most: usize) -> Found {
    let found = explore(&row.explored(), most);
    println!(
        "{}: {} states, {} of them at rest, up to {} moves away; {} moves, {} refused; at most {} moves from a delete to \
         nothing",
        row.name, found.states, found.at_rest, found.depth, found.moves, found.refused, found.longest_delete
    );
    assert!(found.is_closed, "{}: there are more than {most} states", row.name);
    found
}

#[test]
fn from_every_state_of_small_clusters_a_delete_leaves_nothing() {
    let (mut told, mut waits) = (BTreeSet::new(), BTreeMap::new());
    for row in SMALL {
        let found = closed(row, 100_000);
        told.extend(found.told);
        for (code, count) in found.waits {
            *waits.entry(code).or_insert(0) += count;
        }
    }
    println!("tasks waited because of {waits:?}");
    let missing: Vec<&str> = commands().into_iter().filter(|name| !told.contains(name)).collect();
    assert!(missing.is_empty(), "no row tells a cluster to {missing:?}");
}

/// That the checks would find such faults: each of the kernel's deliberate bugs is found by one of the graphs at least.
#[cfg(feature = "mutants")]
#[test]
fn deliberate_bugs_are_found() {
    use cooperage_domain::mutant::{ALL, with};
    // A quota is not the kernel's, and without the end of an attempt's time any time is as good as another.
    const ELSEWHERE: [&str; 2] = ["quota-one-too-many", "never-times-out"];
    let is_found = |row: &Row| std::panic::catch_unwind(|| closed(row, 20_000)).is_err();
    let missed = ALL.into_iter().filter(|bug| !ELSEWHERE.contains(bug));
    let missed: Vec<&str> = missed.filter(|bug| with(bug, || !SMALL.iter().any(is_found))).collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
}

/// Takes minutes to hours: `make states`.
#[test]
#[ignore = "takes minutes to hours"]
fn from_every_state_of_larger_clusters_a_delete_leaves_nothing() {
    let name = std::env::var("COOPERAGE_STATES").unwrap_or_default();
    for row in LARGE.iter().filter(|row| row.name.contains(&name)) {
        closed(row, usize::MAX);
    }
}
