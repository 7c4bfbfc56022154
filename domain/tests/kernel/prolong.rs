//! Rules of changing when a lease ends.

use cooperage_domain::cluster::{ClusterStatus, Command, Effect, Event, create, due, due_after};
use cooperage_domain::lease::LeaseDuration;

use crate::sketch::Sketch;
use crate::world::{MORNING, World};

const MINUTE: i64 = 60_000;

/// An active cluster that has ten minutes, may have an hour, and at most ten minutes more at a time.
fn leased() -> World {
    let sketch = Sketch::alike("", 1);
    let mut order = sketch.order();
    order.template.administration.leaseduration =
        LeaseDuration { initial: 10 * MINUTE, max: 60 * MINUTE, step: 10 * MINUTE, warning: None };
    order.expires = MORNING + 10 * MINUTE;
    let mut world = World::of(create(order, Ok(sketch.nodes.clone()), MORNING).unwrap());
    world.run_all();
    world
}

#[test]
fn the_new_end_is_armed() {
    let mut world = leased();
    let at = MORNING + 15 * MINUTE;
    let events: Vec<Event> = world.prolong(at).unwrap().to_vec();
    let armed = [Effect::Warn { at: at - 90_000 }, Effect::Expire { at }];
    assert_eq!(due_after(&world.cluster, &events), armed);
    assert_eq!(due(&world.cluster), armed);
    assert_eq!(world.cluster.expires, at);
}

#[test]
fn it_may_be_shortened_into_the_past_and_lengthened_by_a_step_up_to_the_longest() {
    for (minutes, allowed) in [(20, true), (21, false), (5, true), (0, true), (-1, false)] {
        let mut world = leased();
        world.now = MORNING + 8 * MINUTE;
        let told = world.prolong(MORNING + minutes * MINUTE).map(drop);
        assert_eq!(told.is_ok(), allowed, "{minutes}: {told:?}");
    }
    let mut world = leased();
    for minutes in [20, 30, 40, 50, 60] {
        world.prolong(MORNING + minutes * MINUTE).unwrap();
    }
    let refusal = world.prolong(MORNING + 60 * MINUTE + 1).unwrap_err().to_string();
    assert!(refusal.contains("expireTime") && refusal.contains("max"), "{refusal}");
    assert_eq!(world.cluster.expires, MORNING + 60 * MINUTE, "a refusal changes nothing");
}

#[test]
fn the_limits_are_those_of_the_clusters_own_template() {
    let mut world = leased();
    world.cluster.template.administration.leaseduration.step = 0;
    assert!(world.prolong(MORNING + 60 * MINUTE).is_ok());
}

#[test]
fn clusters_that_are_there_take_it_and_others_say_what_to_do() {
    for (status, remedy) in [
        (ClusterStatus::Active, None),
        (ClusterStatus::Incomplete, None),
        (ClusterStatus::Inconsistent, None),
        (ClusterStatus::Pending, None),
        (ClusterStatus::Terminated, Some("terminated; it is gone")),
    ] {
        let mut world = leased();
        world.cluster.status = status;
        let at = MORNING + 11 * MINUTE;
        let told = cooperage_domain::cluster::decide(
            &world.cluster,
            Command::Prolong { expires: at, by: "ann".into() },
            world.now,
        );
        match (told, remedy) {
            (Ok(events), None) => {
                assert_eq!(events, [Event::LeaseChanged { at: world.now, expires: at, by: "ann".into() }]);
            }
            (Err(refusal), Some(remedy)) => assert!(refusal.to_string().contains(remedy), "{refusal}"),
            (told, _) => panic!("{status}: {told:?}"),
        }
    }
}

#[test]
fn who_gives_a_delete_up_for_a_way_back_is_told_of_the_lease_again() {
    let sketch = Sketch::alike("", 1);
    let at = MORNING + 10 * MINUTE;
    let mut order = sketch.order();
    order.expires = at;
    let mut world = World::of(create(order, Ok(sketch.nodes.clone()), MORNING).unwrap());
    world.start("n1:CREATE");
    world.tell(Command::Delete { now: true, by: "ann".into() }).unwrap();
    assert!(!due(&world.cluster).contains(&Effect::CutShort { at }), "it is deleted anyway");
    let events: Vec<Event> = world.tell(Command::Cancel { undo: true, by: "ann".into() }).unwrap().to_vec();
    assert!(due_after(&world.cluster, &events).contains(&Effect::CutShort { at }), "{events:?}");
}
