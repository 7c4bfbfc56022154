//! When leases end.

use cooperage_domain::cluster::{ClusterStatus, Effect, create, due};
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
