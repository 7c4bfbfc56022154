//! Warnings before leases end.

use cooperage_domain::cluster::{ClusterStatus, Command, Effect, Event, create, due, due_after};
use cooperage_domain::lease::LeaseWarning;

use crate::sketch::Sketch;
use crate::world::{MORNING, World};

const HOUR: i64 = 3_600_000;
/// A lease of ten hours is warned of one hour before its end.
const EVENING: i64 = MORNING + 10 * HOUR;

fn leased_with(said: Option<i64>) -> World {
    let sketch = Sketch::alike("", 1);
    let mut order = sketch.order();
    order.expires = EVENING;
    order.limits.lease_warning = LeaseWarning { said, ..LeaseWarning::default() };
    World::of(create(order, Ok(sketch.nodes.clone()), MORNING).unwrap())
}

fn warning(world: &World) -> Option<i64> {
    due(&world.cluster).iter().find_map(|effect| match effect {
        Effect::Warn { at } => Some(*at),
        _ => None,
    })
}

fn warn(world: &mut World) -> Vec<Event> {
    world.tell(Command::WarnOfExpiry).unwrap().to_vec()
}

#[test]
fn a_lease_is_warned_of_once_and_not_before_its_time() {
    let mut world = leased_with(None);
    assert_eq!(warning(&world), Some(EVENING - HOUR), "while its create is under way, too");
    world.run_all();
    assert_eq!(warning(&world), Some(EVENING - HOUR));
    world.now = EVENING - HOUR - 1;
    assert_eq!(warn(&mut world), []);
    world.now = EVENING - HOUR;
    assert_eq!(warn(&mut world), [Event::LeaseWarned { at: world.now, expires: EVENING }]);
    assert_eq!(warning(&world), None);
    world.now = EVENING;
    assert_eq!(warn(&mut world), []);
}

#[test]
fn another_end_is_warned_of_again() {
    let mut world = leased_with(Some(HOUR));
    world.run_all();
    world.now = EVENING - HOUR;
    warn(&mut world);
    let expires = EVENING + 2 * HOUR;
    let events = world.prolong(expires).unwrap().to_vec();
    let armed = [Effect::Warn { at: expires - HOUR }, Effect::Expire { at: expires }];
    assert_eq!(due_after(&world.cluster, &events), armed);
    assert_eq!(warn(&mut world), []);
    world.now = expires - HOUR;
    assert_eq!(warn(&mut world), [Event::LeaseWarned { at: world.now, expires }]);
}

#[test]
fn nobody_is_warned_who_does_not_want_it_or_has_no_end_or_is_going() {
    assert_eq!(warning(&leased_with(Some(0))), None);
    assert_eq!(warning(&World::created(&Sketch::alike("", 1))), None);
    let mut world = leased_with(None);
    world.run_all();
    world.delete().unwrap();
    assert_eq!(warning(&world), None, "it is being deleted");
    world.run_all();
    world.now = EVENING;
    assert_eq!(warn(&mut world), []);
    let mut gone = leased_with(None);
    gone.cluster.status = ClusterStatus::Terminated;
    assert_eq!(warning(&gone), None);
}

#[test]
fn clusters_stored_before_there_were_warnings_have_the_usual_one() {
    let world = leased_with(Some(5));
    let mut stored = serde_json::to_value(&world.cluster).unwrap();
    let fields = stored.as_object_mut().unwrap();
    fields.remove("warned_of").unwrap();
    fields["limits"].as_object_mut().unwrap().remove("lease_warning").unwrap();
    let read: cooperage_domain::cluster::Cluster = serde_json::from_value(stored).unwrap();
    assert_eq!(read.warning_at(), Some(EVENING - HOUR));
    assert_eq!(read.warned_of, 0);
}
