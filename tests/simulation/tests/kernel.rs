//! Runs of many seeds around the kernel.

use cooperage_simulation::campaign::{Campaign, Level, bounds};
use cooperage_simulation::checkers::Checkers;
use cooperage_simulation::fault::FaultKind;
use cooperage_simulation::kernel;
use cooperage_simulation::operation::OPERATIONS;
use cooperage_simulation::plan::Plan;

#[test]
fn no_seed_breaks_an_invariant_of_the_kernel() {
    let (first, seeds, time) = bounds(1_000);
    let report = Campaign { first, seeds, time, level: Level::Kernel, threads: 2 }.run();
    println!("{report}");
    assert!(report.failure.is_none());
    // A few runs, as on a machine that is busy, need not have all.
    if report.seeds < 300 {
        return;
    }
    let missing = |name: &&str| !report.coverage.faults.contains_key(*name);
    let kinds = FaultKind::ALL.iter().filter(|kind| **kind != FaultKind::TakeOver).map(|kind| kind.as_str());
    assert_eq!(kinds.filter(missing).collect::<Vec<_>>(), [""; 0], "every kind of fault happens");
    let asked = |name: &&str| !report.coverage.operations.contains_key(*name);
    let names = OPERATIONS.iter().map(|operation| operation.name);
    assert_eq!(names.filter(asked).collect::<Vec<_>>(), [""; 0], "every operation is carried out");
}

#[test]
fn a_run_around_the_kernel_is_the_same_every_time() {
    for seed in 0..20 {
        let plan = Plan::draw(seed);
        assert_eq!(kernel::run(&plan), kernel::run(&plan), "seed {seed}");
    }
}

#[test]
fn every_invariant_has_a_checker() {
    let names = [
        "one-task-per-node",
        "predecessors-first",
        "every-job-ends",
        "acknowledged-survives",
        "machines-are-known",
        "tenants-apart",
        "replay-gives-the-state",
        "quotas-hold",
        "zombies-refused",
        "families-hold",
    ];
    assert_eq!(Checkers::names(), names);
}
