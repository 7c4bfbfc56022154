//! When leases end.

use cooperage_domain::cluster::{ClusterStatus, Command, Effect, create, due};
use cooperage_domain::task::TaskName;

use crate::sketch::Sketch;
use crate::world::{MORNING, World};

const EVENING: i64 = MORNING + 36_000_000;

fn leased(nodes: u32) -> World {
    let sketch = Sketch::alike("", nodes);
    let mut order = sketch.order();
    order.expires = EVENING;
    World::of(create(order, Ok(sketch.nodes.clone()), MORNING).unwrap())
}

fn cut_short(world: &World) -> Option<i64> {
    due(&world.cluster).iter().find_map(|effect| match effect {
        Effect::CutShort { at } => Some(*at),
        _ => None,
    })
}

fn expiry(world: &World) -> Option<i64> {
    due(&world.cluster).iter().find_map(|effect| match effect {
        Effect::Expire { at } => Some(*at),
        _ => None,
    })
}

#[test]
fn a_lease_ends_only_while_the_cluster_is_at_rest() {
    let mut world = leased(1);
    assert_eq!(expiry(&world), None, "pending");
    world.run_all();
    assert_eq!(expiry(&world), Some(EVENING), "active");
    for (status, end) in [
        (ClusterStatus::Incomplete, Some(EVENING)),
        (ClusterStatus::Inconsistent, Some(EVENING)),
        (ClusterStatus::Terminated, None),
    ] {
        world.cluster.status = status;
        assert_eq!(expiry(&world), end, "{status}");
    }
}

#[test]
fn a_cluster_without_a_lease_never_expires() {
    assert_eq!(expiry(&World::created(&Sketch::alike("", 1))), None);
}

#[test]
fn deletes_that_fail_are_repeated_ever_more_slowly() {
    let mut world = leased(1);
    world.run_all();
    world.now = EVENING;
    let mut pauses = Vec::new();
    for _ in 0..7 {
        world.delete().unwrap();
        world.run_failing(TaskName::Delete, 1);
        let at = expiry(&world).unwrap();
        pauses.push((at - world.now) / 60_000);
        world.now = at;
    }
    assert_eq!(pauses, [3, 6, 12, 24, 48, 60, 60]);
}

#[test]
fn a_lease_that_ends_while_a_job_is_under_way_cuts_it_short() {
    let mut world = leased(1);
    assert_eq!((cut_short(&world), expiry(&world)), (Some(EVENING), None), "its create is under way");
    world.pause().unwrap();
    assert_eq!(cut_short(&world), Some(EVENING), "paused");
    world.now = EVENING;
    let by = "janitor".to_owned();
    world.tell(Command::Delete { now: true, by: by.clone() }).unwrap();
    world.run_all();
    assert_eq!(world.cluster.status, ClusterStatus::Terminated);
    // What runs is waited for; nobody asks twice.
    let mut world = leased(2);
    world.start("n1:CREATE");
    world.now = EVENING;
    world.tell(Command::Delete { now: true, by: by.clone() }).unwrap();
    assert_eq!((world.cluster.status, cut_short(&world)), (ClusterStatus::Pending, None));
    assert!(world.tell(Command::Delete { now: true, by }).unwrap().is_empty());
    world.run_all();
    assert_eq!(world.cluster.status, ClusterStatus::Terminated);
}

#[test]
fn a_delete_that_goes_on_is_not_cut_short_but_a_paused_one_is() {
    let mut world = leased(1);
    world.run_all();
    world.delete().unwrap();
    assert_eq!((cut_short(&world), expiry(&world)), (None, None));
    world.pause().unwrap();
    assert_eq!(cut_short(&world), Some(EVENING));
}

#[test]
fn a_lease_may_be_prolonged_while_a_job_is_under_way() {
    let mut world = leased(1);
    world.prolong(EVENING + 5).unwrap();
    assert_eq!(cut_short(&world), Some(EVENING + 5));
}
