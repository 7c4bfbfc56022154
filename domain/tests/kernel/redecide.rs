//! Every decision in a journal is decided the same again; one that was altered is found.

use cooperage_domain::cluster::{Cluster, Event, Redecided, ServiceChange, apply, redecide};
use proptest::prelude::*;

use crate::driver::{Driver, a_move, sketch};
use crate::sketch::Sketch;
use crate::world::World;

/// How many events are looked at ahead.
const AHEAD: usize = 16;

/// How many events came of decisions that were decided again, or where the first one is that was decided otherwise.
fn again(events: &[Event]) -> Result<usize, String> {
    let (mut cluster, mut at, mut known): (Option<Cluster>, usize, usize) = (None, 0, 0);
    while at < events.len() {
        let ahead = &events[at..events.len().min(at + AHEAD)];
        let step = match redecide(cluster.as_ref(), ahead) {
            Redecided::Same(count) => {
                known += count;
                count
            }
            Redecided::Unknown => 1,
            Redecided::Otherwise { decided } => return Err(format!("event {}: {decided:?}", at + 1)),
        };
        events[at..at + step].iter().for_each(|event| apply(&mut cluster, event));
        at += step;
    }
    Ok(known)
}

fn journal(world: &World) -> Vec<Event> {
    world.journal.iter().flatten().cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_journal_is_decided_the_same_again(
        sketch in sketch(),
        moves in prop::collection::vec(a_move(), 0..120),
    ) {
        let mut driver = Driver::new(&sketch);
        for it in moves {
            driver.make(it);
        }
        driver.settle();
        let events = journal(&driver.world);
        prop_assert_eq!(again(&events), Ok(events.len()));
    }
}

#[test]
fn what_was_altered_is_found_where_it_is() {
    let sketch = Sketch::new("db: install start\nweb: start stop | db\nn1 = db\nn2 = web");
    let mut world = World::created(&sketch);
    world.configure(true).unwrap();
    world.run_all();
    let world = world.changed(ServiceChange::Restart, "web");
    let events = journal(&world);
    assert_eq!(again(&events), Ok(events.len()));
    let mut found = 0;
    for at in 0..events.len() {
        let mut altered = events.clone();
        match &mut altered[at] {
            Event::JobEnded { status, .. } => {
                *status = cooperage_domain::cluster::ClusterStatus::Inconsistent;
            }
            Event::JobPlanned { tasks, .. } => drop(tasks.pop()),
            Event::AttemptStarted { attempt, .. } => *attempt += 1,
            _ => continue,
        }
        found += 1;
        let fault = again(&altered).unwrap_err();
        // A decision is told by its first event.
        let place: usize = fault.strip_prefix("event ").unwrap().split(':').next().unwrap().parse().unwrap();
        assert!(place <= at + 1 && place + 4 > at, "{at}: {fault}");
    }
    assert!(found > 10, "{found}");
    // An attempt that was begun twice, and one that the journal has lost.
    let started = events.iter().position(|event| matches!(event, Event::AttemptStarted { .. })).unwrap();
    let mut twice = events.clone();
    twice.insert(started, events[started].clone());
    assert!(again(&twice).unwrap_err().starts_with(&format!("event {}:", started + 2)));
    let mut lost = events;
    lost.remove(started);
    assert!(again(&lost).unwrap_err().starts_with(&format!("event {}:", started + 1)));
}
